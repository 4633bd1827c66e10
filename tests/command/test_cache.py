"""Test `weft cache`: showing and clearing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from weft.runtime.disk.store import Store

Weft = Callable[..., tuple[int, str, str]]


def test_info_and_clear(weft: Weft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("WEFT_CACHE_DIR", str(folder))
    monkeypatch.setenv("WEFT_CACHE_LIMIT", "3000000")
    assert weft("cache", "info")[1].splitlines() == [
        f"directory {folder}", "state     off (WEFT_CACHE=0)", "entries   0", "size      0.0 MB of 3.0 MB",
    ]  # fmt: skip
    store = Store(str(folder), str(tmp_path / "config"), 1 << 30)
    for k in range(3):
        store.write(bytes((k,)) * 32, bytes(400_000))
    (folder / "mine.txt").write_text("not an entry")
    monkeypatch.setenv("WEFT_CACHE", "1")
    assert weft("cache", "info")[1].splitlines()[1:] == ["state     on", "entries   3", "size      1.2 MB of 3.0 MB"]
    assert weft("cache", "clear") == (0, f"3 entries deleted from {folder}\n", "")
    assert [p.name for p in folder.iterdir()] == ["mine.txt"]


def test_a_directory_of_others_is_left_alone(weft: Weft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o777)
    for what in ("info", "clear"):
        status, out, err = weft("cache", what)
        assert (status, out) == (1, "") and "must be your own" in err and "hint: set WEFT_CACHE_DIR" in err
    assert weft("cache")[0] == 2

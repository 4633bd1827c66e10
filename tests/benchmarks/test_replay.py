"""Test `python -m benchmarks.replay`: it finds forms, ignores irrelevant differences and reports changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.replay import __main__ as replay
from benchmarks.replay import cases, texts

KERNEL = next(k for k in cases.kernels() if k.name.startswith("bench rows/softmax"))


def test_every_form_is_found() -> None:
    found = dict(texts.texts(KERNEL, "avx2"))
    sizes = [dict(pair.split("=") for pair in name.split(",")) for name in found if not name.startswith(texts.ANY)]
    columns = sorted(int(each["x1"]) for each in sizes)
    assert len(columns) == 3 and columns[0] <= 16 < columns[1] < 1 << 18 <= columns[2]
    assert len(found) == 5 and len(set(found.values())) == 4  # libraries share that of short rows
    again = dict(texts.texts(KERNEL, "avx2", list(found)))
    assert again == found


def test_numbers_of_values_are_left_out() -> None:
    text = "define i64 @f() {{\nbody{a}:\n  %v{b} = add i64 %v{c}, {d}\n  br label %body{a}\n}}\n"
    a = texts._renumbered(text.format(a=3, b=7, c=2, d=1) * 2)
    assert a == texts._renumbered(text.format(a=9, b=8, c=1, d=1) + text.format(a=3, b=1, c=8, d=1))
    assert a != texts._renumbered(text.format(a=9, b=8, c=1, d=2) * 2)


def test_what_differs_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(cases, "kernels", lambda: [KERNEL])
    kept, folder = tmp_path / "digests.json", str(tmp_path / "texts")

    def run(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["replay", *words])
        return replay.main()

    assert run("--write", str(kept), "--texts", folder) == 0
    assert run("--compare", str(kept)) == 0
    assert "0 of 10 texts differ" in capsys.readouterr().out
    digests = json.loads(kept.read_text())
    row, sizes = next((row, sizes) for row, found in digests.items() for sizes in found)
    changed = Path(folder) / digests[row][sizes]
    (tmp_path / "texts" / "other").write_text(changed.read_text().replace("fdiv", "fmul"))
    digests[row][sizes] = "other"
    kept.write_text(json.dumps(digests))
    assert run("--compare", str(kept), "--texts", folder, "--diff") == 1
    out = capsys.readouterr().out
    assert "1 of 10 texts differ" in out and f"{row} at {sizes}" in out and "+  %x" in out

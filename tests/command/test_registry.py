"""Test `weft registry`: lists, scores, and implementations added by a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import weft as package

Weft = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def scope():
    with package.registry.scope():
        yield


def test_list_and_stats(weft: Weft) -> None:
    status, out, err = weft("registry", "list")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()}
    assert (status, err) == (0, "")
    assert (rows["exp"], rows["scan"], rows["softmax"]) == ("inline", "fixed", "weft")
    status, out, err = weft("registry", "stats")
    assert (status, err) == (0, "")
    assert [line[:15].strip() for line in out.splitlines()] == [
        "kernel names", "implementations", "cache entries", "hits", "misses",
    ]  # fmt: skip


def test_a_file_is_loaded_first(weft: Weft, tmp_path: Path) -> None:
    path = tmp_path / "mine.weft"
    path.write_text('@impl(op="exp", min_size=10)\nkernel mine(x: f32[...]) -> f32[...] = 1 + x\n')
    status, out, err = weft("registry", "explain", "exp", "f32", "--size", "100", "--load", str(path))
    assert (status, err) == (0, "")
    assert out.splitlines()[1] == "  1. user weft custom mine (f32[...] -> f32[...]): score 10 = f32 exact 10"
    assert "user weft custom mine" in weft("registry", "list")[1].splitlines()[-1]


@pytest.mark.filterwarnings("always")
def test_a_directory_is_loaded_and_broken_files_are_told(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "good.weft").write_text('@impl(op="exp")\nkernel mine(x: f32[...]) -> f32[...] = 1 + x\n')
    (tmp_path / "broken.weft").write_text("kernel k(x: f32[n]) -> f32[n] = x *\n")
    status, out, err = weft("registry", "explain", "exp", "f32", "--load", str(tmp_path))
    assert status == 0 and "user weft custom mine" in out
    assert err.startswith(f"warning: {tmp_path}/broken.weft was not loaded: ") and ".py" not in err


def test_wrong_usage(weft: Weft) -> None:
    assert weft("registry")[0] == 2
    assert weft("registry", "explain", "exp")[0] == 2
    status, out, err = weft("registry", "explain", "exp", "f23")
    assert (status, out) == (1, "") and "unknown dtype 'f23'" in err

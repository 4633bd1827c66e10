"""Test the table of NPBench's programs."""

from __future__ import annotations

from typing import Any

import pytest

import benchmarks.npbench as npbench


def row(name: str, **more: Any) -> dict[str, Any]:
    found = {"name": name, "problem": "", "numpy": 4e-3, "weft": 1e-3, "first": 0.5, "native": 1, "whole": True}
    return {**found, "cut": "", **more}


RUN = {"numba_n": {"seconds": 2e-3}, "jax": {"seconds": 3e-3}, "dace": {"problem": "took longer than 60 s"}}


@pytest.mark.parametrize("peers", [{}, {"peers": RUN}])
def test_page(peers: dict[str, Any]) -> None:
    """Every row has as many cells as the head, and the best peer may be NumPy."""
    rows = [row("first", **peers), row("second", **peers and {"peers": {}}), {"name": "third", "problem": "crashed"}]
    text = npbench.page(rows, "S")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1 and len(table) == 5
    assert "2 of 3 programs are right" in text and "crashed" in text
    assert ("NumPy, Numba, JAX and DaCe" in text and "time limit: first (dace)." in text) == bool(peers)
    assert ("numba_n | 2.00" in text and "numpy | 4.00" in text) == bool(peers)


def test_contenders() -> None:
    """The fastest variant of the two fastest peers runs again, unless the second is far behind."""
    known = {**RUN, "numba_np": {"seconds": 1.9e-3}, "pythran": {"seconds": 9e-3}}
    assert npbench.contenders(known) == ["numba_np", "jax"]
    assert npbench.contenders({**known, "jax": {"seconds": 6e-3}}) == ["numba_np"]
    assert npbench.contenders({"dace": RUN["dace"]}) == []

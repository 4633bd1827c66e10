"""Test rows of a stencil that are computed together: NumPy's bits, streamed or not, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from ..differential.arrays import LAYOUTS

MODULE = parse_module(
    """
kernel heat(v: float[n, m], r: float) -> float[n - 2, m - 2] {
    let inside = v[1:-1, 1:-1]
    return inside + r * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * inside)
}
kernel heat3d(v: float[n, m, k]) -> float[n - 2, m - 2, k - 2] {
    return (v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1]) + (v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1]) - v[1:-1, 1:-1, 1:-1]
}
""",
    "stencils",
)


def heat(v: Any, r: Any) -> Any:
    inside = v[1:-1, 1:-1]
    return inside + r * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * inside)


def heat3d(v: Any) -> Any:
    return (v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1]) + (v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1]) - v[1:-1, 1:-1, 1:-1]


def kernels(name: str, variant: tuple[tuple[str, int], ...] = ()) -> list[Kernel]:
    return [
        Kernel(MODULE.kernels[name], Registry(), Options(target=target.x86(level), variant=variant)) for level in (3, 4)
    ]


@pytest.mark.parametrize("variant", [(), (("stream", 1),)])
def test_every_number_of_rows_and_columns(variant: tuple[tuple[str, int], ...]) -> None:
    rng = np.random.default_rng(0)
    for kernel in kernels("heat", variant):
        for n in (3, 4, 5, 6, 9):
            for m in (3, 7, 20, 66, 67, 200):
                v, r = rng.random((n, m)), np.float64(0.1)
                np.testing.assert_array_equal(kernel(v, r), heat(v, r))
        plan = str(kernel.lower(v, r).explain())  # a row that is streamed has lines of its own to fill
        assert ("2 rows together along axis 0" in plan) == (not variant)


def test_layouts_and_three_axes() -> None:
    rng = np.random.default_rng(1)
    for kernel in kernels("heat"):
        for layout in ("F", "strided", "negative", "unaligned"):
            v, r = LAYOUTS[layout](rng.random((9, 45), np.float32)), np.float32(0.1)
            np.testing.assert_array_equal(kernel(v, r), heat(v, r))
    for kernel in kernels("heat3d"):
        for shape in ((3, 3, 3), (5, 8, 40), (4, 7, 19)):
            v = rng.random(shape)
            np.testing.assert_array_equal(kernel(v), heat3d(v))
        assert "piece = array<i64: 8, 16>" in kernel.lower(v).ir()


def test_any_number_of_threads() -> None:
    """Threads take several rows at a time; the last ones get fewer."""
    before = weft.get_threads()
    v, r = np.random.default_rng(2).random((1003, 517)), np.float64(0.1)
    try:
        for count in (1, 2, 5):
            weft.set_threads(count)
            for kernel in kernels("heat"):
                np.testing.assert_array_equal(kernel(v, r), heat(v, r))
    finally:
        weft.set_threads(before)


def test_what_rows_have_in_common_otherwise_needs_no_company() -> None:
    """Rows are not jammed for a row that is added to every row, nor if functions need the registers."""
    added = weft.jit(lambda x, y: x + y)
    assert "jam" not in added.lower(np.ones((9, 40)), np.ones(40)).ir()
    costly = weft.jit(lambda v: np.exp(v[:-1]) + v[1:])
    assert "jam" not in costly.lower(np.ones((9, 40))).ir()

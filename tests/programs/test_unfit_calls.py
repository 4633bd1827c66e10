"""Pieces whose recipe fits most calls, but not those with few elements, are left to Python for those."""

from __future__ import annotations

import numpy as np
import weft
from weft.unfit_calls import MOST_ALIKE


def test_calls_that_no_recipe_fits_are_left_to_python() -> None:
    def suppressed(x: np.ndarray, order: np.ndarray) -> list[np.ndarray]:
        kept = []
        while order.size > 0:
            kept.append(x[order[0]])
            gap = np.maximum(x[order[0]], x[order[1:]]) - x[order[1:]] * 0.5
            order = order[np.where(gap <= 1.5)[0] + 1]
        return kept

    compiled, x = weft.jit(suppressed), np.linspace(0, 1, 40)
    orders = [np.arange(n) for n in (40, 7, 2, 1)] * 2 * MOST_ALIKE
    for order in orders:
        assert compiled(x, order) == suppressed(x, order)
    piece = compiled._program.pieces[-1]
    assert piece.callable.chain.calls > 100
    before = piece.python_calls
    for order in orders:
        assert compiled(x, order) == suppressed(x, order)
    assert piece.python_calls == before
    assert piece.off is None


def test_functions_whose_recipe_does_not_fit_a_call_are_run_by_python() -> None:
    def chosen(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x[np.where(x > y)[0]] * 2

    compiled, x = weft.jit(chosen), np.linspace(0, 1, 100)
    for _ in range(3):
        assert np.array_equal(compiled(x, 1 - x), chosen(x, 1 - x))
    for _ in range(2 * MOST_ALIKE):
        assert compiled(x, x).shape == (0,)
    program = compiled._program
    assert 0 < program.python_calls <= MOST_ALIKE
    assert compiled(np.ones(1 << 21), np.ones(1 << 21)).shape == (0,)  # not where that takes longer
    assert program.python_calls <= MOST_ALIKE
    before = compiled.chain.calls
    assert np.array_equal(compiled(x, 1 - x), chosen(x, 1 - x))
    assert compiled.chain.calls == before + 1

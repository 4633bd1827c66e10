"""Pieces whose recipe fits most calls, but not those with few elements, are left to Python for those."""

from __future__ import annotations

import numpy as np
import weft
from weft.programs.unfit_calls import MOST_ALIKE


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

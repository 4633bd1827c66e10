"""Loops inside one another: a trace does not get their body hundreds of times, and tuples steer what they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.programs.pieces import LoopProgram


def life(cells: Any) -> Any:
    for _ in range(10):
        around = np.zeros_like(cells)
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                if (i, j) != (0, 0):
                    around = around + np.roll(np.roll(cells, i, 0), j, 1)
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)
    return cells


def test_loops_with_many_steps_are_one_nest() -> None:
    compiled, cells = weft.jit(life), np.random.default_rng(5).integers(0, 2, (9, 11))
    assert np.array_equal(compiled(cells), life(cells))
    whole = compiled._program.pieces[0]  # a trace would be no piece
    assert isinstance(whole, LoopProgram)
    assert (whole.signatures, whole.calls) == (1, 1)


@pytest.mark.parametrize("other", [(2, 3), (2, 4), (2,), (), (2, 3, 4), (True, 3)])
def test_tuples_of_integers_are_compared(other: tuple[int, ...]) -> None:
    def counted(n: int, m: int) -> tuple[int, int]:
        same = different = 0
        for i in range(n):
            for j in range(m):
                if (i, j) == other:
                    same += 1
                if (j, i) != other:
                    different += 1
        return same, different

    compiled = weft.jit(counted)
    for n, m in ((4, 5), (2, 3), (0, 9)):
        assert compiled(n, m) == counted(n, m)
    assert any(p.calls for p in compiled._program.pieces if isinstance(p, LoopProgram)) or True in other

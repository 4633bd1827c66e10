"""Test two thousand random programs, the same in every run, against NumPy, the reference, and code for every CPU."""

from __future__ import annotations

import pytest

from .checking import shared_oracle
from .drawing import FIRST_OF_OPTIONS, draw
from .shrinking import shrink
from .trying import failure, widths_for
from .writing import as_test

SEED, COUNT, BATCH, OF_OPTIONS = 3, 2000, 50, 200

NUMBERS = [*range(0, COUNT, BATCH), *range(FIRST_OF_OPTIONS, FIRST_OF_OPTIONS + OF_OPTIONS, BATCH)]


@pytest.mark.parametrize("first", NUMBERS)
def test_graphs(first: int) -> None:
    oracle = shared_oracle()
    for number in range(first, first + BATCH):
        program, widths = draw(SEED, number), widths_for(number)
        found = failure(program, oracle, widths)
        if found is not None:
            small, last = shrink(program, found, lambda p, w=widths: failure(p, oracle, w), seconds=30)
            pytest.fail(f"seed {SEED}, graph {number}: {last}\n\n{as_test(small, f'graph_{number}', last.message)}")

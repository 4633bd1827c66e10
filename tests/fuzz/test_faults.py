"""The fuzzer finds faults: each is put into Weft alone, and one of the graphs of `test_graphs.py` must fail.

Without a fault the same graphs pass: `test_graphs.py` runs them all. A fault in the front end or a pass is looked for
without native code, because comparing the graph before and after the passes shows it, and costs a quarter.
"""

from __future__ import annotations

import pytest

from .checking import Oracle
from .drawing import draw
from .faults import IN_CODE, IN_PASSES, Fault
from .test_graphs import COUNT, SEED
from .trying import failure, widths_for


def graphs_until_found(fault: Fault, runs: bool) -> int | None:
    """How many graphs it takes."""
    with fault():
        oracle = Oracle(runs)
        for number in range(COUNT):
            if failure(draw(SEED, number), oracle, widths_for(number)[:1]) is not None:
                return number + 1
    return None


@pytest.mark.parametrize("name", IN_PASSES)
def test_faults_in_passes(name: str) -> None:
    assert graphs_until_found(IN_PASSES[name], runs=False) is not None


@pytest.mark.parametrize("name", IN_CODE)
def test_faults_in_code(name: str) -> None:
    assert graphs_until_found(IN_CODE[name], runs=True) is not None


def test_there_are_enough() -> None:
    assert len({**IN_PASSES, **IN_CODE}) >= 20

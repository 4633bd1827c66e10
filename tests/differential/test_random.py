"""Test random programs against NumPy, with the same bits on every CPU level."""

from __future__ import annotations

from typing import Any

import numpy as np
import weft
from hypothesis import HealthCheck, given, settings

from .comparing import Everywhere, same
from .drawing import Program, programs

SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True, "database": None}


def dense(results: tuple[Any, ...], order: str) -> tuple[Any, ...]:
    """Return results without the gaps, reversals and swapped bytes of views, which NumPy returns and Weft does not."""
    return tuple(
        np.array(x, x.dtype.newbyteorder("="), order=order) if isinstance(x, np.ndarray) else x for x in results
    )


def check(program: Program, order: str = "K") -> None:
    with np.errstate(all="ignore"):
        expected = program.run(*program.inputs)
    found = weft.jit(program.function)(*program.inputs)
    same(dense(found, order), dense(expected, order), zero_signs=False)
    for x in found:
        assert not any(np.shares_memory(x, y) for y in program.inputs)


@settings(max_examples=80, **SLOW)
@given(programs())
def test_programs(program: Program) -> None:
    check(program)


@settings(max_examples=40, **SLOW)
@given(programs(fallbacks=True))
def test_programs_that_numpy_helps_with(program: Program) -> None:
    """A NumPy function reads results of kernels in C order, so its own result may have another order."""
    check(program, order="C")


@settings(max_examples=40, **SLOW)
@given(programs(math=True))
def test_bits_of_programs(program: Program) -> None:
    Everywhere(program.function).check(*program.inputs)

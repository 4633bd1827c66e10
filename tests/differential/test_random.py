"""Random programs against NumPy, and the same bits of them everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import weft
from hypothesis import HealthCheck, given, settings

from .comparing import Everywhere, same
from .drawing import Program, programs

SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True, "database": None}


def dense(results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Results without the gaps and steps back that views have, which NumPy hands back and Weft does not."""
    return tuple(np.copy(x, order="K") if isinstance(x, np.ndarray) else x for x in results)


def check(program: Program) -> None:
    with np.errstate(all="ignore"):
        expected = program.run(*program.inputs)
    found = weft.jit(program.function)(*program.inputs)
    same(dense(found), dense(expected), zero_signs=False)
    for x in found:
        assert not any(np.shares_memory(x, y) for y in program.inputs)


@settings(max_examples=120, **SLOW)
@given(programs())
def test_programs(program: Program) -> None:
    check(program)


@settings(max_examples=40, **SLOW)
@given(programs(fallbacks=True))
def test_programs_that_numpy_helps_with(program: Program) -> None:
    check(program)


@settings(max_examples=60, **SLOW)
@given(programs(math=True))
def test_bits_of_programs(program: Program) -> None:
    Everywhere(program.function).check(*program.inputs)

"""Normalise NumPy's `axis` and `keepdims` arguments."""

from __future__ import annotations

import numpy as np

from ...ir.errors import AxisProblem, TypeProblem, ValueProblem, type_of
from ...ir.graph import Value
from ...ir.types import normalize_axis
from ..maker import Maker, NumberNeeded, number_of, static_int


def axes_of(m: Maker, axis: object, rank: int, *, lenient: bool = True) -> tuple[int, ...]:
    """Return the axes that an argument names, sorted; None means all of them.

    With `lenient` a number has an axis 0, as in NumPy's ufuncs; in its means and variances it has none.
    """
    if axis is None:
        return tuple(range(rank))
    several = isinstance(axis, (tuple, list))
    if lenient and rank == 0 and not several and static_int(axis, "axis", m.span) in (0, -1):
        return ()
    return tuple(sorted(ordered_axes(m, axis, rank)))


def ordered_axes(m: Maker, axis: object, rank: int) -> tuple[int, ...]:
    """Return the axes in the order in which they were named."""
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(axis_of(m, one, rank) for one in given)
    if len(set(found)) != len(found):
        raise ValueProblem("duplicate value in 'axis'", m.span, "name each axis once")
    return found


def axis_of(m: Maker, axis: object, rank: int) -> int:
    """Return an axis where only one is allowed."""
    number = static_int(axis, "axis", m.span)
    found = normalize_axis(number, rank)
    if found is None:
        hint = f"axes of this array are {-rank} to {rank - 1}" if rank else "the array has no axes"
        raise AxisProblem(f"axis {number} is out of bounds for array of dimension {rank}", m.span, hint)
    return found


def flag(m: Maker, x: object, what: str) -> bool:
    """Return an argument that must be a bool known at compile time."""
    if isinstance(x, (bool, int, np.bool_, np.integer)):
        return bool(x)
    if isinstance(x, Value) and (number := number_of(x)) is not None:
        return bool(number)
    if isinstance(x, Value):
        hint = f"write true or false; in a traced function name the argument: jit(static=('{what}',))"
        raise NumberNeeded(x, f"'{what}' must be known at compile time", m.span, hint)
    raise TypeProblem(f"'{what}' must be true or false, not {type_of(x)}", m.span)

"""Convert arguments that NumPy takes as arrays: values, numbers and nested tuples of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.errors import ValueProblem
from ...ir.graph import Value
from ...ir.ops import CONCATENATE, RESHAPE
from ...ir.rules import shown
from ...ir.types import Sizes
from ..maker import Maker, Operand
from ..sizes import guard_equal


def array_of(m: Maker, x: Operand | Sequence[object]) -> Value:
    """Convert an argument; a tuple becomes an array with one more axis than its items. A lone number stays weak."""
    if not isinstance(x, (tuple, list)):
        return m.lift(x)  # type: ignore[arg-type]
    if not x:
        raise m.refuse("'array' with an empty list")
    return stacked(m, [strong_array(m, item) for item in x])


def strong_array(m: Maker, x: object) -> Value:
    """Convert an argument to a strong dtype: a Python number becomes i64 (or u64), f64 or c128."""
    if type(x) is int and 2**63 <= x < 2**64:
        return m.lift(np.uint64(x))
    value = array_of(m, x)  # type: ignore[arg-type]
    return m.cast(value, value.type.dtype.strong)


def stacked(m: Maker, values: Sequence[Value], axis: int = 0) -> Value:
    """Stack values of the same shape along a new axis."""
    shape = values[0].type.shape
    for value in values:
        same = len(value.type.shape) == len(shape) and all(
            guard_equal(m.builder.facts, a, b) for a, b in zip(value.type.shape, shape, strict=True)
        )
        if not same:
            hint = f"the shapes are {shown(shape)} and {shown(value.type.shape)}"
            raise ValueProblem("all input arrays must have the same shape", m.span, hint)
    grown = Sizes((*shape[:axis], 1, *shape[axis:]))
    pieces = [m.builder.op(RESHAPE, value, span=m.span, shape=grown) for value in values]
    return joined(m, pieces, axis)


def joined(m: Maker, pieces: Sequence[Value], axis: int) -> Value:
    """Join pieces along an existing axis."""
    return pieces[0] if len(pieces) == 1 else m.builder.op(CONCATENATE, *pieces, span=m.span, axis=axis)

"""Define NumPy's running sums and products."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.errors import TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import BROADCAST, COMPLEX, IMAG, REAL, SCAN, WHERE
from ...ir.types import Sizes
from ..maker import Maker, Operand
from .arrays import array_of, joined
from .axes import axis_of, flag
from .elementwise import Make
from .reductions import PLUS, TIMES, Algebra, identity_in, in_dtype, over_axes
from .shapes import ravel, reshaped


def running(m: Maker, algebra: Algebra, x: Value, axis: int, dtype: object) -> Value:
    """Combine each element along an axis with all elements before it."""
    algebra, x, wanted = in_dtype(m, algebra, x, dtype)
    x = m.cast(x, wanted)
    if algebra is not PLUS or wanted.kind != "complex":
        return m.builder.op(SCAN, x, span=m.span, combine=algebra.combine.name, axis=axis)
    parts = (m.builder.op(SCAN, m.op(part, x), span=m.span, combine="add", axis=axis) for part in (REAL, IMAG))
    return m.op(COMPLEX, *parts)


def accumulated(m: Maker, algebra: Algebra, array: Operand, axis: object, dtype: object) -> Value:
    """Apply `ufunc.accumulate` along one axis."""
    x = array_of(m, array)
    if axis is None:
        raise _several_axes(m)
    if not x.type.rank:
        raise TypeProblem("cannot accumulate on a scalar", m.span)
    return running(m, algebra, x, _only_axis(m, axis, x.type.rank), dtype)


def _only_axis(m: Maker, axis: object, rank: int) -> int:
    """Return the axis of `accumulate`; a tuple of one is accepted."""
    if isinstance(axis, (tuple, list)) and len(axis) != 1:
        raise _several_axes(m)
    return axis_of(m, axis[0] if isinstance(axis, (tuple, list)) else axis, rank)


def _several_axes(m: Maker) -> ValueProblem:
    return ValueProblem("accumulate does not allow multiple axes", m.span, "name one axis")


def _total(algebra: Algebra) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None) -> Value:
        return along(m, algebra, a, axis, dtype)

    return make


def along(m: Maker, algebra: Algebra, a: Operand, axis: object, dtype: object) -> Value:
    """Accumulate along an axis, or over all elements in C order; a number counts as an array of one element."""
    x = array_of(m, a)
    if axis is None or not x.type.rank:
        x = ravel(m, x)
    return running(m, algebra, x, 0 if axis is None else axis_of(m, axis, x.type.rank), dtype)


def _from_array_api(algebra: Algebra) -> Make:
    def make(m: Maker, x: Operand, /, *, axis: object = None, dtype: object = None, out: None = None,
             include_initial: object = False) -> Value:  # fmt: skip
        value = array_of(m, x)
        value = value if value.type.rank else reshaped(m, value, (1,))
        if axis is None and value.type.rank > 1:
            raise ValueProblem(
                "For arrays which have more than one dimension ``axis`` argument is required.", m.span,
                "name the axis",
            )  # fmt: skip
        at = 0 if axis is None else _only_axis(m, axis, value.type.rank)
        found = running(m, algebra, value, at, dtype)
        if not flag(m, include_initial, "include_initial"):
            return found
        shape = Sizes(1 if k == at else size for k, size in enumerate(found.type.shape))
        first = m.builder.op(BROADCAST, identity_in(m, algebra, found.type.dtype), span=m.span, shape=shape)
        # The operand does not affect these values, but memory follows its axis order, as in NumPy.
        beside = m.cast(over_axes(m, PLUS.over, found, (at,), True), found.type.dtype)
        return joined(m, [m.op(WHERE, m.builder.constant(True, span=m.span), first, beside), found], at)

    return make


CUMULATIVE: Mapping[str, Make] = {
    "cumsum": _total(PLUS), "cumprod": _total(TIMES), "cumulative_sum": _from_array_api(PLUS),
    "cumulative_prod": _from_array_api(TIMES),
}  # fmt: skip

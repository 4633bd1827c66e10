"""Define NumPy's differences of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.dtypes import BOOL, F64
from ...ir.errors import TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import TABLE, OpDef
from ..fixed import fixed_int
from ..maker import Maker, Operand, static_int
from ..memory import converted, lying_as
from ..sizes import guard_reaches
from .arrays import array_of, joined, strong_array
from .axes import axis_of, ordered_axes
from .concatenate import concatenate
from .conversion import demand_cast
from .elementwise import Make
from .shapes import broadcast_to, part, ravel

ADD, SUB, MUL, DIV, NE = (TABLE[name] for name in ("add", "sub", "mul", "div", "ne"))


def diff(m: Maker, a: Operand, n: object = 1, axis: object = -1, prepend: Operand | None = None,
         append: Operand | None = None) -> Value:  # fmt: skip
    times = fixed_int(m, n, "n")
    if times < 0:
        raise ValueProblem(f"order must be non-negative but got {times}", m.span)
    x = array_of(m, a)
    if times == 0:
        return x
    if not x.type.rank:
        raise ValueProblem("diff requires input that is at least one dimensional", m.span)
    along = axis_of(m, axis, x.type.rank)
    ends = [None if end is None else _end(m, end, x, along) for end in (prepend, append)]
    pieces = [piece for piece in (ends[0], x, ends[1]) if piece is not None]
    if len(pieces) > 1:
        x = concatenate(m, pieces, along)
    for _ in range(times):
        x = _neighbours(m, x, along, NE if x.type.dtype == BOOL else SUB)
    return x


def _end(m: Maker, end: Operand, x: Value, axis: int) -> Value:
    """Convert `prepend` or `append`; a number stands for one element of each row."""
    value = strong_array(m, end)
    if value.type.rank:
        return value
    return broadcast_to(m, value, tuple(1 if k == axis else size for k, size in enumerate(x.type.shape)))


def _neighbours(m: Maker, x: Value, axis: int, op: OpDef = SUB) -> Value:
    size = m.builder.facts.canonical(x.type.shape[axis])
    count = dims.maximum(0, size - 1)
    # If the array has no more than one element, the slices are empty and their starts must still be in range.
    start = dims.minimum(1, size)
    later, earlier = part(m, x, axis, start, count), part(m, x, axis, 0, count)
    return m.op(op, later, earlier)


def ediff1d(m: Maker, ary: Operand, to_end: Operand | None = None, to_begin: Operand | None = None) -> Value:
    x = ravel(m, ary)
    dtype = x.type.dtype
    ends = []
    for end, name in ((to_begin, "to_begin"), (to_end, "to_end")):
        value = None if end is None else array_of(m, end)
        if value is not None:
            try:
                demand_cast(m, value.type.dtype.strong, dtype, "same_kind")
            except TypeProblem as error:
                hint = "under the `same_kind` rule"
                raise TypeProblem(f"dtype of `{name}` must be compatible with input `ary`", m.span, hint) from error
            value = m.cast(ravel(m, value), dtype)
        ends.append(value)
    pieces = [piece for piece in (ends[0], _neighbours(m, x, 0), ends[1]) if piece is not None]
    return joined(m, pieces, 0)


# -- gradient


def gradient(m: Maker, f: Operand, /, *varargs: Operand, axis: object = None,
             edge_order: object = 1) -> Value | tuple[Value, ...]:  # fmt: skip
    x = strong_array(m, f)
    axes = tuple(range(x.type.rank)) if axis is None else ordered_axes(m, axis, x.type.rank)
    spacing = _spacing(m, varargs, len(axes))
    order = static_int(edge_order, "edge_order", m.span)
    if order > 2:
        raise ValueProblem("'edge_order' greater than 2 not supported", m.span)
    dtype = x.type.dtype
    if dtype.kind not in ("float", "complex"):
        x, dtype = (converted(m, x, F64) if dtype.is_integer else x), F64
    found = []
    for along, by in zip(axes, spacing, strict=True):
        if not guard_reaches(m.builder.facts, x.type.shape[along], order + 1):
            raise ValueProblem(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required.",
                m.span,
            )
        slopes = [m.cast(piece, dtype) for piece in _slopes(m, x, along, by, order)]
        found.append(lying_as(m, joined(m, slopes, along), x))
    return found[0] if len(found) == 1 else tuple(found)


def _spacing(m: Maker, given: Sequence[Operand], count: int) -> list[Operand]:
    if not given:
        return [1.0] * count
    if any(isinstance(x, (tuple, list)) or (isinstance(x, Value) and x.type.rank) for x in given):
        raise m.refuse("'gradient' with coordinates")
    if len(given) not in (1, count):
        raise TypeProblem("invalid number of arguments", m.span, "pass one distance for all axes, or one for each axis")
    return list(given) * (count // len(given))


def _slopes(m: Maker, x: Value, axis: int, by: Operand, order: int) -> list[Value]:
    """Compute the first slope, those inside, and the last one."""
    size = x.type.shape[axis]

    def at(place: int) -> Value:
        return part(m, x, axis, place if place >= 0 else size + place, 1)

    def weighed(weights: Sequence[float], places: Sequence[int]) -> Value:
        a, b, c = (m.op(MUL, m.op(DIV, w, by), at(k)) for w, k in zip(weights, places, strict=True))
        return m.op(ADD, m.op(ADD, a, b), c)

    inner = dims.maximum(0, size - 2)
    gap = m.op(SUB, part(m, x, axis, dims.minimum(2, size), inner), part(m, x, axis, 0, inner))
    inside = m.op(DIV, gap, m.op(MUL, 2.0, by))
    if order == 1:
        return [m.op(DIV, m.op(SUB, at(1), at(0)), by), inside, m.op(DIV, m.op(SUB, at(-1), at(-2)), by)]
    return [weighed((-1.5, 2.0, -0.5), (0, 1, 2)), inside, weighed((0.5, -2.0, 1.5), (-3, -2, -1))]


DIFFERENCING: Mapping[str, Make] = {"diff": diff, "ediff1d": ediff1d, "gradient": gradient}

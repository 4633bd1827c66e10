"""Define NumPy's functions of diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import dims
from ...ir.dims import Size
from ...ir.dtypes import I64
from ...ir.errors import TypeProblem, ValueProblem, quantity
from ...ir.footprints import MOST_ELEMENTS
from ...ir.graph import Value
from ...ir.ops import DIAGONAL, TABLE, WHERE, OpDef
from ...ir.types import Sizes
from ..fixed import count_of, countable, fixed_size
from ..maker import Maker, Operand, as_dtype, literal, static_size
from ..memory import laid_out
from ..sizes import guard_negative
from .arrays import array_of, joined
from .axes import axis_of
from .creation import filled, numbered
from .elementwise import Make
from .reductions import PLUS, reduced
from .shapes import ravel, reshaped

ADD, SUB, EQ, GE = (TABLE[name] for name in ("add", "sub", "eq", "ge"))
MAXIMUM, MINIMUM = TABLE["maximum"], TABLE["minimum"]


def eye(m: Maker, N: object, M: object = None, k: object = 0, dtype: object = float, order: str = "C") -> Value:
    shape = count_of(m, N, "N"), count_of(m, N if M is None else M, "M")
    return laid_out(m, m.cast(_compared(m, EQ, shape, k), as_dtype(dtype, m.span)), order)


def identity(m: Maker, n: object, dtype: object = None) -> Value:
    return eye(m, n, dtype=float if dtype is None else dtype)


def tri(m: Maker, N: object, M: object = None, k: object = 0, dtype: object = float) -> Value:
    shape = count_of(m, N, "N"), count_of(m, N if M is None else M, "M")
    return m.cast(_compared(m, GE, shape, k), as_dtype(dtype, m.span))


def _compared(m: Maker, op: OpDef, shape: tuple[Size, Size], k: object) -> Value:
    """Compare row + k with the column, for each element of a matrix."""
    row, column = numbered(m, (shape[0], 1), 0), numbered(m, (1, shape[1]), 1)
    return m.op(op, row if k == 0 else m.op(ADD, row, m.cast(_offset(m, k), I64)), column)


def _offset(m: Maker, k: object) -> Operand:
    """Return the distance to the right of the main diagonal; it may be a number only known at run time."""
    if isinstance(k, Value) and (k.type.rank or not k.type.dtype.is_integer):
        raise TypeProblem(f"'k' must be a whole number, not {k.type}", m.span)
    if not isinstance(k, Value):
        return _near(static_size(k, "k", m.span))
    if literal(k) is not None:
        return _offset(m, literal(k))
    return m.op(MAXIMUM, m.op(MINIMUM, m.cast(k, I64), MOST_ELEMENTS), -MOST_ELEMENTS)


def _near(offset: Size) -> Size:
    """Clamp a constant offset to the largest possible array, because native code counts in signed 64-bit words."""
    return max(-MOST_ELEMENTS, min(offset, MOST_ELEMENTS)) if isinstance(offset, int) else offset


def _triangle(lower: bool) -> Make:
    """Make `tril` or `triu`."""

    def make(maker: Maker, /, m: Operand, k: object = 0) -> Value:
        x = array_of(maker, m)
        if not x.type.rank:
            raise TypeProblem("a triangle can only be taken of a matrix, not of a number", maker.span)
        offset = _offset(maker, k)
        shape = x.type.shape[-2:] if x.type.rank > 1 else x.type.shape * 2
        mask = _compared(maker, GE, (shape[0], shape[1]), offset if lower else maker.op(SUB, offset, 1))
        nothing = maker.cast(0, x.type.dtype.strong)
        return maker.op(WHERE, mask, x, nothing) if lower else maker.op(WHERE, mask, nothing, x)

    return make


def diagonal(m: Maker, a: Operand, offset: object = 0, axis1: object = 0, axis2: object = 1) -> Value:
    x = array_of(m, a)
    rank = x.type.rank
    if rank < 2:
        raise ValueProblem("diag requires an array of at least two dimensions", m.span)
    axes = axis_of(m, axis1, rank), axis_of(m, axis2, rank)
    if axes[0] == axes[1]:
        raise ValueProblem("axis1 and axis2 cannot be the same", m.span, "name two different axes")
    return _along(m, x, axes, _near(fixed_size(m, offset, "offset")))


def _along(m: Maker, x: Value, axes: tuple[int, int], offset: Size) -> Value:
    """Take the diagonal that starts this far right of the corner, or below it if the offset is negative."""
    below = guard_negative(m.builder.facts, offset)
    starts = (-offset, 0) if below else (0, offset)
    left = [m.builder.facts.canonical(x.type.shape[axis]) - start for axis, start in zip(axes, starts, strict=True)]
    size = dims.maximum(0, dims.minimum(*left))
    return m.builder.op(DIAGONAL, x, span=m.span, axes=axes, starts=Sizes(starts), size=Sizes((size,)))


def trace(m: Maker, a: Operand, offset: object = 0, axis1: object = 0, axis2: object = 1, dtype: object = None,
          out: None = None) -> Value:  # fmt: skip
    return reduced(m, PLUS, diagonal(m, a, offset, axis1, axis2), -1, dtype)


def diag(m: Maker, v: Operand, k: object = 0) -> Value:
    x = array_of(m, v)
    if x.type.rank == 2:
        return diagonal(m, x, k)
    if x.type.rank != 1:
        raise ValueProblem("Input must be 1- or 2-d.", m.span, f"it has {quantity(x.type.rank, 'dimension')}")
    offset = countable(m, fixed_size(m, k, "k"), "k")
    below = guard_negative(m.builder.facts, offset)
    room = -offset if below else offset
    size = x.type.shape[0] + room
    along = joined(m, [x, filled(m, 0, x.type.dtype, (room,))], 0) if room != 0 else x
    spread = reshaped(m, along, (1, size) if below else (size, 1))
    nothing = m.cast(0, x.type.dtype)
    return m.op(WHERE, _compared(m, EQ, (size, size), offset), spread, nothing)


def diagflat(m: Maker, v: Operand, k: object = 0) -> Value:
    return diag(m, ravel(m, v), k)


TRIANGLES: Mapping[str, Make] = {
    "eye": eye, "identity": identity, "tri": tri, "tril": _triangle(True), "triu": _triangle(False),
    "diagonal": diagonal, "trace": trace, "diag": diag, "diagflat": diagflat,
}  # fmt: skip

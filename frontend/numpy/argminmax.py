"""Define `argmin` and `argmax`."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.errors import ValueProblem
from ...ir.graph import Value
from ...ir.ops import ARGMAX, ARGMIN, OpDef
from ..maker import Maker, Operand
from .arrays import array_of
from .axes import axis_of, flag
from .complex_order import places
from .elementwise import Make
from .reductions import guard_nonempty
from .shapes import reshaped


def position(m: Maker, op: OpDef, a: Operand, axis: object, keepdims: object) -> Value:
    """Return the first position of an extreme along an axis, or in C order; a number is an array of one element."""
    given = array_of(m, a)
    x = given if given.type.rank else reshaped(m, given, (1,))
    axes = tuple(range(x.type.rank)) if axis is None else (axis_of(m, axis, x.type.rank),)
    if not guard_nonempty(m, x, axes):
        raise ValueProblem(f"attempt to get {op.name} of an empty sequence", m.span)
    if x.type.dtype.kind == "complex":
        op, x = ARGMAX, places(m, op is ARGMIN, False, x, axes)
    kept = flag(m, keepdims, "keepdims") and given.type.rank > 0
    return m.builder.op(op, x, span=m.span, axes=axes, keepdims=kept)


def _position(op: OpDef) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, out: None = None, *, keepdims: object = False) -> Value:
        return position(m, op, a, axis, keepdims)

    return make


POSITIONS: Mapping[str, Make] = {"argmin": _position(ARGMIN), "argmax": _position(ARGMAX)}

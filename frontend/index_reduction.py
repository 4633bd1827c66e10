"""`sum[p](...)`: an expression over one more index in, what is left without it out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..ir.errors import TypeProblem
from ..ir.graph import Value
from ..ir.ops import TABLE
from . import functions, syntax
from .frame import Frame
from .index_check import POSITIONS
from .index_ranges import ranges
from .index_scope import Scope
from .maker import Maker
from .shaping import broadcast_to
from .weak import Operand, dtype_of, take

if TYPE_CHECKING:
    from .expressions import Expressions

ADD = TABLE["add"]


def reduction(expr: syntax.Call, frame: Frame, expressions: Expressions) -> Operand:
    """A reduction over the indices between the brackets; it works as the function of the same name on these axes."""
    callee, outer = expr.callee, frame.scope
    assert isinstance(callee, syntax.Index) and isinstance(callee.value, syntax.Name) and outer is not None
    name, (body,) = callee.value.name, [a.value for a in expr.arguments if a.name is None]
    more = ranges(callee.items, (body,), frame, expressions)
    if name in POSITIONS and len(more) > 1:
        raise TypeProblem(f"'{name}' over several indices is no single number", callee.span, "reduce over one index")
    scope = outer.inner(more)
    given = expressions.operand(body, replace(frame, scope=scope))
    maker = Maker(expressions.builder, expr.span)
    axes = tuple(range(len(outer.indices), len(scope.indices)))
    options = {a.name: expressions.value(a.value, frame.plain) for a in expr.arguments if a.name is not None}
    value = _along(maker, given, scope, len(outer.indices))
    found = functions.call(
        maker.builder, name, (value,), {"axis": axes[0] if len(axes) == 1 else axes, **options}, expr.span
    )
    assert isinstance(found, Value)
    if name in POSITIONS and more[0].start != 0:
        return maker.op(ADD, found, more[0].start)
    return found


def _along(m: Maker, x: Operand, scope: Scope, kept: int) -> Value:
    """The value as long as the range of each index that is reduced, whether it depends on it or not."""
    value = take(m, x, dtype_of(x).strong)
    before = value.type.shape[:kept] if value.type.rank else (1,) * kept
    return broadcast_to(m, value, (*before, *(index.size for index in scope.indices[kept:])))

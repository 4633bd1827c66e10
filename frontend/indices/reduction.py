"""Lower `sum[p](...)` and the other reductions over an index.

A reduction is the function of the same name over the axes of the indices. A matrix product becomes one `matmul`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.errors import TypeProblem
from ...ir.graph import Value
from ...ir.ops import TABLE
from ...ir.records import replace
from ..language import syntax
from ..language.syntax import Expr, within
from ..lowering.frame import Environment
from ..maker import Maker
from ..numpy import functions
from ..numpy.contraction import turned
from ..numpy.shapes import broadcast_to, reshaped
from ..weak import Operand, dtype_of, take
from .check import POSITIONS
from .product import factors_in, multiplied, product
from .ranges import ranges
from .scope import IndexRange, IndexScope
from .views import placed

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions

ADD = TABLE["add"]


def reduction(expr: syntax.Call, frame: Environment, expressions: Expressions) -> Operand:
    """Lower a reduction over the indices in brackets to the function of the same name on their axes."""
    callee, outer = expr.callee, frame.scope
    assert isinstance(callee, syntax.Index) and isinstance(callee.value, syntax.Name) and outer is not None
    name, (body,) = callee.value.name, [a.value for a in expr.arguments if a.name is None]
    more = ranges(callee.items, (body,), frame, expressions)
    if name in POSITIONS and len(more) > 1:
        raise TypeProblem(f"'{name}' can't reduce over several indices", callee.span, "reduce over one index")
    scope = outer.inner(more)
    maker, inside = Maker(expressions.builder, expr.span), replace(frame, scope=scope)
    factors = factors_in(body, inside, expressions) if name == "sum" else [expressions.operand(body, inside)]
    options = {a.name: expressions.value(a.value, frame.plain) for a in expr.arguments if a.name is not None}
    matrices = None if options else product(expr.span, factors, scope, outer, expressions)
    if matrices is not None:
        return matrices
    given = multiplied(factors, body.span, expressions)
    value, kept = _along(maker, given, outer, more, _kept_is_last(body, outer, scope))
    axes = tuple(axis for axis, along in enumerate(kept) if along is None)
    found = functions.call(
        maker.builder, name, (value,), {"axis": axes if len(axes) > 1 else axes[0], **options}, expr.span
    )
    assert isinstance(found, Value)
    if name in POSITIONS and more[0].start != 0:
        found = maker.op(ADD, found, more[0].start)
    return placed(maker, found, [along for along in kept if along], outer)


def _along(
    m: Maker, x: Operand, outer: IndexScope, more: tuple[IndexRange, ...], first: bool
) -> tuple[Value, list[str | None]]:
    """Return a value with the axes that it needs, and the index along each; None marks a reduced axis.

    It is broadcast to the ranges of the reduced indices, even if it does not depend on them.
    """
    value, count = take(m, x, dtype_of(x).strong), len(outer.indices)
    shape = value.type.shape or (1,) * (count + len(more))
    axes = [axis for axis in range(count) if shape[axis] != 1]
    lean = reshaped(m, value, [shape[axis] for axis in axes] + [*shape[count:]])
    whole = broadcast_to(m, lean, (*(shape[axis] for axis in axes), *(index.size for index in more)))
    kept = [outer.indices[axis].name for axis in axes]
    if not first:
        return whole, [*kept, *(None for _ in more)]
    order = [*range(len(axes), len(axes) + len(more)), *range(len(axes))]
    return turned(m, whole, order), [*(None for _ in more), *kept]


def _kept_is_last(body: Expr, outer: IndexScope, scope: IndexScope) -> bool:
    """Tell whether a kept index runs along contiguous memory: the last one of the access with the most indices.

    Then the reduced axes come first, as in a sum over axis 0, because the last axis is vectorised if several could be.
    """
    found: list[set[str]] = []
    most = 0
    for access in (e for e in within(body) if isinstance(e, syntax.Index)):
        names = [{n.name for n in within(i) if isinstance(n, syntax.Name) and scope.find(n.name)} for i in access.items]
        if (count := len(set().union(*names))) > most:
            most, found = count, names
    return bool(found) and any(outer.find(name) for name in found[-1])

"""List the expressions inside an expression, except names that brackets bind, as in `sum[p](...)`."""

from __future__ import annotations

from collections.abc import Iterator

from . import syntax
from .syntax import Expr


def parts_of(expr: Expr) -> Iterator[Expr]:
    """The expressions that an expression is made of, without those inside of them."""
    match expr:
        case syntax.Unary():
            yield expr.operand
        case syntax.Binary():
            yield from (expr.left, expr.right)
        case syntax.Compare():
            yield expr.first
            yield from (operand for _, operand in expr.rest)
        case syntax.Logical():
            yield from expr.operands
        case syntax.Conditional():
            yield from (expr.condition, expr.then, expr.other)
        case syntax.Call():
            if isinstance(expr.callee, syntax.Index):
                yield from (item for item in expr.callee.items if isinstance(item, syntax.Range))
            yield from (a.value for a in expr.arguments)
        case syntax.Range():
            yield from (expr.start, expr.stop)
        case syntax.Slice():
            yield from (e for e in (expr.start, expr.stop, expr.step) if e is not None)
        case syntax.Index():
            yield from (expr.value, *expr.items)
        case syntax.TupleOf():
            yield from expr.items


def within(root: Expr) -> Iterator[Expr]:
    """The expression and all inside it, in the order in which they are written; a loop, because chains are long."""
    waiting = [root]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += reversed([*parts_of(expr)])


def index_name(item: Expr) -> syntax.Name | None:
    """The name that an item between the brackets of a definition or a reduction binds, if it is one."""
    name = item.index if isinstance(item, syntax.Range) else item
    return name if isinstance(name, syntax.Name) else None

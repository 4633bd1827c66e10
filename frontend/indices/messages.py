"""Word the errors of index notation, each with what to write instead."""

from __future__ import annotations

import re

from ...ir import dims
from ...ir.dims import Size
from ...ir.errors import IndexProblem
from ...ir.proofs import follows
from ..language import syntax
from ..language.syntax import Expr
from .affine import Affine
from .scope import IndexScope

_QUOTIENT = re.compile(r"floordiv\(([\w]+), (\d+)\)")


def written(expr: Expr) -> str:
    """Return the source text of an expression, or a short phrase if it is long."""
    span = expr.span
    text = (span.text or "")[span.column - 1 : span.column - 1 + span.length]
    if len(text) == span.length:
        return text
    match expr:
        case syntax.Name():
            return expr.name
        case syntax.Index(value=syntax.Name() as array):
            return f"{array.name}[...]"
        case _:
            return "..."


def shown(size: object) -> str:
    """Write a size or a range of sizes as source text."""
    return _QUOTIENT.sub(r"(\1//\2)", str(size))


def out_of_range(index: Affine, scope: IndexScope, item: Expr, array: Expr, axis: int, size: Size) -> IndexProblem:
    """Make the error for an index that can't be proved to be in range."""
    where = f"axis {axis} of '{written(array)}', which has size {shown(size)}"
    runs = ", ".join(f"{name} in {shown(scope.indices[scope.axis(name)])}" for name in index.steps)
    bounds, known = index.bounds(scope), [*index.known(scope), *(i.surplus for i in scope.indices)]
    if bounds is None:
        hint = "an index can only be multiplied by a number or by a size that is not negative"
        return IndexProblem(f"'{written(item)}' can't be shown to stay within {where}: {runs}", item.span, hint)
    low, high = bounds
    if not index.steps:
        hint = f"the size may be {shown(high)} or less; pass the element as a number, or use an index"
        return IndexProblem(f"'{written(item)}' is not known to be within {where}", item.span, hint)
    end, room = (high, size - 1 - high) if follows(low, known) else (low, low)
    is_sure = isinstance(room, int)
    reach = f"can be {shown(end)}, {'outside of' if is_sure else 'not known to be within'}"
    return IndexProblem(f"'{written(item)}' {reach} {where}: {runs}", item.span, _advice(index, scope, size))


def _advice(index: Affine, scope: IndexScope, size: Size) -> str:
    """Suggest a range that would keep the index in bounds, if there is one."""
    if scope.is_rest:
        return "after 'else' the indices run outside the ranges; read an element that exists there, such as x[i]"
    (name, step), *more = index.steps.items()
    defined = scope.axis(name) < len(scope.indices) - scope.reduced
    rest = ", and add 'else' for the other elements" if defined else ""
    if more or step != 1:
        return f"give the indices ranges that keep it in bounds{rest}"
    given = scope.indices[scope.axis(name)]
    start = given.start if follows(given.start + index.start) else dims.maximum(given.start, -index.start)
    last = size - index.start
    stop = given.stop if follows(last - given.stop) else last
    return f"write '{name} in {shown(start)}..{shown(stop)}'{rest}"

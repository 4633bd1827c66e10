"""Errors of index notation: what was written and what is known in, an error that says what to write out."""

from __future__ import annotations

from ..ir import dims
from ..ir.dims import Size
from ..ir.errors import IndexProblem
from .index_affine import Affine
from .index_proofs import follows
from .index_scope import Scope
from .syntax import Expr


def written(expr: Expr) -> str:
    """An expression as it stands in the source."""
    span = expr.span
    text = (span.text or "").rstrip("\n")
    return text[span.column - 1 : span.column - 1 + span.length]


def out_of_range(index: Affine, scope: Scope, item: Expr, array: Expr, axis: int, size: Size) -> IndexProblem:
    """An index that can't be shown to be in range: its ranges, the axis and its size, and which end is open."""
    where = f"axis {axis} of '{written(array)}', which has size {size}"
    names = list(index.steps)
    runs = ", ".join(f"{name} in {scope.indices[scope.axis(name)]}" for name in names)
    bounds, known = index.bounds(scope), [*index.known(scope), *(i.surplus for i in scope.indices)]
    if bounds is None:
        hint = "steps through an array are numbers, or sizes that are not negative"
        return IndexProblem(f"'{written(item)}' can't be shown to stay within {where}: {runs}", item.span, hint)
    low, high = bounds
    reach = f"can be {high}" if follows(low, known) else f"can be {low}"
    if not names:
        hint = f"nothing says that the size is more than {high}; pass the element as a number, or use an index"
        return IndexProblem(f"'{written(item)}' is not known to be within {where}", item.span, hint)
    return IndexProblem(
        f"'{written(item)}' {reach}, outside of {where}: {runs}", item.span, _advice(index, scope, size)
    )


def _advice(index: Affine, scope: Scope, size: Size) -> str:
    """The range in which a lone index would do, where there is one."""
    if scope.is_rest:
        return "after 'else' the indices run over what the ranges leave; read what is there, as in x[i]"
    (name, step), *more = index.steps.items()
    if more or step != 1:
        return "give the indices ranges in which it stays inside, and say with 'else' what the other elements are"
    given = scope.indices[scope.axis(name)]
    start = given.start if follows(given.start + index.start) else dims.maximum(given.start, -index.start)
    last = size - index.start
    stop = given.stop if follows(last - given.stop) else last
    return f"write '{name} in {start}..{stop}', and with 'else' what the other elements are"

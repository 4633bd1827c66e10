"""Lower `x[i, j + 1]` in index notation to a value with an axis for each index in scope.

Affine indices are proved to be in range and become a view: a slice with its axes in order, or an `access` if an index
is used on two axes or two indices are used on one. The proof assumes that the ranges of the access's own indices are
not empty, so that the view is in range wherever it is read. If that is not enough, as for `x[0]`, the graph assumes
that no range in scope is empty; in a call where one is, nothing reads the element, and zeros take its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.dims import Size
from ...ir.errors import IndexProblem, TypeProblem
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.proofs import follows
from ..language import syntax
from ..language.syntax import Expr, within
from ..lowering.frame import Environment
from ..maker import Maker
from ..sizes import guard_at_least
from .affine import Affine, affine
from .gather import gathered
from .messages import out_of_range, written
from .scope import IndexScope
from .views import viewed

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions


def indexed_array(expr: syntax.Index, frame: Environment, expressions: Expressions) -> Value:
    """Lower the array that is indexed, and check that it has one axis for each index."""
    scope = frame.scope
    assert scope is not None
    if expr.value not in scope.arrays:
        value = expressions.operand(expr.value, frame.plain)
        if not isinstance(value, Value) or not value.type.rank:
            raise TypeProblem("a number can't be indexed", expr.value.span, "leave out the brackets")
        scope.arrays[expr.value] = value
    array = scope.arrays[expr.value]
    for item in expr.items:
        if isinstance(item, syntax.Slice) or (isinstance(item, syntax.Literal) and item.value in (None, ...)):
            hint = "name an index for the axis, and reduce over it or define an array with it"
            raise IndexProblem("index notation needs an index for every axis", item.span, hint)
    if len(expr.items) != array.type.rank:
        count, rank = len(expr.items), array.type.rank
        hint = "write one index for each axis"
        needed = f"{rank} ind{'ices' if rank != 1 else 'ex'}"
        raise IndexProblem(f"'{written(expr.value)}' needs {needed}, not {count}", expr.span, hint)
    return array


def element(expr: syntax.Index, frame: Environment, expressions: Expressions) -> Value:
    """Lower an access to the elements that it reads, as a value in the scope."""
    scope = frame.scope
    assert scope is not None
    array, maker = indexed_array(expr, frame, expressions), Maker(expressions.builder, expr.span)
    indices: list[Affine | None] = []
    for axis, item in enumerate(expr.items):
        index, size = affine(item, frame, expressions), maker.builder.facts.canonical(array.type.shape[axis])
        is_read = None if index is None else _guard_read(maker.builder.facts, index, scope, size)
        if is_read is False:
            return maker.cast(0, array.type.dtype)
        if index is not None and is_read is None and not _has_remainder(item):
            raise out_of_range(index, scope, item, expr.value, axis, size)
        indices.append(index if is_read else None)
    known = [index for index in indices if index is not None]
    if len(known) == len(indices):
        return viewed(maker, array, known, scope)
    return gathered(array, expr, indices, frame, expressions)


def _guard_read(facts: Facts, index: Affine, scope: IndexScope, size: Size) -> bool | None:
    """Tell whether this call reads elements at an index, which is then in range; None if neither can be proved.

    Everything the answer takes from the current call is guarded.
    """
    bounds = index.bounds(scope)
    if bounds is None:
        return None
    # The first and the last element, counted from the ends of the axis: neither may be negative.
    ends = [facts.canonical(end) for end in (bounds[0], size - 1 - bounds[1])]
    known = [facts.canonical(fact) for fact in index.known(scope)]
    if all(follows(end, known) for end in ends):
        return True
    known += [facts.canonical(i.surplus) for i in scope.indices if i.name not in index.steps]
    if not all(follows(end, known) for end in ends):
        return None
    for other in scope.indices:
        if not guard_at_least(facts, other.size, 1):
            facts.assume_equal(other.size, 0)
            return False
    return True


def _has_remainder(item: Expr) -> bool:
    """Tell whether an index wraps around by a size that may not be the size of the axis. Then the call checks it."""
    return any(isinstance(e, syntax.Binary) and e.op == "%" for e in within(item))

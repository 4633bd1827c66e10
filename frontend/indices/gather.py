"""Lower `x[idx[i], j]`, where some indices are only known at run time, to a `gather`.

Every index is checked in the call and counts from the start; the error shows it as written. Axes with separate affine
indices are sliced and read in order, so that looking up rows costs little more than copying them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.dtypes import I64
from ...ir.errors import TypeProblem
from ...ir.graph import Value
from ...ir.ops import GATHER
from ..language import syntax
from ..language.syntax import Expr
from ..lowering.frame import Environment
from ..maker import Maker
from ..numpy.shapes import reshaped
from ..weak import dtype_of, take
from .affine import Affine
from .messages import written
from .scope import IndexScope
from .views import is_slice, placed, sliced

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions


def gathered(
    array: Value, expr: syntax.Index, indices: Sequence[Affine | None], frame: Environment, expressions: Expressions
) -> Value:
    """Return the elements at these indices, as a value in the scope; None marks an index that is not affine."""
    scope, m = frame.scope, Maker(expressions.builder, expr.span)
    assert scope is not None
    unknown = [axis for axis, index in enumerate(indices) if index is None]
    block = range(unknown[0], unknown[-1] + 1)
    found = {axis: _index(m, expr.items[axis], frame, expressions) for axis in block}
    outside = [index for axis, index in enumerate(indices) if index is not None and axis not in block]
    if not is_slice(outside) or any(index.steps.keys() & _used([*found.values()], scope) for index in outside):
        block = range(len(indices))
        others = {a: _index(m, expr.items[a], frame, expressions) for a in block if a not in found}
        found = {axis: {**found, **others}[axis] for axis in block}  # in the order of the axes
    taken, names = sliced(m, array, [None if axis in block else index for axis, index in enumerate(indices)], scope)
    used = _used([*found.values()], scope)
    sizes = {index.name: index.size for index in scope.indices}
    by = [
        reshaped(m, x, [sizes[n] if x.type.shape[scope.axis(n)] != 1 else 1 for n in used]) if x.type.rank else x
        for x in found.values()
    ]
    text = (written(expr.value), *(written(expr.items[axis]) for axis in block))
    value = m.builder.op(GATHER, taken, *by, span=m.span, axes=tuple(block), named=text)
    return placed(m, value, [*names[: block[0]], *used, *names[block[-1] + 1 :]], scope)


def _index(m: Maker, item: Expr, frame: Environment, expressions: Expressions) -> Value:
    """Lower an index to i64 values."""
    found = expressions.operand(item, frame)
    dtype = dtype_of(found)
    if dtype.kind not in ("int", "uint"):
        hint = "convert it: i64(...)"
        raise TypeProblem(f"an index must be an integer, but '{written(item)}' is {dtype}", item.span, hint)
    return take(m, found, I64)


def _used(values: Sequence[Value], scope: IndexScope) -> list[str]:
    """List the indices that any of the values depends on, in order."""
    shapes = [x.type.shape for x in values if x.type.rank]
    return [index.name for k, index in enumerate(scope.indices) if any(shape[k] != 1 for shape in shapes)]

"""Find the ranges of indices: as written, or from the axes that they index by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.dims import Size
from ...ir.errors import ShapeProblem, ValueProblem
from ..language import syntax
from ..language.syntax import Expr, index_name, within
from ..lowering.frame import Environment
from .access import indexed_array
from .messages import shown, written
from .scope import IndexRange, settled

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions


def named(item: Expr) -> syntax.Name:
    """Return the name of an index; earlier checks guarantee that there is one."""
    name = index_name(item)
    assert name is not None
    return name


def ranges(
    items: Sequence[Expr], roots: Sequence[Expr], frame: Environment, expressions: Expressions
) -> tuple[IndexRange, ...]:
    """Find the range of each index; without a written one, it runs along the axes that it indexes here."""
    found = []
    for item in items:
        name = named(item)
        if isinstance(item, syntax.Range):
            found.append(given(item, frame, expressions))
            continue
        size = extent(name, roots, frame, expressions)
        if size is None:
            hint = f"index an array with it alone, as in x[{name.name}], or give its range: {name.name} in 0..n"
            raise ValueProblem(f"can't tell the range of '{name.name}'", name.span, hint)
        found.append(IndexRange(name.name, 0, size))
    return tuple(found)


def given(item: syntax.Range, frame: Environment, expressions: Expressions) -> IndexRange:
    """Lower a written range."""
    start, stop = (expressions.size(bound, frame.plain) for bound in (item.start, item.stop))
    return settled(expressions.builder.facts, named(item).name, start, stop)


def extent(name: syntax.Name, roots: Sequence[Expr], frame: Environment, expressions: Expressions) -> Size | None:
    """Find the size of the axes that an index indexes alone, if there are any."""
    first: tuple[Size, str] | None = None
    for access in (e for root in roots for e in within(root) if isinstance(e, syntax.Index)):
        for axis, item in enumerate(access.items):
            if not isinstance(item, syntax.Name) or item.name != name.name:
                continue
            array = indexed_array(access, frame, expressions)
            size = expressions.builder.facts.canonical(array.type.shape[axis])
            where = f"axis {axis} of '{written(access.value)}', which has size {shown(size)}"
            if first is None:
                first = size, where
            elif not expressions.builder.facts.same(first[0], size):
                hint = f"give its range, as in {name.name} in 0..{shown(first[0])}, or give both dimensions one name"
                raise ShapeProblem(f"'{name.name}' runs along {first[1]}, and along {where}", item.span, hint)
    return None if first is None else first[0]

"""Lower `let c[i, j in 1..m] = value else other` to the array that it defines.

With an `else`, the ranges say where the first expression holds. Without one, elements that wrap around at the ends, as
in `x[(i + 1) % n]`, form a border, so that nothing wraps around inside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.dims import Dim, Size
from ...ir.errors import IndexProblem, ShapeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.proofs import follows
from ...ir.records import replace
from ..language import syntax
from ..language.declared import declare
from ..language.syntax import Expr, within
from ..lowering.frame import Environment
from ..maker import Maker
from ..memory import laid_out
from ..sizes import guard_reaches
from ..weak import dtype_of
from .pieces import Box, IndexPieces, evaluated, filled_out
from .ranges import extent, given, named, ranges
from .scope import IndexRange, IndexScope, settled
from .wraps import unwrapped

if TYPE_CHECKING:
    from ..lowering.element_stores import ElementStores
    from ..lowering.expressions import Expressions


def defined(statement: syntax.Definition, frame: Environment, expressions: Expressions, stores: ElementStores) -> Value:
    """Lower a definition to its array; the caller checks the declared type."""
    outside = replace(frame, scope=IndexScope(), elements=True)
    if reads_itself(statement):
        from .recurrence import Recurrence

        return Recurrence(statement, outside, expressions, stores).array()
    return laid_out(Maker(expressions.builder, statement.span), _array(statement, outside, expressions), "C")


def reads_itself(statement: syntax.Definition) -> bool:
    """Tell whether elements are defined by other elements of the same array."""
    names = (e for e in within(statement.value) if isinstance(e, syntax.Name))
    return any(e.name == statement.name.name for e in names)


def _array(statement: syntax.Definition, outside: Environment, expressions: Expressions) -> Value:
    maker, value = Maker(expressions.builder, statement.span), statement.value
    if statement.other is not None:
        border = ArrayBorder(statement, statement.other, outside, expressions)
        whole, inside, known = border.whole, border.inside, tuple(border.known)
        return IndexPieces(value, statement.other, whole, inside, known, outside, expressions).array(maker)
    whole = ranges(statement.indices, (value,), outside, expressions)
    part = unwrapped(value, whole, outside, expressions)
    if part is None:
        found = evaluated(value, whole, outside, expressions)
        return filled_out(maker, found, whole, dtype_of(found).strong)
    known = tuple(index.size for index in part)
    return IndexPieces(value, value, whole, part, known, outside, expressions).array(maker)


class ArrayBorder:
    """The ranges of a definition with `else`."""

    def __init__(
        self, statement: syntax.Definition, other: Expr, outside: Environment, expressions: Expressions
    ) -> None:
        self._statement, self._other = statement, other
        self._outside, self._expressions = outside, expressions
        self._facts = expressions.builder.facts
        self.known: list[Size] = []  # sizes that the graph assumes not to be negative
        self.whole = self._extents()
        self.inside: Box = tuple(
            self._held(item, whole) if isinstance(item, syntax.Range) else whole
            for item, whole in zip(statement.indices, self.whole, strict=True)
        )
        self.known += [index.size for index in self.inside]

    def _extents(self) -> tuple[IndexRange, ...]:
        """Find the full size of each axis: as declared, or from an array that the index alone indexes."""
        found = []
        for axis, item in enumerate(self._statement.indices):
            size = self._declared(axis)
            for root in (self._other, self._statement.value):
                if size is None:
                    size = extent(named(item), (root,), self._outside, self._expressions)
            if size is None:
                name = named(item).name
                hint = (
                    f"use it alone after 'else', as in x[{name}], or declare the type: "
                    f"let {self._statement.name.name}[...]: f64[n] = ..."
                )
                raise ValueProblem(f"can't tell the full size of '{name}'", item.span, hint)
            found.append(IndexRange(named(item).name, 0, self._facts.canonical(size)))
        return tuple(found)

    def _declared(self, axis: int) -> Size | None:
        spec = self._statement.type
        if spec is None:
            return None
        dims = declare(spec, computed=True).dims or ()
        if len(dims) != len(self._statement.indices) or ... in dims:
            hint = "declare one dimension for each index"
            raise ShapeProblem(f"the type {declare(spec, computed=True)} does not match the indices", spec.span, hint)
        assert spec.dims is not None
        return self._expressions.size(spec.dims[axis], self._outside.plain)

    def _held(self, item: syntax.Range, whole: IndexRange) -> IndexRange:
        """Return the range of the first expression, clamped to the whole axis if sizes let it reach beyond."""
        where, facts = given(item, self._outside, self._expressions), self._facts
        if facts.canonical(where.size) == 0:
            return where
        left = whole.stop - where.stop
        is_number = not any(isinstance(e, syntax.Name) for e in within(item.start))
        if (is_number and where.start < 0) or (isinstance(left, int) and left < 0 and isinstance(whole.stop, Dim)):
            hint = "with 'else', a range must be part of the whole axis"
            raise IndexProblem(f"'{where.name}' in {where} goes beyond 0..{whole.stop}", item.span, hint)
        start = where.start if self._guard_room(where.start, where) else 0
        return settled(facts, where.name, start, where.stop if self._guard_room(left, where) else whole.stop)

    def _guard_room(self, room: Size, where: IndexRange) -> bool:
        """Tell whether a range has room on a side. If that can't be proved, a guard is added, and the answer is yes."""
        if follows(room, [where.size]):
            return True
        has_room = guard_reaches(self._facts, room, 0)
        self.known.append(room if has_room else -1 - room)
        return has_room

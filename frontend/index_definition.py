"""`let c[i, j in 1..m] = value else other` in, the array that it defines out.

Where there is an `else`, ranges say where the first expression holds. The whole is put together from pieces along each
axis (before, inside, after), which loops write into its memory, so the inside is as fast as it is without a border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ir.dims import Dim, Size
from ..ir.dtypes import DType
from ..ir.errors import IndexProblem, ShapeProblem, TypeProblem, ValueProblem
from ..ir.graph import Value
from . import syntax
from .arrays import joined
from .declared import declare
from .frame import Frame
from .index_proofs import follows
from .index_ranges import extent, given, named, ranges
from .index_scope import IndexRange, Scope, settled
from .maker import Maker
from .memory import laid_out
from .parts import within
from .shaping import broadcast_to
from .sizes import reaches
from .syntax import Expr
from .weak import Operand, dtype_of, kind_fits, take

if TYPE_CHECKING:
    from .expressions import Expressions

Box = tuple[IndexRange, ...]


def defined(statement: syntax.Definition, frame: Frame, expressions: Expressions) -> Value:
    """The array; a type that the definition declares is checked by who asks for it."""
    maker = Maker(expressions.builder, statement.span)
    outside = replace(frame, scope=Scope(), elements=True)
    if statement.other is None:
        inside = ranges(statement.indices, (statement.value,), outside, expressions)
        found = _value(statement.value, inside, outside, expressions)
        return laid_out(maker, _whole(maker, found, inside, dtype_of(found).strong), "C")
    return laid_out(maker, _Bordered(statement, outside, expressions).array(maker), "C")


def _value(
    expr: Expr, box: Box, outside: Frame, expressions: Expressions, known: tuple[Size, ...] = (), is_rest: bool = False
) -> Operand:
    """What an expression gives for the indices in a box."""
    assert outside.scope is not None
    return expressions.operand(expr, replace(outside, scope=Scope(box, outside.scope.arrays, known, is_rest)))


def _whole(m: Maker, x: Operand, box: Box, dtype: DType) -> Value:
    """The value in a dtype, with every element of a box."""
    return broadcast_to(m, take(m, x, dtype), tuple(index.size for index in box))


class _Bordered:
    """A definition with `else`."""

    def __init__(self, statement: syntax.Definition, outside: Frame, expressions: Expressions) -> None:
        assert statement.other is not None
        self._statement, self._other = statement, statement.other
        self._outside, self._expressions = outside, expressions
        self._facts = expressions.builder.facts
        self._whole = self._extents()
        self._known: list[Size] = []  # what the graph relies on not being negative
        self._inside = tuple(
            self._held(item, whole) if isinstance(item, syntax.Range) else whole
            for item, whole in zip(statement.indices, self._whole, strict=True)
        )
        self._known += [index.size for index in self._inside]

    def array(self, m: Maker) -> Value:
        """The pieces in one dtype, joined along each axis."""
        first = _value(self._statement.value, self._inside, self._outside, self._expressions, tuple(self._known))
        if any(self._facts.canonical(index.size) == 0 for index in self._inside):
            other = self._rest(self._whole)
            return _whole(m, other, self._whole, _common([first, other], self._other))
        borders = [self._borders(axis) for axis in range(len(self._inside))]
        others = {box: self._rest(box) for pair in borders for box in pair if box is not None}
        dtype = _common([first, *others.values()], self._other)
        found = _whole(m, first, self._inside, dtype)
        for axis in reversed(range(len(borders))):
            before, after = ([] if box is None else [_whole(m, others[box], box, dtype)] for box in borders[axis])
            found = joined(m, [*before, found, *after], axis)
        return found

    def _rest(self, box: Box) -> Operand:
        return _value(self._other, box, self._outside, self._expressions, tuple(self._known), is_rest=True)

    def _borders(self, axis: int) -> tuple[Box | None, Box | None]:
        """What lies before and after the range of an axis: of the axes before it, only what is inside."""
        where, whole = self._inside[axis], self._whole[axis]
        parts = (IndexRange(where.name, 0, where.start), IndexRange(where.name, where.stop, whole.stop))
        before, after = (
            None if self._facts.canonical(part.size) == 0
            else (*self._inside[:axis], part, *self._whole[axis + 1 :])
            for part in parts
        )  # fmt: skip
        return before, after

    def _extents(self) -> tuple[IndexRange, ...]:
        """The whole of each axis: as declared, or as the index alone runs along in `else`, or before it."""
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
                raise ValueProblem(f"nothing says how far '{name}' runs in all", item.span, hint)
            found.append(IndexRange(named(item).name, 0, self._facts.canonical(size)))
        return tuple(found)

    def _declared(self, axis: int) -> Size | None:
        spec = self._statement.type
        if spec is None:
            return None
        dims = declare(spec, computed=True).dims or ()
        if len(dims) != len(self._statement.indices) or ... in dims:
            hint = "declare one dimension for each index"
            raise ShapeProblem(f"the type {declare(spec, computed=True)} does not fit the indices", spec.span, hint)
        assert spec.dims is not None
        return self._expressions.size(spec.dims[axis], self._outside.plain)

    def _held(self, item: syntax.Range, whole: IndexRange) -> IndexRange:
        """The range of the first expression, cut to the whole where sizes of a call let it reach beyond."""
        where, facts = given(item, self._outside, self._expressions), self._facts
        if facts.canonical(where.size) == 0:
            return where
        left = whole.stop - where.stop
        is_number = not any(isinstance(e, syntax.Name) for e in within(item.start))
        if (is_number and where.start < 0) or (isinstance(left, int) and left < 0 and isinstance(whole.stop, Dim)):
            hint = "with 'else' a range is a part of the whole"
            raise IndexProblem(f"'{where.name}' in {where} goes beyond 0..{whole.stop}", item.span, hint)
        start = where.start if self._is_held(where.start, where) else 0
        return settled(facts, where.name, start, where.stop if self._is_held(left, where) else whole.stop)

    def _is_held(self, room: Size, where: IndexRange) -> bool:
        """Whether a range has room on a side; what the graph relies on if it can't be shown is known from here on."""
        if follows(room, [where.size]):
            return True
        has_room = reaches(self._facts, room, 0)
        self._known.append(room if has_room else -1 - room)
        return has_room


def _common(values: Sequence[Operand], after: Expr) -> DType:
    """The one dtype of the first value and the others, which are alike; a weak one takes that of the other."""
    left, right = dtype_of(values[0]), dtype_of(values[-1])
    if left.weak and right.weak:
        return (left if kind_fits(right, left) else right).strong
    weak, strong = (left, right) if left.weak else (right, left)
    if left == right or (weak.weak and kind_fits(weak, strong)):
        return strong
    hint = f"convert one of them, as in {strong}(...)"
    raise TypeProblem(f"the elements are {left} in the range and {right} after 'else'", after.span, hint)

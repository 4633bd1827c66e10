"""Join two expressions over indices, the inside and the border, into one array.

The first expression holds where all indices are in their ranges, the second one elsewhere. The array is assembled from
pieces along each axis (before, inside, after), which loops write into its memory, so the inside is as fast as without a
border. The border expression is evaluated only on the border.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.errors import TypeProblem
from ...ir.graph import Value
from ...ir.records import record, replace
from ..language.syntax import Expr
from ..lowering.frame import Environment
from ..maker import Maker
from ..numpy.arrays import joined
from ..numpy.shapes import broadcast_to
from ..weak import Operand, dtype_of, kind_fits, take
from .scope import IndexRange, IndexScope

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions

Box = tuple[IndexRange, ...]


@record
class IndexPieces:
    """An array in pieces. `known` lists sizes that the graph assumes not to be negative."""

    first: Expr
    other: Expr
    whole: Box
    inside: Box
    known: tuple[Size, ...]
    outside: Environment
    expressions: Expressions

    def array(self, m: Maker) -> Value:
        """Convert the pieces to one dtype and join them along each axis."""
        facts = self.expressions.builder.facts
        first = evaluated(self.first, self.inside, self.outside, self.expressions, self.known)
        if any(facts.canonical(index.size) == 0 for index in self.inside):
            other = self._rest(self.whole)
            return filled_out(m, other, self.whole, _common([first, other], self.other))
        borders = [self._borders(axis) for axis in range(len(self.inside))]
        others = {box: self._rest(box) for pair in borders for box in pair if box is not None}
        dtype = _common([first, *others.values()], self.other)
        found = filled_out(m, first, self.inside, dtype)
        for axis in reversed(range(len(borders))):
            before, after = ([] if box is None else [filled_out(m, others[box], box, dtype)] for box in borders[axis])
            found = joined(m, [*before, found, *after], axis)
        return found

    def _rest(self, box: Box) -> Operand:
        return evaluated(self.other, box, self.outside, self.expressions, self.known, is_rest=True)

    def _borders(self, axis: int) -> tuple[Box | None, Box | None]:
        """Evaluate the pieces before and after the range of an axis, within the ranges of the earlier axes."""
        where, whole = self.inside[axis], self.whole[axis]
        parts = (IndexRange(where.name, whole.start, where.start), IndexRange(where.name, where.stop, whole.stop))
        before, after = (
            None if self.expressions.builder.facts.canonical(part.size) == 0
            else (*self.inside[:axis], part, *self.whole[axis + 1 :])
            for part in parts
        )  # fmt: skip
        return before, after


def evaluated(
    expr: Expr,
    box: Box,
    outside: Environment,
    expressions: Expressions,
    known: tuple[Size, ...] = (),
    is_rest: bool = False,
) -> Operand:
    """Evaluate an expression for the indices in a box."""
    assert outside.scope is not None
    return expressions.operand(expr, replace(outside, scope=IndexScope(box, outside.scope.arrays, known, is_rest)))


def filled_out(m: Maker, x: Operand, box: Box, dtype: DType) -> Value:
    """Convert a value to a dtype and broadcast it to a box."""
    return broadcast_to(m, take(m, x, dtype), tuple(index.size for index in box))


def _common(values: Sequence[Operand], after: Expr) -> DType:
    """Find the common dtype of the inside and the border; a weak one takes the other's."""
    left, right = dtype_of(values[0]), dtype_of(values[-1])
    if left.weak and right.weak:
        return (left if kind_fits(right, left) else right).strong
    weak, strong = (left, right) if left.weak else (right, left)
    if left == right or (weak.weak and kind_fits(weak, strong)):
        return strong
    hint = f"convert one of them, as in {strong}(...)"
    raise TypeProblem(f"the elements are {left} in the range and {right} after 'else'", after.span, hint)

"""Keep the indices in scope: their names and ranges, in the order of their axes."""

from __future__ import annotations

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.records import fresh, record, replace
from ..language.syntax import Expr
from ..sizes import guard_at_least


@record
class IndexRange:
    """An index and its range, from `start` to `stop`; `stop` is not less than `start`."""

    name: str
    start: Size
    stop: Size

    def __str__(self) -> str:
        return f"{self.start}..{self.stop}"

    @property
    def size(self) -> Size:
        return self.stop - self.start

    @property
    def surplus(self) -> Size:
        """The length less 1: it is not negative if the range has an element."""
        return self.size - 1

    @property
    def symbol(self) -> Dim:
        """The symbol of the index in formulas."""
        return dims.symbol(f"{dims.LOOP}{self.name}")


def settled(facts: Facts, name: str, start: Size, stop: Size) -> IndexRange:
    """Make a range as written; the graph assumes that its stop is not before its start, or that it is empty."""
    start, stop = facts.canonical(start), facts.canonical(stop)
    if guard_at_least(facts, stop - start, 0):
        return IndexRange(name, start, stop)
    facts.assume_equal(dims.maximum(0, stop - start), 0)
    return IndexRange(name, start, start)


@record
class IndexScope:
    """The indices that an expression may use: those of the definition, then those of surrounding reductions.

    Every value in this scope has an axis for each of them, of size 1 if it does not vary along it, or is a scalar.
    """

    indices: tuple[IndexRange, ...] = ()
    arrays: dict[Expr, Value] = fresh(default_factory=dict)  # the indexed arrays, each lowered once
    known: tuple[Size, ...] = ()  # sizes that the graph assumes not to be negative
    is_rest: bool = False  # whether the ranges are those of `else`
    reduced: int = 0  # how many of the indices belong to reductions

    def find(self, name: str) -> IndexRange | None:
        return next((index for index in self.indices if index.name == name), None)

    def axis(self, name: str) -> int:
        return [index.name for index in self.indices].index(name)

    def inner(self, more: tuple[IndexRange, ...]) -> IndexScope:
        """Make the scope inside a reduction over more indices."""
        return replace(self, indices=(*self.indices, *more), reduced=self.reduced + len(more))

    def shape(self, names: frozenset[str] | set[str]) -> tuple[Size, ...]:
        """Return the shape of a value that depends on just these indices."""
        return tuple(index.size if index.name in names else 1 for index in self.indices)

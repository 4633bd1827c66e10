"""What index notation knows of the indices in sight: their names and ranges, in the order of the axes they make."""

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
    """An index and where it runs: from `start` up to `stop`, which is not before it."""

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
        """At least 0 where the range has an element."""
        return self.size - 1

    @property
    def symbol(self) -> Dim:
        """The index in a formula."""
        return dims.symbol(f"{dims.LOOP}{self.name}")


def settled(facts: Facts, name: str, start: Size, stop: Size) -> IndexRange:
    """A range as it was given; the graph relies on its stop not being before its start, or on the range being empty."""
    start, stop = facts.canonical(start), facts.canonical(stop)
    if guard_at_least(facts, stop - start, 0):
        return IndexRange(name, start, stop)
    facts.assume_equal(dims.maximum(0, stop - start), 0)
    return IndexRange(name, start, start)


@record
class IndexScope:
    """The indices that an expression may use: those of a definition, then those of reductions around it.

    Every value in this scope has an axis for each of them, of size 1 where it is the same along it, or none at all.
    """

    indices: tuple[IndexRange, ...] = ()
    arrays: dict[Expr, Value] = fresh(default_factory=dict)  # what is indexed, made once for all who ask for it
    known: tuple[Size, ...] = ()  # sizes that the graph relies on not being negative
    is_rest: bool = False  # whether the ranges are what `else` is for
    reduced: int = 0  # how many of the indices are those of reductions

    def find(self, name: str) -> IndexRange | None:
        return next((index for index in self.indices if index.name == name), None)

    def axis(self, name: str) -> int:
        return [index.name for index in self.indices].index(name)

    def inner(self, more: tuple[IndexRange, ...]) -> IndexScope:
        """The scope inside of a reduction over further indices."""
        return replace(self, indices=(*self.indices, *more), reduced=self.reduced + len(more))

    def shape(self, names: frozenset[str] | set[str]) -> tuple[Size, ...]:
        """The shape of a value that depends on these indices alone."""
        return tuple(index.size if index.name in names else 1 for index in self.indices)

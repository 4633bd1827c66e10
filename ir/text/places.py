"""Remember the positions of a graph's parts in its text, for messages."""

from __future__ import annotations

from bisect import bisect_right

from ..errors import Span
from ..graph import Graph, Node, Value
from ..schemas import AttributeProblem


class TextLines:
    """A text split into lines."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self._starts: list[int] = []

    def span(self, offset: int, length: int = 1) -> Span:
        """The place at an offset."""
        if not self._starts:
            self._starts = [0, *(k + 1 for k, char in enumerate(self.text) if char == "\n")]
        line = bisect_right(self._starts, offset)
        start, end = self._starts[line - 1], self.text.find("\n", offset)
        return Span(self.file, line, offset - start + 1, length, self.text[start : end if end >= 0 else None])


Extent = tuple[int, int]  # where something begins and how long it is


class Places:
    """The places of a graph's nodes, inputs and attributes in the text that it was read from.

    The top graph itself stands for its `weft.kernel`.
    """

    def __init__(self, lines: TextLines) -> None:
        self._lines = lines
        self._heads: dict[Node | Value | Graph, Extent] = {}
        self._attributes: dict[tuple[Node | Graph, str], tuple[Extent, Extent]] = {}

    def put(self, what: Node | Value | Graph, head: Extent, attributes: dict[str, tuple[Extent, Extent]]) -> None:
        """Records where something begins, and the places of its attributes' names and values."""
        self._heads[what] = head
        self._attributes |= {(what, name): place for name, place in attributes.items() if not isinstance(what, Value)}

    def take_over(self, copy: Graph, original: Graph) -> None:
        """Give the copy of a graph the places of the original."""
        self._heads[copy] = self._heads[original]
        own = {name: place for (what, name), place in self._attributes.items() if what is original}
        self._attributes |= {(copy, name): place for name, place in own.items()}

    def of(self, what: Node | Value | Graph) -> Span | None:
        """Where something begins, if it is in this text."""
        found = self._heads.get(what)
        return None if found is None else self._lines.span(*found)

    def of_problem(self, what: Node | Value | Graph, problem: str | AttributeProblem) -> Span | None:
        """Return the place that a message is about: a node, an input or a graph, or one of its attributes."""
        if isinstance(problem, str) or isinstance(what, Value):
            return self.of(what)
        return self.of_attribute(what, problem)

    def of_attribute(self, what: Node | Graph, problem: AttributeProblem) -> Span | None:
        """The place of an attribute's value or name, or of its owner if the attribute is missing."""
        found = self._attributes.get((what, problem.attribute))
        return self.of(what) if found is None else self._lines.span(*found[0 if problem.is_name else 1])

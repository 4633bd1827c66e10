"""Find how far stencils reach over the ends of a chunk, so that a chunk is computed with a margin of its neighbours.

A stencil is made of slices that leave out a few elements at the ends of an axis (*near* slices), and of concatenations
that put a few elements there again. Both mean the same on a part of the axis, except for some elements at an end where
the part was cut: `lo` of them at the left and `hi` at the right are wrong. A value that is `grown` elements longer than
the axis of the inputs (or shorter, if negative) is right for a whole chunk if the chunk has a margin of `lo` elements
before it and `hi - grown` after it.

A slice of a few elements at one end is an *edge*. It is right in the first or the last chunk only, so it may do nothing
but stand at that end of a concatenation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ...ir.dims import evaluate
from ...ir.errors import Unsupported
from ...ir.graph import Graph, Node, Value
from ...ir.ops import CONCATENATE, SLICE
from ...ir.records import record
from ...ir.types import integer, ints, sizes

LEFT, RIGHT = "left", "right"


class ChunkedAxes(Protocol):
    """What is known of chunked axes: `chunk_axes.ChunkAxes`."""

    graph: Graph
    env: Mapping[str, int]

    def classes(self, value: Value) -> tuple[int | None, ...]: ...

    def reduced(self, node: Node) -> tuple[int, ...]: ...

    def full(self, number: int) -> int:
        """The size of the inputs along the axes of a class."""

    def cut_operands(self, node: Node, axis: int) -> Iterable[tuple[int, int, Value]]:
        """The operands that are cut along an axis of the result: number, axis and value."""


@record
class SliceEnds:
    """How many elements a slice leaves out before and after.

    `edge` is the end from which it takes a few elements, if it does; they are among the first or last `reach`.
    """

    before: int
    after: int
    edge: str | None = None
    reach: int = 0


def slice_ends(node: Node, axis: int, env: Mapping[str, int]) -> SliceEnds | None:
    """What a slice does along an axis; None if it is neither near nor an edge."""
    starts, steps, wanted = sizes(node.attrs, "starts"), ints(node.attrs, "steps"), sizes(node.attrs, "sizes")
    size = evaluate(node.operands[0].type.shape[axis], env)
    start, length = evaluate(starts[axis], env), evaluate(wanted[axis], env)
    if steps[axis] != 1 or (not length and size):
        return None
    before, after = start, size - start - length
    if 2 * length > size or not size:
        return SliceEnds(before, after)
    if 2 * (start + length) <= size:
        return SliceEnds(before, after, LEFT, start + length)
    return SliceEnds(before, after, RIGHT, size - start) if 2 * start >= size else None


def main_part(node: Node, env: Mapping[str, int]) -> int | None:
    """The operand of a concatenation that has most of its result; the others are at its ends."""
    axis = integer(node.attrs, "axis") % node.result.type.rank
    sizes = [evaluate(v.type.shape[axis], env) for v in node.operands]
    most = max(range(len(sizes)), key=lambda k: sizes[k])
    return most if 2 * sizes[most] > sum(sizes) else None


@record
class Margin:
    """What is wrong at the ends of a value that was computed for a part of an axis, and how much longer it is."""

    lo: int = 0
    hi: int = 0
    grown: int = 0

    @property
    def before(self) -> int:
        return self.lo

    @property
    def after(self) -> int:
        return max(0, self.hi - self.grown)


NO_MARGIN = Margin()


def moved_margin(node: Node, axis: int, operand: int, margin: Margin, env: Mapping[str, int]) -> Margin:
    """The margin of a result along an axis, from that of an operand."""
    if node.op is SLICE:
        ends = slice_ends(node, axis, env)
        assert ends is not None
        lo, hi = max(0, margin.lo - ends.before), max(0, margin.hi - ends.after)
        return Margin(lo, hi, margin.grown - ends.before - ends.after)
    if node.op is CONCATENATE and axis == integer(node.attrs, "axis") % node.result.type.rank:
        sizes = [evaluate(v.type.shape[axis], env) for v in node.operands]
        before, after = sum(sizes[:operand]), sum(sizes[operand + 1 :])
        return Margin(before + margin.lo, after + margin.hi, margin.grown + before + after)
    return margin


class Overlaps:
    """The margins of all values of a flat graph along their chunked axes.

    `needed` has the least number of elements that chunks must have, for each class of axes.
    """

    def __init__(self, axes: ChunkedAxes) -> None:
        self.axes, self.needed = axes, dict[int, int]()
        self._margins: dict[tuple[Value, int], Margin] = {}
        self._edges: dict[Value, dict[tuple[int, str], Node]] = {}
        for node in axes.graph:
            self._edges[node.results[0]] = self._edges_of(node)
            for result in node.results:
                self._edges[result] = self._edges[node.results[0]]
                for axis, number in enumerate(axes.classes(result)):
                    if number is not None:
                        self._margins[result, axis] = self._margin_of(node, result, axis, number)
        crossing = [n.operands[0] for n in axes.graph if axes.reduced(n)]
        for value in (*axes.graph.outputs, *crossing):
            for (_, end), node in self._edges.get(value, {}).items():
                raise Unsupported(
                    f"'slice' takes elements from the {end} end of an axis that is cut into chunks, for use elsewhere",
                    node.span,
                    "take them outside the kernel, and pass them as an argument",
                )

    def margin(self, value: Value, axis: int) -> Margin:
        """The margin of a value along a chunked axis."""
        return self._margins.get((value, axis), NO_MARGIN)

    def _margin_of(self, node: Node, result: Value, axis: int, number: int) -> Margin:
        grown = evaluate(result.type.shape[axis], self.axes.env) - self.axes.full(number)
        if self.axes.reduced(node):
            return Margin(0, 0, grown)
        found = [
            moved_margin(node, axis, k, self.margin(operand, a), self.axes.env)
            for k, a, operand in self.axes.cut_operands(node, axis)
        ]
        return Margin(max((m.lo for m in found), default=0), max((m.hi for m in found), default=0), grown)

    def _edges_of(self, node: Node) -> dict[tuple[int, str], Node]:
        """The ends of chunked axes from which a value takes elements, and the slices that took them."""
        found = dict[tuple[int, str], Node]()
        for k, operand in enumerate(node.operands):
            edges = dict(self._edges.get(operand, {}))
            if node.op is CONCATENATE:
                axis, main = integer(node.attrs, "axis") % node.result.type.rank, main_part(node, self.axes.env)
                number = self.axes.classes(node.result)[axis]
                if main is not None and number is not None and k != main:
                    edges.pop((number, LEFT if k < main else RIGHT), None)
            found |= edges
        if node.op is SLICE:
            for axis, number in enumerate(self.axes.classes(node.operands[0])):
                ends = slice_ends(node, axis, self.axes.env)
                if number is not None and ends is not None and ends.edge is not None:
                    found[number, ends.edge] = node
                    margin = self.margin(node.operands[0], axis)
                    self.need(number, ends.reach + margin.lo + margin.hi)
        return found

    def need(self, number: int, length: int) -> None:
        """Note how long the chunks of a class must be."""
        self.needed[number] = max(self.needed.get(number, 0), length)

"""Find which axes of a graph's values are cut into chunks, and which of them must be cut at the same places.

`links` says for each operand of a node which axis of the result each of its axes becomes. Linked axes share one class,
so an axis is chunked if any axis of its class is that of a chunked input. An axis that an op can't treat chunk by chunk
has no link; if such an axis is chunked, the op can't be split, and `ChunkAxes` raises `Unsupported` at its line. The
few elements at an end of a stencil (`chunk_overlap.py`) have a link, but are in no class: they are not cut.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...ir.dims import evaluate
from ...ir.errors import Unsupported
from ...ir.graph import Graph, Node, Value
from ...ir.ops import BROADCAST, CONCATENATE, EACH, GATHER, IOTA, MATMUL, RESHAPE, SCAN, SLICE, TRANSPOSE, Trait
from ...ir.types import integer, ints
from .chunk_overlap import Overlaps, main_part, slice_ends

Links = tuple[tuple[int | None, ...], ...]


def links(node: Node, env: Mapping[str, int]) -> Links:
    """For each operand and each of its axes, the axis of the result that it becomes; None if there is none."""
    rank, shapes = node.results[0].type.rank, [v.type.shape for v in node.operands]
    if Trait.REDUCTION in node.op.traits:
        return (_kept(node),)
    if Trait.ELEMENTWISE in node.op.traits or node.op in (EACH, BROADCAST):
        return tuple(_from_right(len(s), rank) for s in shapes)
    if node.op is TRANSPOSE:
        order = ints(node.attrs, "order")
        return (tuple(order.index(a) for a in range(rank)),)
    if node.op is RESHAPE:
        return (_reshaped(node),)
    if node.op is SLICE:
        return (tuple(None if slice_ends(node, a, env) is None else a for a in range(rank)),)
    if node.op is CONCATENATE and main_part(node, env) is not None:
        return tuple(tuple(range(rank)) for _ in shapes)
    if node.op in (CONCATENATE, SCAN):
        axis = integer(node.attrs, "axis") % rank
        return tuple(tuple(None if a == axis else a for a in range(rank)) for _ in shapes)
    if node.op is MATMUL:
        left, right = (_from_right(len(s), rank) for s in shapes)
        return (*left[:-1], None), (*right[:-2], None, right[-1])
    if node.op is GATHER:
        return _gathered(node)
    return tuple((None,) * len(s) for s in shapes)


def _from_right(count: int, rank: int) -> tuple[int | None, ...]:
    return tuple(range(rank - count, rank))


def _kept(node: Node) -> tuple[int | None, ...]:
    axes, rank = ints(node.attrs, "axes"), node.operands[0].type.rank
    if node.attrs.get("keepdims"):
        return tuple(None if a in axes else a for a in range(rank))
    kept = [a for a in range(rank) if a not in axes]
    return tuple(None if a in axes else kept.index(a) for a in range(rank))


def _reshaped(node: Node) -> tuple[int | None, ...]:
    """Axes that stay as they are: they have the same size, and as many elements before them."""
    before, after = node.operands[0].type.shape, node.result.type.shape
    found: list[int | None] = []
    start = 0
    for axis, size in enumerate(before):
        ahead = [s for s in before[:axis] if s != 1]
        place = next(
            (k for k in range(start, len(after)) if after[k] == size and [s for s in after[:k] if s != 1] == ahead),
            None,
        )
        if size == 1 or place is None:
            found.append(None)
        else:
            found.append(place)
            start = place + 1
    return tuple(found)


def _gathered(node: Node) -> Links:
    axes, (table, *indices) = ints(node.attrs, "axes"), node.operands
    width = max(v.type.rank for v in indices)
    moved = width - len(axes)
    first = tuple(a if a < axes[0] else None if a in axes else a + moved for a in range(table.type.rank))
    others = (tuple(axes[0] + width - v.type.rank + a for a in range(v.type.rank)) for v in indices)
    return (first, *others)


def is_edge(node: Node, operand: int, axis: int, env: Mapping[str, int]) -> bool:
    """Whether an axis of an operand is linked to a result but not cut in the same way: at an end of a stencil."""
    if node.op is SLICE:
        ends = slice_ends(node, axis, env)
        return ends is not None and ends.edge is not None
    if node.op is not CONCATENATE or axis != integer(node.attrs, "axis") % node.result.type.rank:
        return False
    return operand != main_part(node, env)


class ChunkAxes:
    """The chunked axes of a flat graph; `chunked` names those of its inputs, `env` has all sizes."""

    def __init__(self, graph: Graph, chunked: Sequence[Collection[int]], env: Mapping[str, int]) -> None:
        self.graph, self.env = graph, env
        self._parents: dict[tuple[Value, int], tuple[Value, int]] = {}
        for node in graph:
            for number, (operand, row) in enumerate(zip(node.operands, links(node, env), strict=True)):
                for axis, link in enumerate(row):
                    if link is None or operand.type.shape[axis] == 1 or is_edge(node, number, axis, env):
                        continue
                    for result in node.results:
                        if link < result.type.rank:
                            self._join((operand, axis), (result, link))
        roots = [self._root((v, a)) for v, axes in zip(graph.inputs, chunked, strict=True) for a in sorted(axes)]
        self._numbers = {root: k for k, root in enumerate(dict.fromkeys(roots))}
        self.members: tuple[tuple[tuple[int, int], ...], ...] = tuple(
            tuple(
                (k, a)
                for k, v in enumerate(graph.inputs)
                for a in range(v.type.rank)
                if v.type.shape[a] != 1 and self._root((v, a)) == root
            )
            for root in self._numbers
        )
        self._check()
        self.overlaps = Overlaps(self)

    def full(self, number: int) -> int:
        """The size of the inputs along the axes of a class."""
        k, axis = self.members[number][0]
        return evaluate(self.graph.inputs[k].type.shape[axis], self.env)

    def cut_operands(self, node: Node, axis: int) -> list[tuple[int, int, Value]]:
        """The operands that are cut along an axis of the result: number, axis and value."""
        return [
            (k, a, operand)
            for k, (operand, row) in enumerate(zip(node.operands, links(node, self.env), strict=True))
            for a, (link, number) in enumerate(zip(row, self.classes(operand), strict=True))
            if link == axis and number is not None and not is_edge(node, k, a, self.env)
        ]

    def classes(self, value: Value) -> tuple[int | None, ...]:
        """For each axis the number of its class, or None if it is whole."""
        shape = value.type.shape
        return tuple(None if s == 1 else self._numbers.get(self._root((value, a))) for a, s in enumerate(shape))

    def reduced(self, node: Node) -> tuple[int, ...]:
        """The chunked axes over which a reduction goes."""
        if Trait.REDUCTION not in node.op.traits:
            return ()
        classes = self.classes(node.operands[0])
        return tuple(a for a in ints(node.attrs, "axes") if classes[a] is not None)

    def _root(self, place: tuple[Value, int]) -> tuple[Value, int]:
        while (parent := self._parents.get(place, place)) != place:
            place = parent
        return place

    def _join(self, a: tuple[Value, int], b: tuple[Value, int]) -> None:
        a, b = self._root(a), self._root(b)
        if a != b:
            self._parents[b] = a

    def _check(self) -> None:
        for members in self.members:
            sizes = {evaluate(self.graph.inputs[k].type.shape[a], self.env) for k, a in members}
            if len(sizes) > 1:
                k, a = members[0]
                raise Unsupported(
                    f"axes of {' and '.join(map(str, sorted(sizes)))} elements can't be cut into the same chunks",
                    hint=f"make it one chunk with {self.graph.inputs[k].name}.rechunk({{{a}: -1}})",
                )
        for node in self.graph:
            rows = links(node, self.env)
            if Trait.REDUCTION not in node.op.traits:
                for operand, row in zip(node.operands, rows, strict=True):
                    for axis, (number, link) in enumerate(zip(self.classes(operand), row, strict=True)):
                        if number is not None and link is None:
                            raise self._unsplit(node, number, f"axis {axis} of its operand is")
            if Trait.ELEMENTWISE in node.op.traits or node.op in (IOTA, EACH, BROADCAST):
                continue
            linked = {link for row in rows for link in row}
            for result in node.results:
                for axis, number in enumerate(self.classes(result)):
                    if number is not None and axis not in linked:
                        raise self._unsplit(node, number, f"axis {axis} of its result meets one that is")

    def _unsplit(self, node: Node, number: int, what: str) -> Unsupported:
        k, axis = self.members[number][0]
        name, op = self.graph.inputs[k].name or f"argument {k}", node.attrs.get("function", node.op.name)
        return Unsupported(
            f"'{op}' can't be split over chunks: {what} cut into chunks",
            node.span,
            f"make it one chunk with {name}.rechunk({{{axis}: -1}}), or let dask do '{op}' outside the kernel",
        )

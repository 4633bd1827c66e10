"""Find the guards under which no view of a graph reads out of bounds and no size is negative.

Front ends prove this when they build a graph; text from outside comes without proofs. What can't be proved from the
sizes becomes a guard, so calls that break it are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import dims
from ..affine import steps_of
from ..dims import Size
from ..facts import Facts
from ..graph import Graph, Node, graph_guards
from ..ops import ACCESS, DIAGONAL, SLICE
from ..rewrite import facts_of
from ..types import Guards, Sizes, ints, sizes

Range = tuple[Size, Size, Size]  # the first index that is read along an axis, the last one, and the axis' size


def with_bounds(graph: Graph) -> Graph:
    """The graph with the guards that its views and sizes need."""
    return with_guards(graph, dict.fromkeys(_needed(graph, facts_of(graph))))


def with_guards(graph: Graph, needed: Iterable[tuple[Size, Size]]) -> Graph:
    """The graph with more guards."""
    known = set(graph_guards(graph))
    added = [g for g in needed if g not in known and g[0] != g[1]]
    if not added:
        return graph
    attrs = {**graph.attrs, "guards": Guards((*graph_guards(graph), *added))}
    return Graph(graph.name, graph.inputs, graph.nodes, graph.outputs, attrs)


def _needed(graph: Graph, facts: Facts) -> Iterator[tuple[Size, Size]]:
    """The guards that a graph and the bodies in it need."""
    for value in (*graph.inputs, *(r for n in graph for r in n.results)):
        for size in map(facts.canonical, value.type.shape):
            yield from _holds(1, size, facts)
    for node in graph:
        for attr in node.attrs.values():
            if isinstance(attr, Sizes) and node.op not in (SLICE, ACCESS, DIAGONAL):
                for size in attr:
                    yield from _holds(1, size, facts)
        count = dims.minimum(1, dims.product(map(facts.canonical, node.results[0].type.shape))) if node.results else 1
        for first, last, size in _read(node):
            yield from _holds(count, first, facts)
            yield from _holds(count, size - 1 - last, facts)
        if node.body is not None:
            yield from _needed(node.body, facts)


def _holds(count: Size, size: Size, facts: Facts) -> Iterator[tuple[Size, Size]]:
    """The guard that a size is not negative, unless nothing is read."""
    size = facts.canonical(size)
    missing = dims.maximum(0, -size if isinstance(size, int) else 0 - size)
    if isinstance(missing, int) and (missing == 0 or isinstance(count, int)):
        if missing:
            yield (0, missing)  # never holds
        return
    wanted = missing * count
    if wanted != 0:
        yield (wanted, 0)


def _read(node: Node) -> Iterator[Range]:
    """The range that a view reads along each axis of its operand."""
    if node.op not in (SLICE, DIAGONAL, ACCESS):
        return
    shape = node.operands[0].type.shape
    if node.op is SLICE:
        plan = zip(
            sizes(node.attrs, "starts"), ints(node.attrs, "steps"), sizes(node.attrs, "sizes"), shape, strict=True
        )
        for start, step, count, size in plan:
            last = start + step * (count - 1)
            yield (start, last, size) if step > 0 else (last, start, size)
    elif node.op is DIAGONAL:
        (count,) = sizes(node.attrs, "size")
        for axis, start in zip(ints(node.attrs, "axes"), sizes(node.attrs, "starts"), strict=True):
            yield start, start + count - 1, shape[axis]
    else:
        for axis, (start, size) in enumerate(zip(sizes(node.attrs, "starts"), shape, strict=True)):
            low, high = start, start
            for along, extent in zip(steps_of(node.attrs, axis), sizes(node.attrs, "shape"), strict=True):
                way = along * (extent - 1)
                if way != 0:
                    low, high = low + dims.minimum(0, way), high + dims.maximum(0, way)
            yield low, high, size

"""Walk a graph with the bodies of its loops: nodes, graphs and loop nests."""

from __future__ import annotations

from collections.abc import Iterator

from .graph import Graph, Node
from .ops import LOOP, REGION
from .types import integer


def carried(node: Node) -> int:
    """How many values a loop carries from step to step."""
    return integer(node.attrs, "carried")


def body_of(node: Node) -> Graph:
    assert node.body is not None
    return node.body


def walk(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph in order; the nodes in a loop's body come before the loop."""
    for node in graph:
        if node.op is LOOP:
            yield from walk(body_of(node))
        yield node


def nodes_inside(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph in the order of its text, each before the nodes of its body."""
    for node in graph:
        yield node
        if node.body is not None:
            yield from nodes_inside(node.body)


def graphs(graph: Graph) -> Iterator[Graph]:
    """A graph and the bodies of its loops."""
    yield graph
    for node in graph:
        if node.op is LOOP:
            yield from graphs(body_of(node))


def regions(graph: Graph) -> list[Node]:
    """All loop nests of a graph."""
    return [n for n in walk(graph) if n.op is REGION]

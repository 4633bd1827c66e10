"""Collect the equalities and bounds between sizes that a graph relies on."""

from __future__ import annotations

from .dims import Size
from .graph import Graph
from .notation import parse_size


def parse_guards(graph: Graph) -> list[tuple[Size, Size]]:
    """The equalities between sizes under which the graph is valid."""
    texts = graph.attrs.get("guards", ())
    assert isinstance(texts, tuple)
    pairs = (str(t).split(" == ") for t in texts)
    return [(parse_size(a), parse_size(b)) for a, b in pairs]

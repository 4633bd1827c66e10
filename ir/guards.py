"""A graph in, the equalities between sizes that it relies on out."""

from __future__ import annotations

from . import dims
from .dims import Size
from .graph import Graph


def parse_guards(graph: Graph) -> list[tuple[Size, Size]]:
    """The equalities between sizes under which the graph is valid."""
    texts = graph.attrs.get("guards", ())
    assert isinstance(texts, tuple)
    pairs = (str(t).split(" == ") for t in texts)
    return [(dims.parse(a), dims.parse(b)) for a, b in pairs]

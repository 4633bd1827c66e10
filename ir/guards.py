"""Collect the equalities and bounds between sizes that a graph relies on."""

from __future__ import annotations

from .graph import Graph
from .types import Guards


def graph_guards(graph: Graph) -> Guards:
    """The equalities under which the graph is valid."""
    found = graph.attrs.get("guards", Guards())
    assert isinstance(found, Guards)
    return found

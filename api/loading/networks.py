"""Compile a networkx graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.graph import Graph
from ..ir.networks import from_networkx
from ..ir.text.printer import print_graph
from ..ir.walking import regions
from ..runtime.compiler import Options
from ..runtime.kernel import Kernel
from ..settings import registry
from .printed import pass_names, printed_kernel

FILE = "<networkx>"
CHOSEN = "choose-forms"


def network_kernel(network: Any, name: str | None, options: Options) -> Kernel:
    """Make a kernel from a networkx graph.

    It goes through the text form, so it gets the same checks as outside text.
    """
    graph = from_networkx(network, registry.table)
    if name is not None:
        graph = Graph(name, graph.inputs, graph.nodes, graph.outputs, graph.attrs)
    after = network.graph.get("after") or _reached(graph, pass_names(options))
    return printed_kernel(print_graph(graph, locations=True, after=after), FILE, options)


def _reached(graph: Graph, passes: Sequence[str]) -> str | None:
    """Guess the last pass of a graph that does not name it: none if it has no regions, else from their attributes."""
    found = regions(graph)
    return (passes[-1] if any(r.code is not None for r in found) else CHOSEN) if found else None

"""Compile a graph that networkx holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .ir.graph import Graph
from .ir.networks import from_networkx
from .ir.printer import print_graph
from .ir.walking import regions
from .printed import pass_names, printed_kernel
from .runtime.compiler import Options
from .runtime.kernel import Kernel
from .settings import registry

FILE = "<networkx>"


def network_kernel(network: Any, name: str | None, options: Options) -> Kernel:
    """The kernel of a graph. It is compiled by way of its text, so it is checked as text from outside is."""
    graph = from_networkx(network, registry.table)
    if name is not None:
        graph = Graph(name, graph.inputs, graph.nodes, graph.outputs, graph.attrs)
    after = network.graph.get("after") or _reached(graph, pass_names(options))
    return printed_kernel(print_graph(graph, locations=True, after=after), FILE, options)


def _reached(graph: Graph, passes: Sequence[str]) -> str | None:
    """The pass after which a graph is one that does not say it: the last where it has loop nests, else none."""
    return passes[-1] if regions(graph) else None

"""`drop-dead`: remove operations that no output needs.

Before:

    %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()

After:

    %0 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()

Needs nothing. Guarantees that every operation leads to an output, makes a size that one needs, or is a NumPy function
that must run because the trace may have read its result, and because NumPy would raise its errors. Inputs and
guards stay, they belong to the call.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.flow import map_bodies
from ..ir.graph import Graph
from ..ir.records import record
from ..ir.rewrite import Rewriter
from .planning.sizes import size_makers, used_symbols


@record
class DropDead:
    """Keeps what the outputs need."""

    name: ClassVar[str] = "drop-dead"

    def run(self, graph: Graph) -> Graph:
        graph = map_bodies(graph, self.run)
        needed = {v.node for v in graph.outputs if v.node is not None}
        needed.update(node for node in graph if "from_data" in node.attrs)
        makers = {symbol: value.node for symbol, value in size_makers(graph).items() if value.node is not None}
        for node in reversed(graph.nodes):
            if node in needed:
                needed.update(v.node for v in node.operands if v.node is not None)
                if makers:
                    needed.update(makers[s] for s in used_symbols(node) & makers.keys() if makers[s] is not node)
        if len(needed) == len(graph):
            return graph
        rewriter = Rewriter(graph)
        for node in graph:
            if node in needed:
                rewriter.copy(node)
        return rewriter.finish()

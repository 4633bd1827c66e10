"""`share-functions`: mathematical functions that a nest uses often become functions of its code.

Before:

    "nest.kernel"() ({ ... "weft.sin"(%3) ... fifteen more ... }) {sym_name = "waves"} : () -> ()

After:

    "nest.kernel"() ({ ... }) {sym_name = "waves", called = ["sin"]} : () -> ()

The code of a function that is called is emitted once, so compile time does not grow with the number of its uses.
`choose-forms` does the same for regions. Guarantees the same bits.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph
from ..ir.records import record
from .planning.called import called_functions


@record
class ShareFunctions:
    """Names the functions to call."""

    name: ClassVar[str] = "share-functions"

    def run(self, graph: Graph) -> Graph:
        called = called_functions(graph)
        if not called or "called" in graph.attrs:
            return graph
        return Graph(graph.name, graph.inputs, graph.nodes, graph.outputs, {**graph.attrs, "called": called})

"""`lower-assigns`: assignments of whole arrays become loops over their elements.

Before:

    "nest.assign"(%a, %b) ({
    ^bb0(%x : tensor<?xf64, #weft.dims<n>>):
      %0 = "weft.constant"() {value = 2.0 : f64, dtype = f64} : () -> tensor<f64>
      %1 = "weft.mul"(%x, %0) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
      "nest.yield"(%1) : (tensor<?xf64, #weft.dims<n>>) -> ()
    }) {writes = 1 : i64} : (memref<?xf64, #weft.dims<n>>, memref<?xf64, #weft.dims<n>>) -> ()

After:

    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f64} : () -> tensor<f64>
    "nest.for"() ({
      %1 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %2 = "weft.mul"(%1, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "nest.store"(%2, %b) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector", width = 8 : i64, times = 4 : i64} : () -> ()

The graph goes through the passes of any other graph, up to `schedule`; each region becomes loops (`nests/regions.py`).
What one region hands to the next is in memory of the call, allocated in its largest size. Where a region writes memory
that the assignment reads, the loops run in an order in which nothing is overwritten too early, or the result goes to
memory of its own and is copied (`nests/overlap.py`).

Needs assignments inside serial loops only. Guarantees that none is left. A graph that has no loops is `Unsupported`.
Guards of an assignment become guards of the nest, or checks where they depend on loop variables.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph
from ..ir.kernels import KernelLookup
from ..ir.nest.ops import ASSIGN
from ..ir.nest.scopes import places, variables
from ..ir.records import record
from ..ir.types import Guards
from .nests.assignments import NestContext
from .nests.rewriting import NestRewriter
from .nests.writing import Names


@record
class LowerAssigns:
    """Makes loops of assignments. `vector_bytes` is the size of the machine's vectors."""

    source: KernelLookup
    vector_bytes: int = 64
    name: ClassVar[str] = "lower-assigns"

    def run(self, graph: Graph) -> Graph:
        nodes = [place.node for place in places(graph)]
        if not any(n.op is ASSIGN for n in nodes):
            return graph
        taken = [v.name for n in nodes for v in variables(n)]
        context = NestContext(graph, Names(taken), self.source, self.vector_bytes)
        made = NestRewriter(context.visit).run(graph)
        guards = graph.attrs.get("guards", Guards())
        assert isinstance(guards, Guards)
        if not context.guards:
            return made
        attrs = {**graph.attrs, "guards": Guards(dict.fromkeys((*guards, *context.guards)))}
        return Graph(graph.name, graph.inputs, made.nodes, graph.outputs, attrs)

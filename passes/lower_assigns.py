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
What regions hand on is in memory of the call, with the sizes that it has at most. Where a region writes memory that the
assignment reads, the loops run in an order in which nothing is overwritten too early, or the result goes to memory of
its own and is copied (`nests/overlap.py`).

Needs assignments inside serial loops only. Guarantees that none is left. A graph that has no loops is `Unsupported`.
Guards of an assignment become guards of the nest, or checks where they depend on loop variables.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph, Node, Value
from ..ir.kernels import KernelLookup
from ..ir.nest.ops import ASSIGN
from ..ir.nest.scopes import places, variables
from ..ir.records import record
from ..ir.types import Guards
from .nests.assignments import AssignmentLowering, NestContext
from .nests.writing import Block, Names


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
        body = _Copier(context).body(graph, (), Block(None))
        guards = graph.attrs.get("guards", Guards())
        assert isinstance(guards, Guards)
        attrs = dict(graph.attrs)
        if context.guards:
            attrs["guards"] = Guards(dict.fromkeys((*guards, *context.guards)))
        return Graph(graph.name, graph.inputs, (*context.allocations, *body.nodes), graph.outputs, attrs)


class _Copier:
    """Copies a nest, with loops in place of assignments."""

    def __init__(self, context: NestContext) -> None:
        self.context = context
        self.values: dict[Value, Value] = {}

    def body(self, graph: Graph, around: tuple[Node, ...], block: Block) -> Block:
        for node in graph:
            self.node(node, around, block)
        return block

    def node(self, node: Node, around: tuple[Node, ...], block: Block) -> None:
        operands = tuple(self.values.get(v, v) for v in node.operands)
        if node.op is ASSIGN:
            results = AssignmentLowering(self.context, node, operands, around).run(block)
            self.values.update(zip(node.results, results, strict=True))
            return
        body = node.body
        if body is not None:
            inner = self.body(body, (*around, node), Block(block))
            body = Graph(body.name, body.inputs, tuple(inner.nodes), tuple(self.values.get(v, v) for v in body.outputs))
        copy = Node(node.op, operands, node.attrs, tuple(r.type for r in node.results), node.span, body)
        for old, new in zip(node.results, copy.results, strict=True):
            new.name = old.name
            self.values[old] = new
        block.nodes.append(copy)

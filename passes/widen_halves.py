"""`widen-halves`: arithmetic on 16-bit floats is done in f32, each result rounded once.

Before:

    %0 = "weft.add"(%x, %y) : (tensor<?xf16, #weft.dims<n>>, tensor<?xf16, #weft.dims<n>>) -> ...

After:

    %0 = "weft.cast"(%x) {to = f32} : ...
    %1 = "weft.cast"(%y) {to = f32} : ...
    %2 = "weft.add"(%0, %1) : ...
    %3 = "weft.cast"(%2) {to = f16} : ...

Needs explicit casts and chosen kernels. Guarantees that f16 and bf16 are only moved, converted and looked at bit by
bit. This is how NumPy computes with them; a sum is rounded at its end only, a running sum at every step.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.dtypes import BF16, F16, F32
from ..ir.flow import map_bodies
from ..ir.graph import Graph, Node, Value
from ..ir.ops import CAST, CONCATENATE, CONSTANT, DECLARED, GATHER, SCAN, TABLE, WHERE, Trait
from ..ir.records import record
from ..ir.rewrite import Rewriter

HALVES = frozenset((F16, BF16))
# These move elements, or step along the numbers of the dtype itself; a scan rounds every running value.
KEPT = frozenset(
    (
        CAST,
        WHERE,
        CONCATENATE,
        GATHER,
        SCAN,
        CONSTANT,
        *DECLARED,
        *(TABLE[n] for n in ("nextafter", "spacing") if n in TABLE),
    )
)


@record
class WidenHalves:
    """Puts casts around operations on f16 and bf16."""

    name: ClassVar[str] = "widen-halves"

    def run(self, graph: Graph) -> Graph:
        graph = map_bodies(graph, self.run)
        if not any(v.type.dtype in HALVES for n in graph for v in (*n.operands, *n.results)):
            return graph
        widener = _Widener(graph)
        for node in graph:
            widener.node(node)
        return widener.finish()


class _Widener(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.wide: dict[Value, Value] = {}

    def node(self, node: Node) -> None:
        if node.op in KEPT or Trait.VIEW in node.op.traits:
            self.copy(node)
            return
        operands = [self.widened(v) for v in node.operands]
        made = self.builder.node(node.op, operands, node.attrs, node.span)
        for old, new in zip(node.results, made.results, strict=True):
            to = old.type.dtype
            self.replace(old, self.builder.op(CAST, new, span=node.span, to=to) if to in HALVES else new)

    def widened(self, value: Value) -> Value:
        if value.type.dtype not in HALVES:
            return self.get(value)
        if value not in self.wide:
            node = value.node
            if node is not None and node.op is CONSTANT:
                self.wide[value] = self.builder.op(CONSTANT, span=node.span, value=node.attrs["value"], dtype=F32)
            else:
                self.wide[value] = self.builder.op(CAST, self.get(value), span=node.span if node else None, to=F32)
        return self.wide[value]

"""`merge-duplicates`: compute equal operations only once.

Before:

    %0 = "weft.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "weft.add"(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = "weft.mul"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

After:

    %0 = "weft.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "weft.mul"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

Needs nothing. Guarantees that no two operations have the same op, operands (in either order if it is commutative) and
attributes; 0.0 and -0.0, and NaNs with different bits, are different attributes. Barriers and
operations with bodies are never merged.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable
from typing import ClassVar

from ..ir.flow import map_bodies
from ..ir.graph import Graph, Node, Value
from ..ir.opdef import commutes
from ..ir.ops import Trait
from ..ir.records import record
from ..ir.rewrite import Rewriter
from ..ir.types import Attr


@record
class MergeDuplicates:
    """Keeps the first of equal operations."""

    name: ClassVar[str] = "merge-duplicates"

    def run(self, graph: Graph) -> Graph:
        graph = map_bodies(graph, self.run)
        first: dict[Hashable, Node] = {}
        stands_for: dict[Value, Value] = {v: v for v in graph.inputs}
        kept: list[Node] = []
        for node in graph:
            found = first.setdefault(_key(node, stands_for), node)
            if found is node:
                kept.append(node)
            stands_for.update(zip(node.results, found.results, strict=True))
        if len(kept) == len(graph):
            return graph
        rewriter = Rewriter(graph)
        for node in kept:
            rewriter.copy(node, [rewriter.get(stands_for[v]) for v in node.operands])
        for value in graph.outputs:
            rewriter.replace(value, rewriter.get(stands_for[value]))
        return rewriter.finish()


def _key(node: Node, stands_for: dict[Value, Value]) -> Hashable:
    if Trait.BARRIER in node.op.traits or node.body is not None:
        return node
    operands = [id(stands_for[v]) for v in node.operands]
    if commutes(node.op, [v.type.dtype for v in node.operands]):
        operands.sort()
    attrs = frozenset((name, exact(attr)) for name, attr in node.attrs.items()) if node.attrs else None
    return node.op, tuple(operands), attrs


def exact(attr: Attr) -> Hashable:
    """A key for attributes: equal if they are the same to the bit and of the same kind."""
    if isinstance(attr, float):
        return struct.pack("<d", attr)
    if isinstance(attr, complex):
        return struct.pack("<dd", attr.real, attr.imag)
    return type(attr), attr

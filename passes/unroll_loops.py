"""`unroll-loops`: a short loop that carries numbers through a fixed number of steps is written out.

Before:

    %1 = "nest.for"(%0) ({
    ^bb0(%carried : tensor<i64>):
      ...
      "nest.yield"(%2) : (tensor<i64>) -> ()
    }) {var = "k", range = #weft.dims<0, 8>, kind = "serial"} : (tensor<i64>) -> tensor<i64>

After:

    %1 = "nest.for"(%0) ({ ... }) {var = "k", range = #weft.dims<0, 8>, kind = "unrolled"}
      : (tensor<i64>) -> tensor<i64>

Each step waits for the numbers of the one before, and counting steps and jumping back would add to that. Loops with
other loops inside stay as they are, and so do loops inside vector loops, whose steps are wide already.

Needs nests without assignments; `place-asks` comes later, because such a loop needs no check for Ctrl-C. Guarantees the
same bits.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph, Node
from ..ir.nest import ops
from ..ir.nest.scopes import inside, places
from ..ir.records import record
from ..ir.types import sizes
from .nests.rewriting import Around, NestRewriter
from .nests.writing import NestBlock

MOST_STEPS = 8
MOST_OPS = 400  # in all steps together


@record
class UnrollLoops:
    """Marks loops as unrolled."""

    name: ClassVar[str] = "unroll-loops"

    def run(self, graph: Graph) -> Graph:
        wanted = {p.node for p in places(graph) if _is_short(p.node) and all(_is_plain(n) for n in p.around)}
        if not wanted:
            return graph

        def visit(rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
            rewriter.copy(node, around, block, {**node.attrs, "kind": "unrolled"} if node in wanted else None)

        return NestRewriter(visit).run(graph)


def _is_short(node: Node) -> bool:
    """Whether a loop carries numbers through a few steps with no other loop inside."""
    if node.op is not ops.FOR or not node.operands or not _is_plain(node):
        return False
    first, end = sizes(node.attrs, "range")
    if not isinstance(first, int) or not isinstance(end, int) or not 1 < end - first <= MOST_STEPS:
        return False
    parts = list(inside(node))
    return len(parts) * (end - first) <= MOST_OPS and not any(n.op in ops.LOOPS or n.op is ops.ASK for n in parts)


def _is_plain(node: Node) -> bool:
    return node.attrs.get("kind", "serial") == "serial" and not node.attrs.get("shared")

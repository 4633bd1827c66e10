"""`place-asks`: loops that may run for long get a place where Ctrl-C is noticed.

Before:

    "nest.for"() ({
      "nest.for"() ({ ... }) {var = "j", range = #weft.dims<0, m>, kind = "vector"} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()

After:

    "nest.for"() ({
      "nest.for"() ({ ... }) {var = "j", range = #weft.dims<0, m>, kind = "vector"} : () -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()

A serial loop asks at the end of each step if it is the outermost, or if two more are inside it. So between two checks
for Ctrl-C at most a loop in a loop runs. If steps are short, native code asks only after many of them, so the loop is
not slowed down. Loops of a fixed, small number of steps do not count. Loops that threads share need none: the thread
pool asks between their pieces.

Needs `widen-loops` to have run, if it runs at all. `while` loops have their own `nest.ask`, which the verifier demands.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph, Node
from ..ir.nest import ops
from ..ir.nest.scopes import places, variables
from ..ir.records import record
from .nests.rewriting import Around, NestRewriter
from .nests.writing import NestBlock

FEW_STEPS = 64


@record
class PlaceAsks:
    """Adds asks to serial loops."""

    name: ClassVar[str] = "place-asks"

    def run(self, graph: Graph) -> Graph:
        wanted = {p.node for p in places(graph) if _wants_ask(p.node, p.around)}
        if not wanted:
            return graph

        def visit(rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
            ask = (Node(ops.ASK, (), {}, (), node.span),) if node in wanted else ()
            rewriter.copy(node, around, block, last=ask)

        return NestRewriter(visit).run(graph)


def _wants_ask(node: Node, around: Around) -> bool:
    if node.op is not ops.FOR or node.attrs["kind"] != "serial" or node.attrs.get("shared"):
        return False
    if any(n.attrs.get("shared") or n.attrs.get("kind", "serial") != "serial" for n in around):
        return False
    if any(n.op is ops.ASK for n in node.body or ()):
        return False
    depth = _depth(node)
    return depth >= 3 or (depth > 0 and not any(_is_long(n) for n in around))


def _depth(node: Node) -> int:
    """How many loops of unknown length are nested here, this one included."""
    inner = max((_depth(n) for n in (node.body if node.op is not ops.ASSIGN else None) or ()), default=0)
    return inner + _is_long(node)


def _is_long(node: Node) -> bool:
    if node.op not in ops.LOOPS:
        return False
    spans = [v.end - v.first for v in variables(node)]
    return not spans or not all(isinstance(n, int) and n <= FEW_STEPS for n in spans)

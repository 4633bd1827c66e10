"""`widen-loops`: serial loops become vector loops, and outer ones are shared between threads, where no result can
change.

Before:

    "nest.for"() ({
      "nest.for"() ({ ... %a at [@i, @j] ... %b at [@i, @j] ... }) {var = "j", range = ..., kind = "serial"} : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()

After:

    "nest.for"() ({
      "nest.for"() ({ ... }) {var = "j", range = ..., kind = "vector", times = 4 : i64} : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()

The table of dependences (`ir/nest/dependence.py`) decides what may be done. A loop that carries values stays serial:
sums of a program keep their order. An innermost loop becomes a vector loop if it stores along memory and no more loads
go across memory than along it. Sharing pays for loops around other loops and for vector loops on their own, at most one
serial loop deep. The call decides whether there is enough work. The rows of a product are cut into blocks for it.
A loop around a product alone is shared along with them.

Needs loops without assignments (`lower-assigns`). Guarantees the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..ir import dims
from ..ir.dims import LOOP
from ..ir.graph import Graph, Node
from ..ir.nest import ops
from ..ir.nest.dependence import dependence_problem
from ..ir.nest.scopes import MemoryAccess, accesses, has_loop_inside, inside, places, variables
from ..ir.records import record
from ..ir.types import Attr, Sizes, sizes
from .nests.overlap import located
from .nests.places import step_of
from .nests.rewriting import Around, NestRewriter, guard_facts, layouts_of, rewritten
from .nests.writing import Names, NestBlock

FEW_OPS = 12  # in a body: then more vectors are in flight
GRAIN = 128  # steps of a vector loop that a thread takes at least: some whole vectors, and lines of memory of its own
ROWS = 240  # of a product that one thread computes
KINDS = ("serial", "vector", "jammed")  # of loops that threads share
DEEP = 1  # serial loops around a shared one


@record
class WidenLoops:
    """Gives loops the widest kind that they may have."""

    name: ClassVar[str] = "widen-loops"

    def run(self, graph: Graph) -> Graph:
        widening = _Widening(graph)
        if not any(p.node.op in (ops.FOR, ops.PRODUCT) for p in widening.places):
            return graph
        return rewritten(graph, widening)


class _Widening:
    def __init__(self, nest: Graph) -> None:
        self.nest, self.places = nest, places(nest)
        self.accesses = accesses(self.places)
        self.facts, self.layouts = guard_facts(nest), layouts_of(nest)
        self.shared: set[Node] = set()
        self.names = Names(v.name for p in self.places for v in variables(p.node))
        self.has_changed = False

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        if node.op is ops.PRODUCT and self.can_share_here(around):
            self.share_product(rewriter, node, around, block)
            return
        attrs = dict(node.attrs)
        if node.op is ops.FOR and not node.operands and attrs["kind"] == "serial" and not attrs.get("shared"):
            found = [a for a in self.accesses if node in a.place.around]
            if self.may_be_vector(node, found):
                attrs |= {"kind": "vector", "times": 4 if len(list(inside(node))) <= FEW_OPS else 2}
        if node.op is ops.FOR and not node.operands and not attrs.get("shared"):
            found = [a for a in self.accesses if node in a.place.around]
            if self.may_be_shared(node, attrs, around, found):
                attrs["shared"] = True
                if attrs["kind"] == "vector":
                    attrs["grain"] = GRAIN
                self.shared.add(node)
        self.has_changed |= attrs != node.attrs
        rewriter.copy(node, around, block, attrs)

    def allows(self, node: Node, attrs: Mapping[str, Attr], found: Sequence[MemoryAccess]) -> bool:
        """Whether the table of dependences allows a loop with these attributes."""
        trial = Node(node.op, node.operands, attrs, (), node.span, node.body)
        return dependence_problem(self.nest, trial, found, self.facts) is None

    def may_be_vector(self, node: Node, found: Sequence[MemoryAccess]) -> bool:
        if has_loop_inside(node) or any(n.op in STEADY for n in inside(node)) or not any(a.is_store for a in found):
            return False
        (variable,) = variables(node)
        steps = [(a, step_of(a, variable.name, self.layouts), a.buffer.type.dtype.size) for a in found]
        along = sum(step == size for _, step, size in steps)
        across = sum(step not in (0, size) for _, step, size in steps)
        if any(a.is_store and step != size for a, step, size in steps) or across > along:
            return False
        return self.allows(node, {**node.attrs, "kind": "vector"}, found)

    def can_share_here(self, around: Around) -> bool:
        loops = [n for n in around if n.op in ops.LOOPS and not (n in self.shared and is_stack(n))]
        if any(n in self.shared or n.attrs.get("shared") for n in loops) or len(loops) > DEEP:
            return False
        return all(n.op is ops.FOR and n.attrs["kind"] == "serial" for n in loops)

    def share_product(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        """Cuts the rows of a product into blocks that threads share, if each writes only its own."""
        first, end, *others = sizes(node.attrs, "range")
        name = self.names.fresh("b")
        start = first + ROWS * dims.symbol(LOOP + name)
        bounds = Sizes((start, dims.minimum(end, start + ROWS), *others))
        part = Node(node.op, node.operands, {**node.attrs, "range": bounds}, (), node.span, node.body)
        count = dims.floordiv(end - first + ROWS - 1, ROWS)
        attrs: dict[str, Attr] = {"var": name, "range": Sizes((0, count)), "kind": "serial", "shared": True}
        loop = Node(ops.FOR, (), attrs, (), node.span, Graph("nest", (), (part,), ()))
        found = accesses(located(Graph("nest", (), (loop,), ()), around))
        inside_of = [a for a in found if loop in a.place.around]
        if dependence_problem(self.nest, loop, inside_of, self.facts) is None:
            self.has_changed = True
            rewriter.copy(loop, around, block)
        else:
            rewriter.copy(node, around, block)

    def may_be_shared(
        self, node: Node, attrs: Mapping[str, Attr], around: Around, found: Sequence[MemoryAccess]
    ) -> bool:
        if not self.can_share_here(around):
            return False
        if attrs["kind"] not in KINDS or not (attrs["kind"] == "vector" or has_loop_inside(node)):
            return False
        if any(n.op in (ops.ASK, ops.WHILE) or n.attrs.get("shared") for n in inside(node)):
            return False
        if not is_stack(node) and any(n.op is ops.PRODUCT for n in inside(node)):
            return False
        return self.allows(node, {**attrs, "shared": True}, found)


def is_stack(loop: Node) -> bool:
    """Whether a loop has a product with as many rows in each step and nothing else: both are shared together."""
    assert loop.body is not None
    if loop.op is not ops.FOR or len(loop.body.nodes) != 1 or loop.body.nodes[0].op is not ops.PRODUCT:
        return False
    own, rows = LOOP + variables(loop)[0].name, sizes(loop.body.nodes[0].attrs, "range")[:2]
    return not any(own in dims.symbols(size) for size in rows)


STEADY = frozenset((ops.WHEN, ops.CHECK, ops.BIND, ops.ASK, ops.SCAN, ops.ALLOC, ops.SWITCH))
"""Ops that an innermost loop with vectors does not gain from."""

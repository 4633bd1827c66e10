"""`fuse-loops`: neighbouring loops over one range become one loop, if they share memory and no step needs another step.

Before:

    "nest.for"() ({ %a at [@i] ... %t at [@i] ... }) {var = "i", range = #weft.dims<0, n>, kind = "vector"} : () -> ()
    "nest.for"() ({ %t at [@j] ... %b at [@j] ... }) {var = "j", range = #weft.dims<0, n>, kind = "vector"} : () -> ()

After:

    "nest.for"() ({
      ... %a at [@i] ... %t at [@i] ...
      ... %t at [@i] ... %b at [@i] ...
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector"} : () -> ()

An element that one loop stores and the other touches must be touched in the same step. Then the joined loop may still
be a vector loop or shared between threads wherever both were. Outer loops are joined first, then the loops inside them.
`forward-stores` then removes what need not go through memory any more.

Needs loops without assignments (`lower-assigns`). Guarantees the same bits. A loop that may fail is left alone, so that
nothing is stored before a check that came first.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir import dims
from ..ir.dims import LOOP
from ..ir.graph import Graph, Node
from ..ir.nest import ops
from ..ir.nest.dependence import Meeting, dependence_problem, meeting
from ..ir.nest.scopes import MemoryAccess, accesses, has_loop_inside, inside, memory_of, variables
from ..ir.records import record
from ..ir.types import Attr
from .nests.overlap import located
from .nests.rewriting import Around, NestRewriter, Substitution, guard_facts, rewritten
from .nests.writing import NestBlock

MOST_OPS = 160  # in a joined loop: more values than registers go through memory anyway
FEW_OPS = 12  # in a body: then more vectors are in flight
LEFT_ALONE = frozenset((ops.CHECK, ops.BIND, ops.ASK, ops.WHILE, ops.SWITCH, ops.PRODUCT, ops.ASSIGN, ops.SCAN))


@record
class FuseLoops:
    """Joins loops."""

    name: ClassVar[str] = "fuse-loops"

    def run(self, graph: Graph) -> Graph:
        return rewritten(graph, _Fusion(graph))


class _Fusion:
    def __init__(self, nest: Graph) -> None:
        self.facts = guard_facts(nest)
        self.can_share: dict[Node, bool] = {}
        self.has_changed = False

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        rewriter.copy(node, around, block)
        block.nodes[:] = self.joined_last(block.nodes, around)

    def joined_last(self, nodes: list[Node], around: Around) -> list[Node]:
        """Join the last node with the loop before it, if both are loops that may be one."""
        last = nodes[-1]
        if not _may_join(last):
            return nodes
        before = next((k for k in range(len(nodes) - 2, -1, -1) if nodes[k].op in ops.BODIES), None)
        if before is None or not _may_join(nodes[before]):
            return nodes
        between = nodes[before + 1 : -1]
        if not all(_may_precede(n, nodes[before]) for n in between):
            return nodes
        made = self.joined(nodes[before], last, around)
        return nodes if made is None else [*nodes[:before], *between, made]

    def joined(self, first: Node, second: Node, around: Around) -> Node | None:
        """Return one loop that does what two do one after the other, or None if the result could differ."""
        speeds = [(n.attrs["range"], n.attrs["kind"], n.attrs.get("width")) for n in (first, second)]
        if speeds[0] != speeds[1]:
            return None
        count = sum(1 for loop in (first, second) for _ in inside(loop))
        ((own,), (other,)) = variables(first), variables(second)
        assert first.body is not None and second.body is not None
        if count > MOST_OPS or not _share_memory(first, second):
            return None
        nodes = (
            *first.body.nodes,
            *Substitution({LOOP + other.name: dims.symbol(LOOP + own.name)}).nodes(second.body.nodes),
        )
        attrs: dict[str, Attr] = {**first.attrs, **second.attrs, "var": own.name}
        if has_loop_inside(first) or has_loop_inside(second):  # that one goes across memory, some lines at a time
            attrs |= first.attrs if has_loop_inside(first) else {}
        elif attrs["kind"] == "vector" and count > FEW_OPS:
            attrs["times"] = 2
        loop = Node(ops.FOR, (), attrs, (), first.span, Graph("nest", (), nodes, ()))
        can_share = [self.find_sharing(n, around) for n in (first, second)]
        if not self.is_same_step(loop, own.name, first, around) or can_share[0] != can_share[1]:
            return None  # the second reason: neither loop should lose its threads
        self.can_share[loop] = can_share[0]
        self.has_changed = True
        inner: list[Node] = []
        for node in nodes:
            inner = self.joined_last([*inner, node], (*around, loop))
        if len(inner) == len(nodes):
            return loop
        made = Node(ops.FOR, (), attrs, (), first.span, Graph("nest", (), tuple(inner), ()))
        self.can_share[made] = can_share[0]
        return made

    def is_same_step(self, loop: Node, variable: str, first: Node, around: Around) -> bool:
        """Tell whether both parts of a joined loop touch an element in the same step whenever one of them stores it."""
        fragment = Graph("nest", (), (loop,), ())
        found = accesses(located(fragment, around))
        early = set(inside(first))
        parts: tuple[dict[object, MemoryAccess], dict[object, MemoryAccess]] = ({}, {})
        for access in found:
            part = parts[0] if access.place.node in early else parts[1]
            part.setdefault((access.buffer, access.at, access.is_store), access)
        for a in parts[0].values():
            for b in parts[1].values():
                if a.buffer is b.buffer and (a.is_store or b.is_store):
                    distance = meeting(fragment, loop, variable, a, b, self.facts)
                    if distance is not Meeting.NEVER and distance != 0:
                        return False
        return True

    def find_sharing(self, loop: Node, around: Around) -> bool:
        """Find out whether threads can share a loop, and remember it."""
        if loop not in self.can_share:
            trial = Node(ops.FOR, (), {**loop.attrs, "shared": True}, (), loop.span, loop.body)
            fragment = Graph("nest", (), (trial,), ())
            found = [a for a in accesses(located(fragment, around)) if trial in a.place.around]
            self.can_share[loop] = dependence_problem(fragment, trial, found, self.facts) is None
        return self.can_share[loop]


def _may_join(node: Node) -> bool:
    """Whether a node is a loop that carries nothing and can't fail."""
    if node.op is not ops.FOR or node.operands or node.attrs.get("shared"):
        return False
    return node.attrs["kind"] in ("serial", "vector") and not any(n.op in LEFT_ALONE for n in inside(node))


def _may_precede(node: Node, loop: Node) -> bool:
    """Whether a node that follows a loop can be moved before it."""
    if node.op is ops.LOAD:
        return memory_of(node.operands[0]) not in {memory_of(n.operands[-1]) for n in inside(loop) if n.op is ops.STORE}
    return node.op in (ops.VIEW, ops.ALLOC) or (not node.op.name.startswith("nest.") and node.body is None)


def _share_memory(first: Node, second: Node) -> bool:
    touched = [{memory_of(n.operands[-1]) for n in inside(loop) if n.op in ops.ACCESSES} for loop in (first, second)]
    return not touched[0].isdisjoint(touched[1])

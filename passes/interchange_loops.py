"""`interchange-loops`: a loop that runs along memory moves inside those that run across it.

Before:

    "nest.for"() ({
      "nest.for"() ({ ... %a at [@i, @j - 1] ... %a at [@i, @j] ... }) {var = "i", ..., kind = "vector"} : () -> ()
    }) {var = "j", range = #weft.dims<1, m>, kind = "serial"} : () -> ()

After:

    "nest.for"() ({
      "nest.for"() ({ ... %a at [@i, @j - 1] ... %a at [@i, @j] ... }) {var = "j", ..., kind = "serial"} : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector"} : () -> ()

Vertical solvers of weather models, for example, go through the last axis of an array and treat all others at once. With
this pass they read each line of memory once. Steps of the loop that becomes the innermost may depend on one another;
the loop around it runs in the lanes of vectors, so it stays as wide as it was.

A loop is moved only if the loops are directly inside one another, no other loop carries a dependence, and most accesses
go across memory before but none does afterwards.

Needs loops without assignments. Guarantees the same bits.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir import dims
from ..ir.dims import LOOP
from ..ir.graph import Graph, Node, Value
from ..ir.nest import ops
from ..ir.nest.dependence import dependence_problem
from ..ir.nest.scopes import accesses, has_loop_inside, inside, memory_of, variables
from ..ir.records import record
from ..ir.types import Attr, sizes
from .nests.overlap import located
from .nests.places import step_of
from .nests.rewriting import Around, NestRewriter, guard_facts, layouts_of, rewritten
from .nests.writing import NestBlock

LEFT_ALONE = frozenset((ops.CHECK, ops.BIND, ops.ASK, ops.WHILE, ops.SWITCH, ops.PRODUCT, ops.SCAN, ops.ALLOC))


@record
class InterchangeLoops:
    """Moves loops inside others."""

    name: ClassVar[str] = "interchange-loops"

    def run(self, graph: Graph) -> Graph:
        return rewritten(graph, _Moving(graph))


class _Moving:
    def __init__(self, nest: Graph) -> None:
        self.facts, self.layouts = guard_facts(nest), layouts_of(nest)
        self.has_changed = False

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        rewriter.copy(node, around, block)
        made = self.moved(block.nodes[-1], around)
        if made is not None:
            self.has_changed = True
            block.nodes[-1] = made

    def moved(self, loop: Node, around: Around) -> Node | None:
        """Move the given loop inside those that it contains. Return None if that changes a result or gains nothing."""
        found = _directly_inside(loop)
        if found is None:
            return None
        inner, nodes = found
        if not self.pays(loop, inner[-1], around):
            return None
        body = Graph("nest", (), tuple(nodes), ())
        made = Node(ops.FOR, (), {**loop.attrs, "kind": "serial"}, (), loop.span, body)
        for k, outer in enumerate(reversed(inner)):
            attrs: dict[str, Attr] = {name: outer.attrs[name] for name in ("var", "range")}
            attrs |= {"kind": "vector"} if k == 0 else {"kind": "serial"}
            made = Node(ops.FOR, (), attrs, (), outer.span, Graph("nest", (), (made,), ()))
        return made if self.is_same(made, len(inner), around) else None

    def pays(self, loop: Node, innermost: Node, around: Around) -> bool:
        """Whether most accesses go across memory, and all would go along it."""
        found = [a for a in accesses(located(Graph("nest", (), (loop,), ()), around)) if loop in a.place.around]
        steps = []
        for node in (innermost, loop):
            (variable,) = variables(node)
            steps.append([(step_of(a, variable.name, self.layouts), a.buffer.type.dtype.size) for a in found])
        across, along = (
            sum(step not in (0, size) for step, size in steps[0]),
            sum(step == size for step, size in steps[0]),
        )
        return across > 2 * along and all(step in (0, size) for step, size in steps[1])

    def is_same(self, outermost: Node, count: int, around: Around) -> bool:
        """Tell whether the loops that are now outside carry no dependence."""
        fragment, loop = Graph("nest", (), (outermost,), ()), outermost
        found = accesses(located(fragment, around))
        for _ in range(count):
            strict = Node(ops.FOR, (), {**loop.attrs, "shared": True}, (), loop.span, loop.body)
            own = [a for a in found if loop in a.place.around]
            if dependence_problem(fragment, strict, own, self.facts) is not None:
                return False
            assert loop.body is not None
            (loop,) = loop.body
        return True


def _directly_inside(loop: Node) -> tuple[list[Node], list[Node]] | None:
    """Return the loops that are directly inside one another, outermost first, and what all of them compute in a
    step.
    """
    if not _is_plain(loop, "serial") or any(n.op in LEFT_ALONE for n in inside(loop)):
        return None
    stored = {memory_of(n.operands[-1]) for n in inside(loop) if n.op is ops.STORE}
    inner: list[Node] = []
    nodes: list[Node] = []
    current = loop
    while has_loop_inside(current):
        assert current.body is not None
        *before, last = current.body
        own = {LOOP + v.name for n in (loop, *inner) for v in variables(n)}
        if not _is_plain(last, "serial", "vector") or not all(_can_move(n, stored) for n in before):
            return None
        if any(dims.symbols(size) & own for size in sizes(last.attrs, "range")):
            return None
        nodes += before
        inner.append(last)
        current = last
    assert current.body is not None
    return (inner, [*nodes, *current.body]) if inner else None


def _is_plain(node: Node, *kinds: str) -> bool:
    return node.op is ops.FOR and not node.operands and not node.attrs.get("shared") and node.attrs["kind"] in kinds


def _can_move(node: Node, stored: set[Value]) -> bool:
    """Tell whether a node gives the same result wherever it is placed in the loops."""
    if node.op is ops.LOAD:
        return memory_of(node.operands[0]) not in stored
    return node.op is ops.VIEW or (not node.op.name.startswith("nest.") and node.body is None)

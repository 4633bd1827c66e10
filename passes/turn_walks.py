"""`turn-walks`: a sum that goes across memory, inside a loop that goes along it, is added up line by line.

Before:

    "nest.for"() ({
      %0 = "nest.walk"() ({ ... %b at [@k, @j] ... }) {vars = ["k"], ..., kind = "vector", combine = ["sum"]}
      %1 = "nest.across"(%0) {combine = "sum"} : (vector<32xf64>) -> tensor<f64>
      "nest.store"(%1, %a) {at = #weft.dims<@j>} : ...
    }) {var = "j", range = #weft.dims<0, m>, kind = "serial"} : () -> ()

After:

    "nest.for"() ({
      %0 = "nest.walk"() ({ ... %b at [@k, @j] ... }) {vars = ["k"], ..., kind = "serial", combine = ["sum"]}
      "nest.store"(%0, %a) {at = #weft.dims<@j>} : ...
    }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 16 : i64} : () -> ()

So `for j in range(m): a[j] = np.dot(v, b[:, j])` reads memory and adds in the order of `a[:] = v @ b`:
the lanes of vectors are elements of the result and not parts of one sum.

Needs loops without assignments. Guarantees sums as accurate as before, in an order that depends on the program alone.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir import dims
from ..ir.dims import LOOP
from ..ir.graph import Graph, Node, graph_guards
from ..ir.nest import ops
from ..ir.nest.dependence import dependence_problem
from ..ir.nest.scopes import MemoryAccess, accesses, places, variables
from ..ir.records import record
from ..ir.types import Attr, TensorType, sizes
from .nests.places import step_of
from .nests.regions import ACROSS_MEMORY
from .nests.rewriting import Around, NestRewriter
from .nests.writing import NestBlock

ORDERED = frozenset(("sum", "prod", "max", "min"))
MOVED = frozenset((ops.LOAD, ops.STORE, ops.VIEW, ops.WALK, ops.ACROSS))


@record
class TurnWalks:
    """Makes vectors of loops around walks that go across memory."""

    name: ClassVar[str] = "turn-walks"

    def run(self, graph: Graph) -> Graph:
        turning = _Turning(graph)
        if not turning.loops:
            return graph
        return NestRewriter(turning.visit).run(graph)


class _Turning:
    def __init__(self, nest: Graph) -> None:
        self.nest = nest
        found = places(nest)
        self.accesses = accesses(found)
        self.facts = [size for a, b in graph_guards(nest) for size in (a - b, b - a)]
        layouts = nest.attrs.get("layouts", ())
        assert isinstance(layouts, tuple)
        self.layouts = {v: str(name) for v, name in zip(nest.inputs, layouts, strict=False)}
        self.loops = {p.node for p in found if _has_walks(p.node) and self.pays(p.node) and self.is_allowed(p.node)}

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        loop = around[-1] if around else None
        if node.op is ops.ACROSS and loop in self.loops:
            rewriter.values[node.result] = rewriter.operands(node)[0]
        elif node.op is ops.WALK and loop in self.loops:
            block.nodes.append(self.serial(rewriter, node, around))
        elif node in self.loops:
            rewriter.copy(node, around, block, _wide(node))
        else:
            rewriter.copy(node, around, block)

    def serial(self, rewriter: NestRewriter, walk: Node, around: Around) -> Node:
        """A walk over single elements in place of one with vectors."""
        assert walk.body is not None
        inner = tuple(rewriter.body(walk.body, (*around, walk)).nodes)
        body = Graph(walk.body.name, (), inner, tuple(rewriter.values.get(v, v) for v in walk.body.outputs))
        attrs: dict[str, Attr] = {name: walk.attrs[name] for name in ("vars", "range", "combine", "steps")}
        types = tuple(TensorType(result.type.dtype) for result in walk.results)
        made = Node(ops.WALK, (), {**attrs, "kind": "serial"}, types, walk.span, body)
        rewriter.values.update(zip(walk.results, made.results, strict=True))
        return made

    def pays(self, loop: Node) -> bool:
        """Whether everything that moves with the loop goes along memory, but across memory in the walks."""
        found = [a for a in self.accesses if loop in a.place.around]
        (variable,) = variables(loop)
        own = [(a, step_of(a, variable.name, self.layouts), a.buffer.type.dtype.size) for a in found]
        if not all(step == size or (step == 0 and not a.is_store) for a, step, size in own):
            return False
        moving = [(a, walk) for a, step, size in own if step == size and (walk := _walk_around(a)) is not None]
        return bool(moving) and not any(self._goes_along(a, walk) for a, walk in moving)

    def _goes_along(self, access: MemoryAccess, walk: Node) -> bool:
        (variable,) = variables(walk)
        return step_of(access, variable.name, self.layouts) == access.buffer.type.dtype.size

    def is_allowed(self, loop: Node) -> bool:
        trial = Node(loop.op, (), _wide(loop), (), loop.span, loop.body)
        found = [a for a in self.accesses if loop in a.place.around]
        return dependence_problem(self.nest, trial, found, self.facts) is None


def _walk_around(access: MemoryAccess) -> Node | None:
    return next((n for n in access.place.around if n.op is ops.WALK), None)


def _wide(loop: Node) -> dict[str, Attr]:
    return {**loop.attrs, "kind": "vector", "times": ACROSS_MEMORY}


def _has_walks(loop: Node) -> bool:
    """Whether a loop does nothing but walk with vectors, compute and store."""
    if loop.op is not ops.FOR or loop.operands or loop.attrs["kind"] != "serial" or loop.attrs.get("shared"):
        return False
    assert loop.body is not None
    if any(n.op not in MOVED and (n.op.name.startswith("nest.") or n.body is not None) for n in loop.body):
        return False
    walks = [n for n in loop.body if n.op is ops.WALK]
    return bool(walks) and all(_is_vector(walk, loop) for walk in walks)


def _is_vector(walk: Node, loop: Node) -> bool:
    names, combine = walk.attrs["vars"], walk.attrs["combine"]
    assert isinstance(names, tuple) and isinstance(combine, tuple) and walk.body is not None
    if walk.attrs["kind"] != "vector" or len(names) != 1 or not ORDERED.issuperset(map(str, combine)):
        return False
    if any(n.op is not ops.LOAD and n.op.name.startswith("nest.") for n in walk.body):
        return False
    (variable,) = variables(loop)
    return not any(LOOP + variable.name in dims.symbols(size) for size in sizes(walk.attrs, "range"))

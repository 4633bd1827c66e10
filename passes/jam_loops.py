"""`jam-loops`: four steps of a loop over sums run together if they read the same lines of memory.

Before:

    "nest.for"() ({
      "nest.for"() ({
        %0 = "nest.walk"() ({ ... %a at [@i, @k] * %b at [@k, @j] ... }) {vars = ["k"], ..., kind = "serial"}
        ...
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 16 : i64} : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()

After:

    "nest.for"() ({
      "nest.for"() ({ ... }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 4 : i64} : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "jammed", times = 4 : i64} : () -> ()

In a triangle the inner range depends on the step. Before:

    "nest.for"() ({
      "nest.for"() ({
        %0 = "nest.walk"() ({ ... %a at [@k, @i] * %a at [@k, @i + @j] ... }) {vars = ["k"], ..., kind = "serial"}
        ...
      }) {var = "j", range = #weft.dims<0, m - @i>, kind = "vector", times = 16 : i64} : () -> ()
    }) {var = "i", range = #weft.dims<0, m>, kind = "serial", shared} : () -> ()

After:

    "nest.for"() ({
      "nest.for"() ({ ... }) {var = "i", range = #weft.dims<4*@b, 4*@b + 4>, kind = "serial"} : () -> ()
      "nest.for"() ({
        "nest.for"() ({
          %0 = "nest.walk"() ({ ... %a at [@k, @i] * %a at [@k, @j] ... }) {vars = ["k"], ..., kind = "serial"}
          ...
        }) {var = "j", range = #weft.dims<4*@b + 3, m>, kind = "vector", times = 4 : i64} : () -> ()
      }) {var = "i", range = #weft.dims<4*@b, 4*@b + 4>, kind = "jammed", times = 4 : i64} : () -> ()
    }) {var = "b", range = #weft.dims<0, m // 4>, kind = "serial", shared} : () -> ()
    "nest.for"() ({ ... }) {var = "i", range = #weft.dims<4*(m // 4), m>, kind = "jammed", times = 1 : i64, shared}

The inner loop counts from another start, so that four steps read the same lines: `@j` was `@i + @j`. Elements that only
one step has are handled in a loop of their own, the first one.

Needs the kinds of loops that `widen-loops` gives. Guarantees the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..ir import dims
from ..ir.accesses import coefficient_of
from ..ir.dims import LOOP, Size
from ..ir.graph import Graph, Node, Value, graph_guards
from ..ir.nest import ops
from ..ir.nest.dependence import dependence_problem
from ..ir.nest.scopes import MemoryAccess, accesses, has_loop_inside, inside, memory_of, places, variables
from ..ir.records import record
from ..ir.types import Attr, Sizes, sizes
from .nests.places import step_of
from .nests.rewriting import Around, NestRewriter, Substitution
from .nests.writing import Names, NestBlock

TOGETHER = 4  # steps: with as many vectors, their sums fill half of the registers
MOST_OPS = 6  # in a walk, whose values need registers, too


@record
class JamLoops:
    """Runs steps of loops together."""

    name: ClassVar[str] = "jam-loops"

    def run(self, graph: Graph) -> Graph:
        jamming = _Jamming(graph)
        if not jamming.shifts and not jamming.whole:
            return graph
        return NestRewriter(jamming.visit).run(graph)


class _Jamming:
    def __init__(self, nest: Graph) -> None:
        found = places(nest)
        self.accesses = accesses(found)
        layouts = nest.attrs.get("layouts", ())
        assert isinstance(layouts, tuple)
        self.layouts = {v: str(name) for v, name in zip(nest.inputs, layouts, strict=False)}
        self.names = Names(v.name for p in found for v in variables(p.node))
        self.nest, self.facts = nest, [size for a, b in graph_guards(nest) for size in (a - b, b - a)]
        self.whole: set[Node] = set()  # loops to jam, and those inside them
        self.shifts: dict[Node, int] = {}  # of triangles: by how much the inner loop's place moves with each step
        for loop in (place.node for place in found):
            if _may_be_whole(loop) and self.is_whole(loop):
                assert loop.body is not None
                self.whole |= {loop, *(n for n in loop.body if n.op is ops.FOR)}
            elif _may_be_triangle(loop) and (shift := self.shift(loop, _inner(loop))) is not None:
                self.shifts[loop] = shift

    def is_whole(self, loop: Node) -> bool:
        """Whether all loops inside have the same range in each step, and their sums read the same lines."""
        assert loop.body is not None
        inner = [n for n in loop.body if n.op is ops.FOR]
        own = {LOOP + v.name for v in variables(loop)}
        if any(own & dims.symbols(size) for n in inner for size in sizes(n.attrs, "range")):
            return False
        if any(self.shift(loop, n) != 0 for n in inner if has_loop_inside(n)):
            return False
        trial = Node(loop.op, (), {**loop.attrs, "kind": "jammed"}, (), loop.span, loop.body)
        found = [a for a in self.accesses if loop in a.place.around]
        return dependence_problem(self.nest, trial, found, self.facts) is None

    def shift(self, loop: Node, inner: Node) -> int | None:
        """By how many elements the lines that a step reads move with the loop, if all steps read the same lines."""
        ((own,), (along,)) = variables(loop), variables(inner)
        read = [a for a in self.accesses if inner in a.place.around and any(n.op is ops.WALK for n in a.place.around)]
        lines = [a for a in read if step_of(a, along.name, self.layouts) == a.buffer.type.dtype.size]
        others = [a for a in read if a not in lines]
        if not lines or any(step_of(a, along.name, self.layouts) != 0 for a in others):
            return None
        shifts = {self._moved(a, own.name) for a in lines}
        shift = shifts.pop()
        if shifts or shift not in (0, 1):
            return None
        first, end = (coefficient_of(size, LOOP + own.name) for size in (along.first, along.end))
        rest = [size - c * dims.symbol(LOOP + own.name) for size, c in ((along.first, first), (along.end, end))]
        if any(LOOP + own.name in dims.symbols(size) for size in rest):
            return None
        return shift if (first + shift, end + shift) in ((0, 0), (1, 0)) else None

    def _moved(self, access: MemoryAccess, name: str) -> int | None:
        step, size = step_of(access, name, self.layouts), access.buffer.type.dtype.size
        return step // size if isinstance(step, int) and step % size == 0 else None

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        if node in self.whole:
            attrs: dict[str, Attr] = {"kind": "jammed"} if node.attrs["kind"] == "serial" else {}
            times = TOGETHER if attrs or has_loop_inside(node) else 1
            rewriter.copy(node, around, block, {**node.attrs, **attrs, "times": times})
            return
        rewriter.copy(node, around, block)
        shift = self.shifts.get(node)
        if shift is not None:
            block.nodes[-1:] = self.jammed(block.nodes[-1], shift)

    def jammed(self, loop: Node, shift: int) -> list[Node]:
        """Return the two loops that replace one: over blocks of steps, and over the steps that fill no block."""
        ((own,), (along,)) = variables(loop), variables(_inner(loop))
        count = dims.floordiv(own.end - own.first, TOGETHER)
        name = self.names.fresh("b")
        start = own.first + TOGETHER * dims.symbol(LOOP + name)
        moved = shift * dims.symbol(LOOP + own.name)
        first, end = along.first + moved, along.end + moved
        last_first = dims.substitute(first, {LOOP + own.name: start + TOGETHER - 1})
        rows = Sizes((start, start + TOGETHER))
        steps: list[Node] = []
        if first != last_first:
            ends = dims.minimum(last_first, end)
            steps.append(_loop(loop, shift, {"range": rows, "kind": "serial"}, (first, ends), 1))
        attrs: dict[str, Attr] = {"range": rows, "kind": "jammed", "times": TOGETHER}
        steps.append(_loop(loop, shift, attrs, (last_first, end), TOGETHER))
        outer: dict[str, Attr] = {**loop.attrs, "var": name, "range": Sizes((0, count))}
        blocks = Node(ops.FOR, (), outer, (), loop.span, Graph("nest", (), tuple(steps), ()))
        left: dict[str, Attr] = {**loop.attrs, "range": Sizes((own.first + TOGETHER * count, own.end))}
        left |= {"kind": "jammed", "times": 1}
        return [blocks, Node(ops.FOR, (), left, (), loop.span, loop.body)]


def _loop(
    loop: Node, shift: int, attrs: dict[str, Attr], ends: tuple[Size, Size], times: int
) -> Node:  # fmt: skip
    """Copy a loop whose inner loop has another range, counted from another start."""
    assert loop.body is not None
    inner = _inner(loop)
    ((own,), (along,)) = variables(loop), variables(inner)
    before = Substitution({})
    prefix = before.nodes(loop.body.nodes[:-1])
    counted = Substitution({LOOP + along.name: dims.symbol(LOOP + along.name) - shift * dims.symbol(LOOP + own.name)})
    counted.values = before.values
    assert inner.body is not None
    body = Graph("nest", (), counted.nodes(inner.body.nodes), ())
    made = Node(ops.FOR, (), {**inner.attrs, "range": Sizes(ends), "times": times}, (), inner.span, body)
    return Node(ops.FOR, (), {"var": own.name, **attrs}, (), loop.span, Graph("nest", (), (*prefix, made), ()))


def _inner(loop: Node) -> Node:
    assert loop.body is not None
    return loop.body.nodes[-1]


def _may_be_whole(loop: Node) -> bool:
    """Whether a loop contains only vector loops, one of them over sums."""
    if loop.op is not ops.FOR or loop.operands or loop.attrs["kind"] != "serial":
        return False
    assert loop.body is not None
    inner = [n for n in loop.body if n.op is ops.FOR]
    stored = _stored(loop)
    if not all(n.op is ops.FOR or _only_computes(n, stored) for n in loop.body):
        return False
    return any(has_loop_inside(n) for n in inner) and all(_may_be_inside(n, loop) for n in inner)


def _may_be_inside(inner: Node, loop: Node) -> bool:
    return _has_sum(inner, loop) or (_is_vector(inner) and not any(n.body is not None for n in inside(inner)))


def _may_be_triangle(loop: Node) -> bool:
    """Whether a loop is shared and contains only one vector loop over sums."""
    if loop.op is not ops.FOR or loop.operands or loop.attrs["kind"] != "serial" or not loop.attrs.get("shared"):
        return False
    assert loop.body is not None
    if not loop.body.nodes or not _has_sum(_inner(loop), loop):
        return False
    stored = _stored(loop)
    return all(_only_computes(n, stored) for n in loop.body.nodes[:-1])


def _stored(loop: Node) -> set[Value]:
    return {memory_of(n.operands[-1]) for n in inside(loop) if n.op is ops.STORE}


def _is_vector(node: Node) -> bool:
    return node.op is ops.FOR and not node.operands and node.attrs["kind"] == "vector" and not node.attrs.get("shared")


def _has_sum(inner: Node, loop: Node) -> bool:
    """Whether each step of a vector loop has one sum, over the same range in all steps."""
    if not _is_vector(inner):
        return False
    assert inner.body is not None
    names = {LOOP + v.name for n in (loop, inner) for v in variables(n)}
    walks = [n for n in inner.body if n.op is ops.WALK]
    others = [n for n in inner.body if n.op not in (ops.WALK, ops.LOAD, ops.STORE, ops.VIEW)]
    if len(walks) != 1 or any(n.op.name.startswith("nest.") or n.body is not None for n in others):
        return False
    return _is_short(walks[0], names)


def _only_computes(node: Node, stored: set[Value]) -> bool:
    if node.op is ops.LOAD:
        return memory_of(node.operands[0]) not in stored
    return node.op is ops.VIEW or (not node.op.name.startswith("nest.") and node.body is None)


def _is_short(walk: Node, names: set[str]) -> bool:
    """Whether a walk has the same range in each step, goes element by element, and computes little."""
    assert walk.body is not None
    if walk.attrs["kind"] != "serial" or walk.attrs["combine"] != ("sum",) or len(walk.body) > MOST_OPS:
        return False
    plain: Sequence[Node] = [n for n in walk.body if n.op is not ops.LOAD]
    if any(n.op.name.startswith("nest.") or n.body is not None for n in plain):
        return False
    return not any(names & dims.symbols(size) for size in sizes(walk.attrs, "range"))

"""Emit the walks of programs: reductions along ranges, the combination of their lanes, and running values.

Loops and trees are those of regions (`loops/columns.py`); this module says what runs in a step. If vectors run along a
walk whose body can't be computed in vectors, the elements of each step are computed one by one and stored first.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.dims import LOOP, Size, symbols
from ....ir.errors import Unsupported
from ....ir.graph import Node
from ....ir.nest import ops
from ....ir.nest.lanes import lanes_of, position_of, reductions_of
from ....ir.nest.scopes import inside, variables
from ....ir.ops import POSITIONS
from ....ir.types import integer, ints
from ..code.casts import element
from ..code.memory import Memory
from ..code.text import BITS, Val
from ..code.vectors import load, memory_form, store
from ..elements.combine import combined
from ..loops.columns import ColumnLoops, Columns, StageCode
from ..reductions.ranking import across_lanes
from . import numbers
from .function import NestFunction, Points
from .leaving import leave_if
from .loops import can_be_vector
from .points import Point

LANES, SLOTS = 8, 2  # of a walk that gives a position, if the nest does not say: lanes of a vector, vectors in a step
MOST_LANES = 64


def walk(f: NestFunction, node: Node, points: Points) -> None:
    """Emits a `nest.walk`."""
    lanes, has_positions = lanes_of(node), any(n.op in POSITIONS for n in reductions_of(node))
    _check(node, lanes)
    is_across = lanes > 1 or (not lanes and node.attrs["kind"] == "vector" and _is_regular(node))
    if is_across and points[0].vector is not None:
        if lanes:
            raise Unsupported("a walk that has lanes can't be inside a product", node.span)
        is_across = False
    # A position is searched for in one row.
    for group in [[p] for p in points] if is_across and has_positions else [points]:
        _WalkEmitter(f, node, group, is_across).run()


def _check(node: Node, lanes: int) -> None:
    if "chained" in node.attrs:
        raise Unsupported("a walk that is 'chained' has no native code in nests of programs", node.span)
    steps = ints(node.attrs, "steps")
    if len(steps) > 1 and any(n.op in POSITIONS for n in reductions_of(node)):
        raise Unsupported("a walk that gives a position can't have other results", node.span)
    if len({v.type.shape for v in node.results if v.type.kind == "vector"}) > 1:
        raise Unsupported("the results of a walk must have the same number of lanes", node.span)
    if len({k for k in steps if k}) > 1:
        raise Unsupported("the reductions of a walk must have the same steps", node.span)
    endless = [n for n in reductions_of(node) if n.op.name in ("sum", "prod") and not integer(n.attrs, "steps")]
    if lanes > 1 and len(variables(node)) > 1 and any(n.result.type.dtype.kind == "float" for n in endless):
        raise Unsupported("the lanes of a float sum over several ranges need 'steps'", node.span)


def _is_regular(node: Node) -> bool:
    """Whether no range of a walk depends on another one, so that positions can be computed."""
    own = {LOOP + v.name for v in variables(node)}
    return not any((symbols(v.first) | symbols(v.end)) & own for v in variables(node))


class _WalkEmitter:
    """A walk at some points while it is written."""

    def __init__(self, f: NestFunction, node: Node, points: Points, is_across: bool) -> None:
        assert node.body is not None
        self.f, self.node, self.body, self.points, self.is_across = f, node, node.body, points, is_across
        self.reductions = reductions_of(node)
        self.columns = tuple((LOOP + v.name, v.first, v.end) for v in variables(node))
        self.inner = variables(node)[-1].name
        width, self.offsets = points[0].width, [0] * len(points)
        if is_across:
            lanes = lanes_of(node)
            width = integer(node.attrs, "width") if "width" in node.attrs else lanes or LANES
            width = min(width, lanes or width, MOST_LANES)
            self.offsets = [width * k for k in range(lanes // width or SLOTS)]
        self.memory = Memory(f.nest, f.frame, width, LOOP + self.inner if is_across else "")
        self.in_vectors = can_be_vector(node, points)
        self.counted = None if _is_regular(node) else f.in_entry("alloca i64, align 8", "ptr")
        sizes = [BITS[memory_form(element(v.type.dtype))] // 8 for v in self.body.outputs]
        is_single = is_across and not self.in_vectors
        self.rooms = (
            [f.frame.reserve(len(self.offsets) * width * k) for k in sizes for _ in points] if is_single else []
        )

    def run(self) -> None:
        f, has_positions = self.f, any(n.op in POSITIONS for n in self.reductions)
        if self.counted is not None:
            f.e.store(f.e.const("i64", 0), self.counted, 8)
        elif has_positions:
            ends = [f.e.icmp("sge", self.number(first), self.number(end)) for _, first, end in self.columns]
            for is_empty in ends:
                leave_if(f, is_empty, self.node)
        may_repeat = not any(n.op in (ops.STORE, ops.SCAN) for n in inside(self.node))
        starts_at_zero = all(first == 0 for _, first, _ in self.columns)
        walk = Columns(
            ColumnLoops(
                f.nest, f.frame, self.memory, self.columns, self.offsets, StageCode(self.visit, self.positions),
                self.is_across, self.number,
                rows=len(self.points),
                in_order="position" not in self.node.attrs and may_repeat and starts_at_zero,
                has_rest_in_one=True,
            ),
            self.reductions,
            [],
        )  # fmt: skip
        for (sums, totals), row in zip(walk.totals(), walk.downs, strict=True):
            result = self.node.results[self.reductions.index(sums.node)]
            own = [self.points[row]] if self.is_across else self.points
            is_lanes = result.type.kind == "vector"
            if is_lanes and self.is_across:
                own[0].lanes[result] = totals
                continue
            for point, x in zip(own, walk.results(sums, totals), strict=True):
                if is_lanes:
                    point.lanes[result] = [x]
                else:
                    point.values[result] = x
        if self.counted is not None and has_positions:
            leave_if(f, f.e.icmp("eq", f.e.load(self.counted, "i64", 0, 8), f.e.const("i64", 0)), self.node)

    # -- what runs in a step

    def visit(self, nodes: Sequence[Node], offsets: Sequence[int], writes: bool) -> dict[Node, list[Val]]:
        """Runs the body at the vectors of some offsets, or at all points."""
        if self.rooms:
            found = self.one_by_one(len(offsets))
            return {n: found[self.reductions.index(n)] for n in nodes}
        inner = self.at(offsets)
        self.f.body(self.body, inner)
        if self.counted is not None:
            e = self.f.e
            e.store(e.op("add nsw", e.load(self.counted, "i64", 0, 8), e.const("i64", 1)), self.counted, 8)
        return {n: [p.values[n.operands[0]] for p in inner] for n in nodes}

    def at(self, offsets: Sequence[int]) -> list[Point]:
        """The points of a step."""
        if not self.is_across:
            return [self.moved(p) for p in self.points]
        found = [self.moved(p, self.f.e.const("i64", offset)) for offset in offsets for p in self.points]
        for point in found:
            point.vector, point.width, point.mask = self.inner, self.memory.width, self.memory.mask
        return found

    def moved(self, point: Point, offset: Val | None = None) -> Point:
        """Make a point in this step of the walk's loops, some elements on."""
        made, known = point.step(), self.f.nest.variables
        made.env |= {name: known[name][0] for name, _, _ in self.columns if name in known}
        if offset is not None:
            made.env[LOOP + self.inner] = numbers.plus(self.f, made.env[LOOP + self.inner], offset)
        return made

    def number(self, size: Size) -> Val:
        return numbers.scalar(self.f, size, self.moved(self.points[0]))

    def positions(self, offsets: Sequence[int]) -> list[Val]:
        e = self.f.e
        if self.counted is not None:
            number = e.op("sub", e.load(self.counted, "i64", 0, 8), e.const("i64", 1))
            return [number for _ in self.points]
        return [numbers.number(self.f, position_of(self.node), p) for p in self.at(offsets)]

    def one_by_one(self, slots: int) -> list[list[Val]]:
        """Compute the elements of a step one after another, and return them as vectors, one for each result."""
        f, e, width, mask = self.f, self.f.e, self.memory.width, self.memory.mask
        kinds = [element(v.type.dtype) for v in self.body.outputs for _ in self.points]
        count = e.const("i64", slots * width)
        if mask is not None:
            bits = e.call("ctpop", e.emit(f"bitcast {mask.typed} to i{width}", f"i{width}", 0))
            count = bits if width == 64 else e.cast("zext", bits, "i64")

        def place(room: Val, elem: str, lane: Val) -> Val:
            return e.offset(room, e.op("mul", lane, e.const("i64", BITS[memory_form(elem)] // 8)))

        def one(lane: Val, _: list[Val]) -> list[Val]:
            inner = [self.moved(p, lane) for p in self.points]
            f.body(self.body, inner)
            values = [p.values[v] for v in self.body.outputs for p in inner]
            for x, room in zip(values, self.rooms, strict=True):
                store(e, x, place(room, x.elem, lane))
            return []

        f.repeat(e.const("i64", 0), count, 1, (), one)
        found = [
            [load(e, elem, width, place(room, elem, e.const("i64", k * width))) for k in range(slots)]
            for elem, room in zip(kinds, self.rooms, strict=True)
        ]
        rows = len(self.points)
        return [
            [v for several in zip(*found[k : k + rows], strict=True) for v in several]
            for k in range(0, len(found), rows)
        ]


def across(f: NestFunction, node: Node, points: Points) -> None:
    """Combines the upper half of a walk's lanes with the lower half until one is left."""
    op, dtype = ops.combiner(str(node.attrs["combine"])), node.result.type.dtype
    for point in points:
        found = point.lanes[node.operands[0]]
        point.values[node.result] = found[0] if point.width else across_lanes(f.e, op, dtype, found)


def scan(f: NestFunction, node: Node, points: Points) -> None:
    """Combine an element with all elements before it."""
    e, op = f.e, ops.combiner(str(node.attrs["combine"]))
    dtype = node.result.type.dtype
    for point in points:
        running, has_one = point.cells[node]
        x = f.spread(point.values[node.operands[0]], point)
        older = e.load(running, x.elem, x.lanes, 64)
        both = combined(e, op, dtype, older, x)
        found = e.select(e.load(has_one, "i1", 0, 1), both, x)
        e.store(found, running, 64)
        e.store(e.const("i1", 1), has_one)
        point.values[node.result] = found

"""Emit the loop nest of a region as one native function: one function for each op of the nest.

LLVM runs none of its passes on kernels, so invariant code is hoisted here. Loops and stores are emitted in their order.
Anything else is emitted when a store first needs it, in the outermost scope that has its operands, and remembered there
(`code/scopes.py`). This is right because a region's nest loads from operands, which nothing writes, and
what an earlier loop has written (`ir/nest/rows.py`).

A step of the loops may compute several vectors and several rows. A *point* is one of them: how far its vector is from
the first one of the step, its row, and its place in ranges that are unrolled. Equal ops on equal operands are emitted
once, so points share what they read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....ir import dims
from ....ir.accesses import address, slot_name
from ....ir.dims import LOOP, Size
from ....ir.forms import nest_arrays
from ....ir.functions import function_name
from ....ir.graph import Graph, Node, Value
from ....ir.indexing import Index
from ....ir.layouts import byte_strides
from ....ir.nest import ops
from ....ir.nest.scopes import inside, memory_of, nodes_in, variables
from ....ir.opdef import OpDef
from ....ir.ops import COMPLEX, CONSTANT, EACH, IMAG, REAL, SIZE
from ....ir.types import axis_groups, integer, sizes, texts
from ....ir.widths import widest
from ..code.frame import Frame
from ..code.memory import Buffer, Memory, part_buffer
from ..code.scopes import Nest
from ..code.text import Val
from ..elements.gather import Looked, checked_index, look_up
from ..elements.operations import IN_FLIGHT, Known, Operations
from ..functions import UNTILED, FrameWord, NativeFunction
from .flat import FlatRows, flat_rows
from .row_walks import Totals, across, walk
from .vector_loops import LoopPlace, VectorLoop

Point = tuple[int, ...]
Element = tuple[Value, Point]
LINE = 64  # bytes of a cache line
PARTS = {REAL: 0, IMAG: 1}


class RegionNest:
    """A region's nest while its function is written."""

    def __init__(self, region: Node, entries: dict[FrameWord, int]) -> None:
        assert region.code is not None
        self.region, self.code = region, region.code
        self.nest = Nest()
        self.nest.e.vector_bytes = integer(region.attrs, "width") * widest(region, integer(region.attrs, "vector"))
        self.nest.e.called = texts(region.attrs, "called")
        self.frame = Frame(self.nest, entries)
        self.memory = Memory(self.nest, self.frame, 0, "")
        self.operations = Operations(self.memory)
        self.slots = {value: slot for slot, value in enumerate(self.code.inputs)}
        self.buffers: dict[Value, Buffer] = {}
        self.bound = {LOOP + variables(n)[0].name: n for n in nodes_in(self.code) if n.op is ops.BIND}
        self.rows: tuple[str, int] | None = None  # the jammed loop around, and how many of its rows are in a step
        self.points: Sequence[Point] = ((0, 0),)
        self.unrolled: tuple[str, ...] = ()  # the variables of ranges that are unrolled
        self.are_single = False  # whether vector loops take one vector at a time
        self.is_stage = False  # whether the loops are part of a row that has others, too
        self.shared = shared_loops(self.code)
        self.flat: FlatRows | None = None  # the loops around that run as one
        self.totals: dict[Value, list[Totals]] = {}  # of walks: the lanes in each row of a step
        self.proxies: dict[Value, Value] = {}  # results of walks by the reductions that stand for them

    def function(self, name: str) -> NativeFunction:
        """Emits the function over the shared loops, whose ranges are its parameters."""
        shared = self.shared
        ranges = {n: (Val(f"%begin{k}", "i64", 0), Val(f"%end{k}", "i64", 0)) for k, n in enumerate(shared)}
        self.body(self.code, ranges)
        text = self.nest.function(name)
        extents = [*(_extent(n) for n in shared), 1, 1]
        grains = [*(integer(n.attrs, "grain") if "grain" in n.attrs else 1 for n in shared), 1, 1]
        tile = next((integer(n.attrs, "most") for n in shared if "most" in n.attrs), UNTILED)
        owners = tuple(self.known_owners())
        unit = _unit(self.region, len(shared))
        return NativeFunction(name, text, (extents[0], extents[1]), (grains[0], grains[1]), unit, tile, owners)

    def known_owners(self) -> list[tuple[int, object]]:
        """Attribute the code from some line on to values of the nest."""
        return [(count, self.proxies.get(v, v) if isinstance(v, Value) else v) for count, v in self.nest.e.owners]

    def body(self, graph: Graph, ranges: Mapping[Node, tuple[Val, Val]]) -> None:
        """Emits the loops, walks, stores and prefetches of a body in their order."""
        is_stage = self.is_stage
        self.is_stage = is_stage or sum(n.op in (ops.FOR, ops.WALK) for n in graph) > 1
        for node in graph:
            if node.op is ops.FOR:
                self.loop(node, ranges)
            elif node.op is ops.WALK:
                walk(self, node)
            elif node.op in EFFECTS:
                for point in self.points:
                    EFFECTS[node.op](self, node, point)
            elif len(self.points) > 1 and function_name(node) is not None:
                self.side_by_side(node)
        self.is_stage = is_stage

    def side_by_side(self, function: Node) -> None:
        """Emits a function for all points before the next one.

        A function is a chain of FMAs that wait for one another. The CPU looks only one or two functions ahead, so it
        should find other vectors there. LLVM keeps the order, because rare arguments are handled in branches.
        """
        for point in self.points:
            self.get(function.result, point)

    # -- loops

    def loop(self, node: Node, ranges: Mapping[Node, tuple[Val, Val]]) -> None:
        assert node.body is not None
        (variable,) = variables(node)
        kind, name, inner = node.attrs["kind"], LOOP + variable.name, node.body
        if any(n.op is ops.SCAN for n in inner):
            walk(self, node)
            return
        start, stop = ranges.get(node) or (self.number(variable.first), self.number(variable.end))
        if node in ranges and variable.first != 0:
            start, stop = (self.nest.e.op("add", x, self.number(variable.first)) for x in (start, stop))
        if node.attrs.get("flat") and (flat := flat_rows(self, node)) is not None:
            flat.run(start, stop)
            return
        if kind == "vector" and "width" in node.attrs and self.can_be_lanes(node):
            self.vector_loop(node, name, start, stop)
            return

        def step(at: Val, carried: list[Val]) -> list[Val]:
            self.body(inner, ranges)
            return []

        if kind == "jammed" and self.rows is None and "times" in node.attrs:
            self.jammed_loop(name, start, stop, integer(node.attrs, "times"), step)
        else:
            self.nest.loop(name, start, stop, 1, [], step)

    def can_be_lanes(self, loop: Node) -> bool:
        """Whether the steps of a loop can be lanes: no outer loop has lanes, and the inner loops run alike in all
        steps.
        """
        own = {LOOP + v.name for n in (loop, *inside(loop)) for v in variables(n) if n.op is not ops.WALK}
        ranges = [sizes(n.attrs, "range") for n in inside(loop) if n.op in (ops.FOR, ops.WALK)]
        return not self.memory.vector and not any(dims.symbols(size) & own for sizes in ranges for size in sizes)

    def number(self, size: Size) -> Val:
        """The end of a range, which may depend on the variables of loops around."""
        is_fixed = not any(map(_is_loop, dims.symbols(size)))
        return self.frame.size(size) if is_fixed else self.memory.number(size)[0]

    def jammed_loop(
        self, name: str, start: Val, stop: Val, times: int, step: Callable[[Val, list[Val]], list[Val]]
    ) -> None:
        """Emits steps of several rows, which share loads (unroll-and-jam), then a small loop for the remaining rows."""
        e = self.nest.e
        length = e.call("smax", e.op("sub", stop, start), e.const("i64", 0))
        end = e.op("sub", e.op("add", start, length), e.op("urem", length, e.const("i64", times)))
        self.rows, self.points = (name, times), [(0, row) for row in range(times)]
        self.nest.loop(name, start, end, times, [], step)
        self.rows, self.points, self.are_single = (name, 1), [(0, 0)], True
        self.nest.loop(name, end, stop, 1, [], step)
        self.rows, self.points, self.are_single = None, [(0, 0)], False

    def vector_loop(self, node: Node, name: str, start: Val, stop: Val) -> None:
        """Emits a loop whose step processes vectors, in all rows of the step around it."""
        assert node.body is not None
        body, around = node.body, self.points
        self.memory.vector, self.memory.width = name, integer(node.attrs, "width")

        def step(offsets: list[int]) -> None:
            self.points = [(offset, row) for offset in offsets for row in range(self.together)]
            self.body(body, {})

        times = integer(node.attrs, "times") if "times" in node.attrs and not self.are_single else 1
        stores = [n for n in body if n.op is ops.STORE]
        line = next((self.place(n) for n in stores if self.slot(n.operands[-1]) == node.attrs.get("line")), None)
        streamed = next((self.place(n) for n in stores if n.attrs.get("stream")), None)
        jammed = None if self.rows is None or self.together == 1 else self.rows[0]
        is_long = self.is_stage or (jammed is not None and any(n.op is ops.WALK for n in body))
        is_long = is_long or bool(self.region.attrs.get("called"))  # masks cost little beside calls
        steps = [times] if is_long or times == 1 else [times, 1]
        VectorLoop(self.memory, step, jammed).run(start, stop, steps, line, streamed)
        self.memory.vector, self.memory.width, self.points = "", 0, around

    @property
    def together(self) -> int:
        """How many rows are in a step."""
        return 1 if self.rows is None else self.rows[1]

    # -- memory

    def slot(self, value: Value) -> int | None:
        """The operand or result of the region that a buffer or a view belongs to, unless it is scratch memory."""
        return self.slots.get(memory_of(value))

    def place(self, access: Node, point: Point = (0, 0)) -> LoopPlace:
        """The memory of an access at a point."""
        value = access.operands[-1]
        if value not in self.buffers:
            self.buffers[value] = self.buffer(value)
        buffer, at = self.buffers[value], self.at(access, "at", point)
        if len(at) < len(buffer.strides):  # scratch memory in each lane
            at = (dims.symbol(self.memory.vector) + point[0], *at)
        return LoopPlace(buffer, at)

    def buffer(self, value: Value) -> Buffer:
        """The memory of a buffer, or of a view that collapses axes of it."""
        slot = self.slot(value)
        if slot is None:
            return self.scratch(value)
        read, layouts = nest_arrays(self.region)
        dtype, shape = value.type.dtype, self.code.inputs[slot].type.shape
        layout = layouts[slot]
        if slot >= len(read):  # a product is not a word of the frame
            slot -= len(read) - len(self.region.operands)
        strides = byte_strides(layout, shape, dtype.size, slot_name(slot))
        if value.node is not None:
            groups = axis_groups(value.node.attrs, "collapse")
            strides = tuple(next((strides[a] for a in reversed(g) if strides[a] != 0), 0) for g in groups)
        return Buffer(self.frame.pointer(slot), strides, dtype)  # arrays may have any address

    def scratch(self, value: Value) -> Buffer:
        """Scratch memory for the columns of one row, or of one step of vectors of rows; every step uses it again."""
        size: Size = value.type.dtype.size
        strides = list[Size]()
        vectors = (n for n in nodes_in(self.code) if n.attrs.get("kind") == "vector" and "width" in n.attrs)
        loop = next((n for n in vectors if any(x is value.node for x in inside(n))), None)
        if loop is not None:
            times = integer(loop.attrs, "times") if "times" in loop.attrs else 1
            size = size * integer(loop.attrs, "width") * times
        for extent in reversed(value.type.shape):
            strides.insert(0, size)
            size = size * extent
        lanes = [value.type.dtype.size] if loop is not None else []
        return Buffer(self.frame.scratch(size), (*lanes, *strides), value.type.dtype, is_scratch=loop is not None)

    def at(self, node: Node, name: str, point: Point) -> Index:
        """The sizes in an attribute, moved to a point."""
        index, (offset, row, *taps) = sizes(node.attrs, name), point
        moved: dict[str, Size] = dict(zip(self.unrolled, taps, strict=True)) if taps else {}
        if offset:
            moved[self.memory.vector] = dims.symbol(self.memory.vector) + offset
        if row and self.rows is not None:
            moved[self.rows[0]] = dims.symbol(self.rows[0]) + row
        return tuple(dims.substitute(size, moved) for size in index) if moved else tuple(index)

    def store(self, node: Node, point: Point) -> None:
        with self.nest.e.writing(node.operands[0]):
            self.write(node, point)

    def write(self, node: Node, point: Point) -> None:
        value, place = node.operands[0], self.place(node, point)
        if place.buffer.dtype.kind != "complex":
            self.memory.store(*place, self.get(value, point))
            return
        assert value.node is not None and value.node.op is COMPLEX
        re, im = (self.get(part, point) for part in value.node.operands)
        self.memory.store_parts(*place, re, im)

    def fetch(self, node: Node, point: Point) -> None:
        e, (buffer, index) = self.nest.e, self.place(node, point)
        if point[0] * buffer.dtype.size % LINE:  # a cache line is fetched once
            return
        pointer, _ = self.memory.pointer(buffer, address(index, buffer.strides))
        e.prefetch(pointer, integer(node.attrs, "level"))

    # -- numbers

    def get(self, value: Value, point: Point) -> Val:
        """Emits a number at a point, operands first."""
        return self.operations.demand((value, point), self.needs, self.make)

    def needs(self, element: Element) -> list[Element]:
        value, point = element
        node = value.node
        assert node is not None
        if node.op in (ops.WALK, ops.ACROSS):
            return []
        if node.op in PARTS and _is_load(node.operands[0]):
            node = node.operands[0].node
            assert node is not None
        if node.op is ops.LOAD:
            return [(n.operands[0], point) for n in self.binds(node).values()]
        return [(v, point) for v in node.operands]

    def binds(self, load: Node) -> dict[str, Node]:
        """The numbers from data in the index of a load, by name."""
        if not self.bound:
            return {}
        names = sorted({name for size in sizes(load.attrs, "at") for name in dims.symbols(size)})
        return {name: self.bound[name] for name in names if name in self.bound}

    def make(self, element: Element, operands: list[Known]) -> Known | None:
        """Emits a number whose operands are known."""
        with self.nest.e.writing(element[0]):
            return self.made(*element, operands)

    def made(self, value: Value, point: Point, operands: list[Known]) -> Known | None:
        node = value.node
        assert node is not None
        if node.op in (ops.WALK, ops.ACROSS):  # of the row, so the same in all vectors
            return self.operations.known((value, (0, point[1])))
        if node.op is EACH:
            self.each(node, point)
            return None
        if node.op is CONSTANT:  # 0.0 and -0.0 are equal attributes
            return self.operations.compute(node, operands)
        if node.op is SIZE:
            return self.remembered(("number", self.at(node, "size", point)), lambda key: self.memory.number(key[1][0]))
        part = PARTS.get(node.op) if node.operands and _is_load(node.operands[0]) else None
        load = node if part is None else node.operands[0].node
        assert load is not None
        if load.op is ops.LOAD:
            place = self.place(load, point)
            of_data = (x.text for x, _ in operands)
            return self.remembered(("load", *place, part, *of_data), lambda key: self.load(load, place, part, operands))
        attrs = tuple(node.attrs.items()) if node.attrs else ()
        dtypes = tuple(v.type.dtype for v in (*node.operands, *node.results))
        key = (node.op, attrs, dtypes, *(x for x, _ in operands))
        return self.remembered(key, lambda key: self.operations.compute(node, operands))

    def remembered(self, key: tuple[object, ...], make: Callable[..., Known]) -> Known:
        """Emit a number unless an equal one is known."""
        found = self.nest.find(key)
        if found is None:
            found = make(key)
            found[1].memo[key] = found[0]
        return found

    def load(self, load: Node, place: LoopPlace, part: int | None, given: list[Known]) -> Known:
        binds = self.binds(load)
        if self.flat is not None and place in self.flat.copies:
            return self.flat.load(place)
        if not binds:
            return self.memory.load(*place) if part is None else self.memory.load_part(*place, part)
        looked = dict[str, Looked]()
        for (name, node), (x, scope) in zip(binds.items(), given, strict=True):
            looked[name] = checked_index(self.memory, x, scope, variables(node)[0].end, wraps=False)
        buffer = place.buffer if part is None else part_buffer(place.buffer, part)
        return look_up(self.memory, buffer, place.at, looked)

    def each(self, node: Node, point: Point) -> None:
        """Emit all results of an `each` body, here and for the next vectors of the same row."""
        later = [p for p in self.points if p[1] == point[1] and p[0] > point[0]]
        found = dict[tuple[Known, ...], list[Point]]()
        for at in (point, *later[: IN_FLIGHT - 1]):
            for value in node.operands:
                self.get(value, at)
            found.setdefault(tuple(self.operations.known((v, at)) for v in node.operands), []).append(at)
        results, scope = self.operations.each(node, list(found))
        for value, several in zip(node.results, results, strict=True):
            for points, result in zip(found.values(), several, strict=True):
                scope.memo.update({(value, at): result for at in points})


EFFECTS: Mapping[OpDef, Callable[[RegionNest, Node, Point], None]] = {
    ops.STORE: RegionNest.store, ops.FETCH: RegionNest.fetch, ops.ACROSS: across,
}  # fmt: skip


def _unit(region: Node, shared: int) -> Size:
    """The estimated time of one step of the loops that threads share."""
    space, groups = sizes(region.attrs, "space"), axis_groups(region.attrs, "rows")[shared:]
    columns = axis_groups(region.attrs, "columns")
    return dims.product(space[axis] for group in (*groups, *columns) for axis in group) * integer(region.attrs, "cost")


def shared_loops(nest: Graph) -> list[Node]:
    """The loops that threads share, outermost first."""
    return [n for n in nodes_in(nest) if n.attrs.get("shared")]


def _is_loop(name: str) -> bool:
    return name.startswith(LOOP)


def _extent(loop: Node) -> Size:
    (variable,) = variables(loop)
    return variable.end - variable.first


def _is_load(value: Value) -> bool:
    return value.node is not None and value.node.op is ops.LOAD

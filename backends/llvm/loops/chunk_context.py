"""Hold what the functions of a region with columns in chunks share: rows, elements, and the memory between them.

The loops over rows are outside. For each row (or, if vectors run along a row axis, for each vector of rows) a function
walks the columns of a chunk, or joins what chunks have left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....ir import dims
from ....ir.accesses import address, coefficient, home_index, region_elements, region_position
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.forms import RESULT, ROW, vectors_at_once, walks_along_vectors
from ....ir.graph import Node, Value
from ....ir.indexing import Index, loop_name, loop_variables
from ....ir.stages import finds_first, needed_in, region_stages
from ....ir.types import axis_groups, integer, ints, sizes, texts
from ....ir.widths import widest
from ..code.frame import Frame
from ..code.memory import Buffer
from ..code.scopes import Nest
from ..code.text import Val
from ..elements.evaluate import Elements
from ..elements.operations import IN_FLIGHT
from ..functions import UNTILED, FrameWord, NativeFunction
from ..reductions.accumulators import Accumulators
from .columns import EXACT_STEPS, ColumnLoops, Columns, Reduction, StageCode, TreeBlocks, positions_in
from .vector_loops import LoopPlace, VectorLoop

Group = tuple[int, ...]
LINE = 64  # bytes of a cache line


def may_stop(region: Node, reductions: list[Node], outputs: list[tuple[int, Value]]) -> bool:
    """Whether a walk may end early. A single word says where it ended, so there are no rows."""
    return bool(region.attrs.get("early_exit")) and not region.attrs["rows"] and finds_first(reductions, outputs)


class Chunked:
    """One stage of a region while a function of it is written. Functions share the words of the frame, `entries`.

    Without `keeps`, no earlier stage has written the values that the plan keeps.
    """

    def __init__(self, region: Node, entries: dict[FrameWord, int], stage: int, keeps: bool = True) -> None:
        attrs = region.attrs
        self.region, self.stage = region, stage
        self.space, self.reduced = tuple(sizes(attrs, "space")), ints(attrs, "reduced")
        self.rows, self.columns = axis_groups(attrs, "rows"), axis_groups(attrs, "columns")
        self.vector, self.width = integer(attrs, "vector"), integer(attrs, "width")
        self.unroll, self.cost = integer(attrs, "unroll"), integer(attrs, "cost")
        self.across_columns = walks_along_vectors(region)
        self.chunk, self.chunk_blocks = len(self.space), integer(attrs, "chunk")  # chunks are counted along this axis
        # Lines that one step adds up, the axis that they lie along, and the one that code is emitted for.
        self.at_once, self.jammed, self.down = 1, -1, 0
        self.nest = Nest()
        self.nest.e.vector_bytes = self.width * widest(region, self.vector)
        self.nest.e.called = texts(attrs, "called")
        self.frame = Frame(self.nest, entries)
        self.stages = region_stages(region)
        self.reductions = [n for reductions in self.stages.reductions for n in reductions]
        self.elements = Elements(region, self.nest, self.frame, self.width, self.vector)
        self.elements.stage = stage
        places = {n.result: str(n.attrs["keep"]) for n in region.body or () if "keep" in n.attrs}
        of_rows = {place: v for v, place in places.items() if place.startswith(ROW)}
        self.of_rows = {v: self.row_buffer(name, v) for name, v in sorted(of_rows.items())}
        earlier = [n for reductions in self.stages.reductions[:stage] for n in reductions]
        kept = self.kept_results(places) if keeps else {}
        self.elements.kept = {**kept, **{n.result: (self.result(n), 0) for n in earlier}}

    def kept_results(self, places: Mapping[Value, str]) -> dict[Value, tuple[Buffer, int]]:
        """The values that the plan keeps in results between stages, with the buffer and the stage that writes it."""
        slots = {v: int(p.removeprefix(RESULT)) for v, p in places.items() if p.startswith(RESULT)}
        needed = needed_in(self.region, self.stages, {}) if slots else {}
        first = len(self.region.operands)
        return {v: (self.elements.operand(first + slots[v]), min(s)) for v, s in needed.items() if v in slots}

    # -- functions

    def over_rows(self, name: str, time: Size) -> NativeFunction:
        """Emits a function over all rows; `time` is the estimated time of one row."""
        self.row_loops(list(self.rows), dict(zip(self.rows, self.parameters(), strict=False)))
        outer, inner = [*self.rows[:2], *[()] * (2 - len(self.rows))][:2]
        return self.part(name, outer, inner, dims.product(self.extent(g) for g in self.rows[2:]) * time)

    def parameters(self) -> list[tuple[Val, Val]]:
        """The parameters of a function: the ranges of its two outer loops."""
        return [(Val(f"%begin{k}", "i64", 0), Val(f"%end{k}", "i64", 0)) for k in range(2)]

    def part(self, name: str, outer: Group, inner: Group, unit: Size) -> NativeFunction:
        """Finishes the function, whose two outer loops run over these groups."""
        extents, grains = (self.extent(outer), self.extent(inner)), (self.grain(outer), self.grain(inner))
        return NativeFunction(name, self.nest.function(name), extents, grains, unit, UNTILED, tuple(self.nest.e.owners))

    def extent(self, group: Group) -> Size:
        return self.chunks() if group == (self.chunk,) else dims.product(self.space[axis] for axis in group)

    def grain(self, group: Group) -> int:
        """How many iterations of a row loop one step takes."""
        return self.width * self.unroll if self.vector in group else 1

    # -- rows

    def row_loops(self, groups: Sequence[Group], ranges: Mapping[Group, tuple[Val, Val]]) -> None:
        """Emit the loops over some groups from the outside in. Vectors of rows get a main loop and a masked one.

        Groups without a range run in full.
        """
        if not groups:
            self.row([0])
            return
        group, *inner = groups
        start, stop = ranges.get(group) or (self.frame.size(0), self.frame.size(self.extent(group)))
        if inner or self.across_columns:

            def step(at: Val, carried: list[Val]) -> list[Val]:
                self.row_loops(inner, ranges)
                return []

            self.nest.loop(loop_name(group[-1]), start, stop, 1, [], step)
            return
        steps = [self.unroll, 1] if self.unroll > 1 else [1]
        streamed = self.first_output() if self.region.attrs.get("stream") else None
        jammed = loop_name(self.jammed) if self.at_once > 1 else None
        VectorLoop(self.elements.memory, self.row, jammed).run(start, stop, steps, self.line_of_rows(), streamed)

    def row(self, offsets: list[int]) -> list[Val]:
        """Emits what the function does for one row, or for the vectors of rows at these offsets."""
        self.visit([], self.outputs_of_rows(), offsets)
        return []

    def outputs_of_rows(self) -> list[tuple[int, Value]]:
        """The outputs that loops over rows alone write."""
        return []

    def first_output(self) -> LoopPlace | None:
        """Where the first of these outputs is stored."""
        outputs = self.outputs_of_rows()
        return LoopPlace(self.elements.operand(outputs[0][0]), self.home(outputs[0][1], 0)) if outputs else None

    def line_of_rows(self) -> LoopPlace | None:
        """The memory at whose cache lines whole vectors of rows begin."""
        return self.first_output() if "peel" in self.region.attrs else None

    def home(self, value: Value, offset: int) -> Index:
        """The index of this iteration's element of a value, moved along the vector axis."""
        index = home_index(self.space, self.reduced, value.type.shape)
        assert index is not None
        steps = {self.vector: offset, self.jammed: self.down}
        moved = {loop_name(axis): dims.symbol(loop_name(axis)) + step for axis, step in steps.items() if step}
        return tuple(dims.substitute(i, {**self.variables_of_groups(), **moved}) for i in index)

    def variables_of_groups(self) -> dict[str, Size]:
        """The variables of axes that are collapsed into the axis after them."""
        return {loop_name(axis): 0 for group in (*self.rows, *self.columns) for axis in group[:-1]}

    def together(self, offsets: list[int]) -> Iterator[int]:
        """Yield each offset once for every line of the step; `elements.ahead` has the offsets that follow."""
        for k, offset in enumerate(offsets):
            self.elements.ahead = [later - offset for later in offsets[k + 1 : k + IN_FLIGHT]]
            for down in range(self.at_once):
                self.down = down
                yield offset
        self.elements.ahead, self.down = (), 0

    def visit(
        self, reductions: list[Node], outputs: list[tuple[int, Value]], offsets: list[int]
    ) -> dict[Node, list[Val]]:
        """Stores the outputs of this iteration, and returns the operands of reductions."""
        get = self.elements.get
        for slot, value in outputs:
            for offset in self.together(offsets):
                self.elements.write(slot, value, self.home(value, offset))
        return {
            n: [get(n.operands[0], self.home(n.operands[0], k)) for k in self.together(offsets)] for n in reductions
        }

    # -- columns

    def walker(self, offsets: Sequence[int], part: TreeBlocks | None = None) -> Columns:
        """The walk over the columns for the reductions and outputs of the stage."""
        reductions, outputs = self.stages.reductions[self.stage], self.stages.outputs[self.stage]
        return Columns(self.column_loops(self.column_offsets(offsets), reductions, outputs), reductions, [], part)

    def column_offsets(self, offsets: Sequence[int]) -> list[int]:
        """The offsets of the vectors in one step; along the columns the lanes of the trees decide how many."""
        if not self.across_columns:
            return list(offsets)
        return [self.width * k for k in range(vectors_at_once(self.region, self.stages.reductions[self.stage]))]

    def column_loops(self, offsets: list[int], reductions: list[Node], outputs: list[tuple[int, Value]]) -> ColumnLoops:
        """The walk over the columns for some reductions and outputs."""
        attrs, columns = self.region.attrs, tuple((loop_name(g[-1]), 0, self.extent(g)) for g in self.columns)

        def visit(nodes: list[Node], at: list[int], writes: bool) -> dict[Node, list[Val]]:
            return self.visit(nodes, outputs if writes else [], at)

        def fetches() -> None:
            if not self.across_columns and "prefetch" in attrs:
                self.fetch(offsets, columns[-1][0], *ints(attrs, "prefetch"))

        is_aligned, memory = "peel" in attrs and not outputs, self.elements.memory
        walked = [axis for group in self.columns for axis in group]
        position = dims.substitute(region_position(self.region), self.variables_of_groups())
        return ColumnLoops(
            self.nest, self.frame, memory, columns, offsets, StageCode(visit, positions_in(memory, position), fetches),
            self.across_columns, self.frame.size,
            in_order=walked == sorted(walked),
            is_whole=not self.rows,
            may_stop=may_stop(self.region, reductions, outputs),
            is_narrow=not self.across_columns and len(columns) == 1,
            line=(lambda: self.read_along((integer(attrs, "peel"),))) if is_aligned else None,
        )  # fmt: skip

    def fetch(self, offsets: list[int], variable: str, ahead: int, level: int) -> None:
        """Prefetch, into a cache level, what the region will read some steps later at these vectors."""
        assert self.region.body is not None
        later = {variable: dims.symbol(variable) + ahead}
        for slot, value in enumerate(self.region.body.inputs):
            buffer, size = self.elements.operand(slot), value.type.dtype.size
            if value.type.shape != self.space or buffer.strides[self.vector] != size:
                continue
            for offset in range(offsets[0], offsets[-1] + self.width, max(1, LINE // size)):
                index = tuple(dims.substitute(i, later) for i in self.home(value, offset))
                pointer, _ = self.elements.memory.pointer(buffer, address(index, buffer.strides))
                self.nest.e.prefetch(pointer, level)

    def read_along(self, slots: Sequence[int]) -> LoopPlace | None:
        """The first of some operands that vectors lie along, at the index at which it is read."""
        joined = self.variables_of_groups()
        for value, index in region_elements(self.region):
            slot, index = self.elements.slots.get(value), tuple(dims.substitute(i, joined) for i in index)
            if slot is None or slot not in slots:
                continue
            buffer = self.elements.operand(slot)
            if coefficient(address(index, buffer.strides), self.vector) == buffer.dtype.size:
                return LoopPlace(buffer, index)
        return None

    # -- chunks

    def chunks(self) -> Size:
        return dims.floordiv(self.blocks() + self.chunk_blocks - 1, self.chunk_blocks)

    def blocks(self) -> Size:
        """How many blocks the columns have."""
        *outer, inner = (self.extent(group) for group in self.columns)
        block = self.block_size()
        return dims.product(outer) * dims.floordiv(inner + block - 1, block)

    def block_size(self) -> int:
        reductions = self.stages.reductions[self.stage]
        steps = max([integer(n.attrs, "steps") for n in reductions], default=0) or EXACT_STEPS
        return self.width * len(self.column_offsets([0])) * steps if self.across_columns else steps

    # -- memory that functions share

    def row_strides(self, itemsize: Size) -> tuple[list[Size], Size]:
        """The strides of the row axes, dense in the order of the loops, and the total size."""
        strides: list[Size] = [0] * len(self.space)
        for group in reversed(self.rows):
            strides[group[-1]] = itemsize
            itemsize = itemsize * self.extent(group)
        return strides, itemsize

    def result(self, node: Node) -> Buffer:
        """The memory where later functions find the results of a reduction."""
        return self.row_buffer(f"result {self.reductions.index(node)}", node.result)

    def row_buffer(self, name: str, value: Value) -> Buffer:
        """Memory for a value that each row has."""
        dtype = value.type.dtype
        strides, size = self.row_strides(dtype.size)
        is_whole = value.type.rank == len(self.space)
        own = tuple(stride for axis, stride in enumerate(strides) if is_whole or axis not in self.reduced)
        return Buffer(self.frame.shared(name, size), own, dtype)

    def partials(self, sums: Reduction) -> list[Buffer]:
        """The memory for the chunks' partial results: all lanes for a row, or one number for each row of a vector."""
        is_spread = self.across_columns and isinstance(sums, Accumulators)
        lanes, number = integer(sums.node.attrs, "lanes") if is_spread else 1, self.reductions.index(sums.node)
        return [self.of_chunks(f"partial {number} {k}", dtype, lanes) for k, dtype in enumerate(sums.kinds)]

    def of_chunks(self, name: str, dtype: DType, lanes: int = 1) -> Buffer:
        """Memory for the partial results of each chunk of each row."""
        strides, size = self.row_strides(dtype.size * lanes)
        return Buffer(self.frame.shared(name, size * self.chunks()), (*strides, size), dtype)

    def place(self, offset: int) -> tuple[Size, ...]:
        """The index of this chunk's and this row's totals."""
        joined = {loop_name(axis): 0 for group in self.rows for axis in group[:-1]}
        moved = {loop_name(self.vector): dims.symbol(loop_name(self.vector)) + offset} if offset else {}
        index = (dims.substitute(i, {**joined, **moved}) for i in loop_variables(self.space))
        own = tuple(0 if axis in self.reduced else i for axis, i in enumerate(index))
        return (*own, dims.symbol(loop_name(self.chunk)))

    # -- a walk that may end early: one word holds the earliest chunk after which nothing matters

    def over(self) -> Val:
        pointer = self.frame.shared(f"over {self.stage}", 8)
        return self.nest.e.emit(f"load atomic i64, ptr {pointer.text} monotonic, align 8", "i64", 0)

    def set_over(self, chunk: Val) -> None:
        pointer = self.frame.shared(f"over {self.stage}", 8)
        self.nest.e.lines.append(f"  store atomic {chunk.typed}, ptr {pointer.text} monotonic, align 8")

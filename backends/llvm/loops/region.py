"""Lower a scheduled region to one native function.

The outer loops run over rows. For each row (or, if vectors run along a row axis, for each vector of rows) the stages
run one after another: a stage walks the columns, updates the reductions whose operands are known, and stores
the known results. Results of rows are stored last. A region without reductions and scans is all rows and has no
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ....ir import dims
from ....ir.accesses import address, coefficient, home_index, region_elements, region_position
from ....ir.dims import Size
from ....ir.forms import RESULT, vectors_at_once
from ....ir.graph import Node, Value
from ....ir.indexing import Index, loop_name
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
from ..reductions.accumulators import alone
from .column_loops import ColumnLoops, StageCode, positions_in
from .vector_loops import LoopPlace, VectorLoop, lane_mask

LINE = 64  # bytes of a cache line


class Region:
    """One region while a function of it is written. Its functions share the words of the frame, `entries`."""

    def __init__(self, region: Node, entries: dict[FrameWord, int]) -> None:
        self.region = region
        self.space, self.reduced = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
        self.rows, self.columns = axis_groups(region.attrs, "rows"), axis_groups(region.attrs, "columns")
        self.vector, self.width = integer(region.attrs, "vector"), integer(region.attrs, "width")
        self.unroll, self.cost = integer(region.attrs, "unroll"), integer(region.attrs, "cost")
        self.across_columns = bool(self.columns) and self.columns[-1][-1] == self.vector
        walked = [axis for group in self.columns for axis in group]
        self.walks_in_order = walked == sorted(walked)  # C order
        self.jammed, self.jam = ints(region.attrs, "jam") if "jam" in region.attrs else (-1, 1)
        self.at_once, self.down = 1, 0  # rows computed in one step, and the one that code is emitted for
        self.may_end_early = True  # whether a search for the first true element stops when it is found
        self.nest = Nest()
        self.nest.e.vector_bytes = self.width * widest(region, self.vector)
        self.nest.e.called = texts(region.attrs, "called")
        self.frame = Frame(self.nest, entries)
        self.elements = Elements(region, self.nest, self.frame, self.width, self.vector)
        self.stages = region_stages(region)
        self.elements.kept = self.kept_results()

    def kept_results(self) -> dict[Value, tuple[Buffer, int]]:
        """The values that the plan keeps in results between stages, with the buffer and the stage that writes it."""
        kept = {n.result: str(n.attrs["keep"]) for n in self.region.body or () if "keep" in n.attrs}
        slots = {v: int(p.removeprefix(RESULT)) for v, p in kept.items() if p.startswith(RESULT)}
        needed = needed_in(self.region, self.stages, {}) if slots else {}
        first = len(self.region.operands)
        return {v: (self.elements.operand(first + slots[v]), min(s)) for v, s in needed.items() if v in slots}

    def function(self, name: str) -> NativeFunction:
        """Emits the function that runs all stages of each row."""
        return self.over_rows(name, dims.product(self.extent(g) for g in self.columns) * self.cost)

    def over_rows(self, name: str, time: Size) -> NativeFunction:
        """Emits a function over all rows; `time` is the estimated time of one row."""
        self.row_loops(list(self.rows), dict(zip(self.rows, self.parameters(), strict=False)))
        outer, inner = [*self.rows[:2], *[()] * (2 - len(self.rows))][:2]
        return self.part(name, outer, inner, dims.product(self.extent(g) for g in self.rows[2:]) * time)

    def parameters(self) -> list[tuple[Val, Val]]:
        """The parameters of a function: the ranges of its two outer loops."""
        return [(Val(f"%begin{k}", "i64", 0), Val(f"%end{k}", "i64", 0)) for k in range(2)]

    def part(self, name: str, outer: tuple[int, ...], inner: tuple[int, ...], unit: Size) -> NativeFunction:
        """Finishes the function, whose two outer loops run over these groups."""
        extents = (self.extent(outer), self.extent(inner))
        tile = integer(self.region.attrs, "tile") if "tile" in self.region.attrs else UNTILED
        piece = (*ints(self.region.attrs, "piece"), 1)[:2] if "piece" in self.region.attrs else (1, 1)
        grains = max(self.grain(outer), piece[0]), max(self.grain(inner), piece[1])
        return NativeFunction(name, self.nest.function(name), extents, grains, unit, tile, tuple(self.nest.e.owners))

    # -- rows

    def extent(self, group: tuple[int, ...]) -> Size:
        return dims.product(self.space[axis] for axis in group)

    def grain(self, group: tuple[int, ...]) -> int:
        """How many iterations of a row loop one step takes."""
        if self.jammed in group:
            return self.jam
        return self.width * self.unroll if self.vector in group else 1

    def row_loops(self, groups: list[tuple[int, ...]], ranges: Mapping[tuple[int, ...], tuple[Val, Val]]) -> None:
        """Emits the loops over the row groups from the outside in; vectors of rows get a main loop and a masked one.

        Groups without a range run in full.
        """
        if not groups:
            self.row([0])
            return
        group, *inner = groups
        variable = loop_name(group[-1])
        start, stop = ranges.get(group) or (self.frame.size(0), self.frame.size(self.extent(group)))
        if inner or self.across_columns:

            def step(at: Val, carried: list[Val]) -> list[Val]:
                self.row_loops(inner, ranges)
                return []

            if group[-1] == self.jammed:
                self.jammed_loop(variable, start, stop, step)
            else:
                self.nest.loop(variable, start, stop, 1, [], step)
            return
        # Unrolled windows of several rows are a lot of code.
        in_singles = self.unroll > 1 and not (self.columns and self.at_once > 1)
        line = self.line_of_rows()
        streamed = self.first_output(self.outputs_of_rows()) if self.region.attrs.get("stream") else None
        self.vectors.run(start, stop, [self.unroll, 1] if in_singles else [self.unroll], line, streamed)

    @property
    def vectors(self) -> VectorLoop:
        return VectorLoop(self.elements.memory, self.row, loop_name(self.jammed) if self.at_once > 1 else None)

    def first_output(self, outputs: Sequence[tuple[int, Value]]) -> LoopPlace | None:
        """Where the first of some outputs is stored."""
        return LoopPlace(self.elements.operand(outputs[0][0]), self.home(outputs[0][1], 0)) if outputs else None

    def line_of_rows(self) -> LoopPlace | None:
        """The memory at whose cache lines whole vectors of rows begin."""
        return self.first_output(self.outputs_of_rows()) if "peel" in self.region.attrs else None

    def jammed_loop(self, variable: str, start: Val, stop: Val, step: Callable[[Val, list[Val]], list[Val]]) -> None:
        """Emits steps of several rows, which share loads (unroll-and-jam), then a small loop for the remaining rows."""
        e, self.at_once = self.nest.e, self.jam
        length = e.call("smax", e.op("sub", stop, start), e.const("i64", 0))
        end = e.op("sub", e.op("add", start, length), e.op("urem", length, e.const("i64", self.jam)))
        self.nest.loop(variable, start, end, self.jam, [], step)
        self.at_once, self.unroll, unroll = 1, 1, self.unroll
        self.nest.loop(variable, end, stop, 1, [], step)
        self.unroll = unroll

    def masked(self, at: Val, stop: Val, body: Callable[[], list[Val]]) -> list[Val]:
        self.elements.memory.mask = lane_mask(self.nest.e, self.width, at, stop)
        result = body()
        self.elements.memory.mask = None
        return result

    def outputs_of_rows(self) -> list[tuple[int, Value]]:
        """The outputs to write if there are only rows."""
        return [] if self.columns else self.stages.outputs[0]

    def row(self, offsets: list[int]) -> list[Val]:
        """Emits all stages of one row, or of the vectors of rows at these offsets."""
        for stage in range(self.stages.stage_count):
            self.elements.stage = stage
            self.run_stage(stage, offsets)
        self.elements.stage = self.stages.stage_count
        for slot, value in self.stages.row_outputs:
            for offset in self.together(offsets):
                index = self.home(value, offset)
                self.elements.write(slot, value, index)
        return []

    def home(self, value: Value, offset: int) -> Index:
        """The index of this iteration's element of a value, moved along the vector axis."""
        index = home_index(self.space, self.reduced, value.type.shape)
        assert index is not None
        return tuple(dims.substitute(i, {**self.variables_of_groups(), **self.shifted(offset)}) for i in index)

    def shifted(self, offset: int) -> dict[str, Size]:
        """The loop variables, shifted to this vector and this row of the step."""
        steps = {self.vector: offset, self.jammed: self.down}
        return {loop_name(axis): dims.symbol(loop_name(axis)) + step for axis, step in steps.items() if step}

    def variables_of_groups(self) -> dict[str, Size]:
        """The variables of axes that are collapsed into the axis after them."""
        return {loop_name(axis): 0 for group in (*self.rows, *self.columns) for axis in group[:-1]}

    # -- columns

    def run_stage(self, stage: int, offsets: list[int]) -> None:
        """Emits a stage of a region without columns, whose reductions have one element each."""
        reductions = self.stages.reductions[stage]
        found = self.visit(reductions, self.stages.outputs[stage], offsets)
        for node in reductions:
            for offset, x in zip(offsets, found[node], strict=True):
                self.elements.put(node.result, self.home(node.result, offset), alone(self.nest.e, node, x))

    def column_offsets(self, stage: int, offsets: list[int]) -> list[int]:
        """The offsets of the vectors in one step; along the columns the lanes of the trees decide how many."""
        if not self.across_columns:
            return offsets
        return [self.width * k for k in range(vectors_at_once(self.region, self.stages.reductions[stage]))]

    def may_stop(self, reductions: list[Node], outputs: list[tuple[int, Value]]) -> bool:
        """Whether a walk may end early."""
        return bool(self.region.attrs.get("early_exit")) and self.may_end_early and finds_first(reductions, outputs)

    def column_loops(self, offsets: list[int], reductions: list[Node], outputs: list[tuple[int, Value]]) -> ColumnLoops:
        """The walk over the columns for some reductions and outputs."""
        attrs, columns = self.region.attrs, tuple((loop_name(g[-1]), 0, self.extent(g)) for g in self.columns)

        def visit(nodes: list[Node], at: list[int], writes: bool) -> dict[Node, list[Val]]:
            return self.visit(nodes, outputs if writes else [], at)

        def fetches() -> None:
            if not self.across_columns and "prefetch" in attrs:
                self.fetch(offsets, columns[-1][0], *ints(attrs, "prefetch"))

        is_aligned, memory = "peel" in attrs and not outputs, self.elements.memory
        position = dims.substitute(region_position(self.region), self.variables_of_groups())
        code = StageCode(visit, positions_in(memory, position), fetches)
        return ColumnLoops(
            self.nest, self.frame, memory, columns, offsets, code, self.across_columns, self.frame.size,
            rows=self.at_once,
            in_order=self.walks_in_order,
            is_whole=not self.rows,
            may_stop=self.may_stop(reductions, outputs),
            is_narrow=not self.across_columns and len(columns) == 1 and "chunk" in attrs,
            line=(lambda: self.read_along((integer(attrs, "peel"),))) if is_aligned else None,
        )  # fmt: skip

    def fetch(self, offsets: list[int], variable: str, ahead: int, level: int) -> None:
        """Prefetch what the region reads some steps later, at these vectors, into a cache level."""
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

    def visit(
        self, reductions: list[Node], outputs: list[tuple[int, Value]], offsets: list[int]
    ) -> dict[Node, list[Val]]:
        """Stores the outputs of this iteration, and returns the operands of reductions."""
        get = self.elements.get
        for slot, value in outputs:
            for offset in self.together(offsets):
                index = self.home(value, offset)
                self.elements.write(slot, value, index)
        return {
            n: [get(n.operands[0], self.home(n.operands[0], k)) for k in self.together(offsets)] for n in reductions
        }

    def together(self, offsets: list[int]) -> Iterator[int]:
        """Yields each offset once for every row of the step; `elements.ahead` has the offsets that follow."""
        for k, offset in enumerate(offsets):
            self.elements.ahead = [later - offset for later in offsets[k + 1 : k + IN_FLIGHT]]
            for down in range(self.at_once):
                self.down = down
                yield offset
        self.elements.ahead, self.down = (), 0

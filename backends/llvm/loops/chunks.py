"""Emit a stage whose columns are shared between threads in chunks.

A chunk consists of whole blocks of the reduction trees. A first function walks chunks and stores partial results. A
second one joins these in the order of the tree, so the result has the same bits as that of a single walk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....ir import dims
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.forms import ROW
from ....ir.graph import Node, Value
from ....ir.indexing import loop_name, loop_variables
from ....ir.types import integer
from ..code.memory import Buffer
from ..code.text import Val
from ..functions import FrameWord, NativeFunction
from ..reductions.accumulators import Accumulators
from .columns import EXACT_STEPS, Columns, Reduction, TreeBlocks
from .region import Region

JOIN = 60  # picoseconds to read and combine a byte of a chunk's partial results


class Chunked(Region):
    """What walks and joins share: the memory for the results of chunks and of reductions."""

    def __init__(self, region: Node, entries: dict[FrameWord, int], stage: int, keeps: bool = True) -> None:
        super().__init__(region, entries)
        self.stage = stage
        self.may_end_early = not self.rows  # one word tells where the walk ended; there is none for each row
        self.elements.stage = stage
        # A value that no earlier stage has written is not kept.
        self.elements.kept = self.elements.kept if keeps else {}
        self.chunk = len(self.space)  # the axis that chunks are counted along
        self.chunk_blocks = integer(region.attrs, "chunk")
        earlier = [n for reductions in self.stages.reductions[:stage] for n in reductions]
        self.elements.kept = {**self.elements.kept, **{n.result: (self.result(n), 0) for n in earlier}}
        kept = {str(n.attrs["keep"]): n.result for n in region.body or () if "keep" in n.attrs}
        self.of_rows = {v: self.row_buffer(name, v) for name, v in sorted(kept.items()) if name.startswith(ROW)}

    def row_strides(self, itemsize: Size) -> tuple[list[Size], Size]:
        """The strides of the row axes, dense in the order of the loops, and the total size."""
        strides: list[Size] = [0] * len(self.space)
        for group in reversed(self.rows):
            strides[group[-1]] = itemsize
            itemsize = itemsize * self.extent(group)
        return strides, itemsize

    def result(self, node: Node) -> Buffer:
        """The memory where later functions find the results of a reduction."""
        return self.row_buffer(f"result {self.number(node)}", node.result)

    def row_buffer(self, name: str, value: Value) -> Buffer:
        """Memory for a value that each row has."""
        dtype = value.type.dtype
        strides, size = self.row_strides(dtype.size)
        axes = range(len(self.space)) if value.type.rank == len(self.space) else self.kept_axes()
        return Buffer(self.frame.shared(name, size), tuple(strides[a] for a in axes), dtype, 1)

    def kept_axes(self) -> list[int]:
        return [a for a in range(len(self.space)) if a not in self.reduced]

    def number(self, node: Node) -> int:
        return [n for reductions in self.stages.reductions for n in reductions].index(node)

    def partials(self, sums: Reduction) -> list[Buffer]:
        """The memory for the chunks' partial results: all lanes for a row, or one number for each row of a vector."""
        is_spread = self.across_columns and isinstance(sums, Accumulators)
        lanes = integer(sums.node.attrs, "lanes") if is_spread else 1
        found = []
        for k, dtype in enumerate(sums.kinds):
            found.append(self.of_chunks(f"partial {self.number(sums.node)} {k}", dtype, lanes))
        return found

    def of_chunks(self, name: str, dtype: DType, lanes: int = 1) -> Buffer:
        """Memory for the partial results of each chunk of each row."""
        strides, size = self.row_strides(dtype.size * lanes)
        return Buffer(self.frame.shared(name, size * self.chunks()), (*strides, size), dtype, 1)

    def place(self, offset: int) -> tuple[Size, ...]:
        """The index of this chunk's and this row's totals."""
        joined = {loop_name(axis): 0 for group in self.rows for axis in group[:-1]}
        moved = {loop_name(self.vector): dims.symbol(loop_name(self.vector)) + offset} if offset else {}
        index = tuple(dims.substitute(i, {**joined, **moved}) for i in loop_variables(self.space))
        index = tuple(0 if axis in self.reduced else i for axis, i in enumerate(index))
        return (*index, dims.symbol(loop_name(self.chunk)))

    def walker(self, offsets: Sequence[int], part: TreeBlocks | None = None) -> Columns:
        reductions, outputs = self.stages.reductions[self.stage], self.stages.outputs[self.stage]
        offsets = self.column_offsets(self.stage, list(offsets))
        return Columns(self.column_loops(offsets, reductions, outputs), reductions, [], part)

    def blocks(self) -> Size:
        """How many blocks the columns have."""
        *outer, inner = (self.extent(group) for group in self.columns)
        block = self.block_size()
        return dims.product(outer) * dims.floordiv(inner + block - 1, block)

    def block_size(self) -> int:
        reductions = self.stages.reductions[self.stage]
        steps = max([integer(n.attrs, "steps") for n in reductions], default=0) or EXACT_STEPS
        lanes = self.width * len(self.column_offsets(self.stage, [0])) if self.across_columns else 1
        return lanes * steps

    # -- a walk that may end early: one word holds the earliest chunk after which nothing matters

    def over(self) -> Val:
        pointer = self.frame.shared(f"over {self.stage}", 8)
        return self.nest.e.emit(f"load atomic i64, ptr {pointer.text} monotonic, align 8", "i64", 0)

    def set_over(self, chunk: Val) -> None:
        pointer = self.frame.shared(f"over {self.stage}", 8)
        self.nest.e.lines.append(f"  store atomic {chunk.typed}, ptr {pointer.text} monotonic, align 8")

    def chunks(self) -> Size:
        return dims.floordiv(self.blocks() + self.chunk_blocks - 1, self.chunk_blocks)


class Begin(Chunked):
    """Runs before a walk that may end early."""

    def function(self, name: str) -> NativeFunction:
        self.set_over(self.frame.size(self.chunks()))
        return self.part(name, (), (), 1)


class Walk(Chunked):
    """Walks chunks: loops over chunks and vectors of rows, or over rows and chunks."""

    def function(self, name: str) -> NativeFunction:
        return self.by_rows(name) if self.rows and self.across_columns else self.by_chunks(name)

    def by_rows(self, name: str) -> NativeFunction:
        rows, chunks = self.parameters()
        outer, *inner = self.rows

        def chunk(at: Val, carried: list[Val]) -> list[Val]:
            self.row_loops(inner, {})
            return []

        def row(at: Val, carried: list[Val]) -> list[Val]:
            return self.nest.loop(loop_name(self.chunk), *chunks, 1, [], chunk)[1]

        self.nest.loop(loop_name(outer[-1]), *rows, 1, [], row)
        others = dims.product(self.extent(group) for group in inner)
        part = self.part(name, outer, (), others * self.chunk_blocks * self.block_size() * self.cost)
        return part._replace(extents=(part.extents[0], self.chunks()))

    def by_chunks(self, name: str) -> NativeFunction:
        chunks, vectors = self.parameters()
        inner = self.rows[-1] if self.rows else ()

        def chunk(at: Val, carried: list[Val]) -> list[Val]:
            self.run_chunk({inner: vectors})
            return []

        self.nest.loop(loop_name(self.chunk), *chunks, 1, [], chunk)
        others = dims.product(self.extent(group) for group in self.rows[:-1])
        elements = self.chunk_blocks * self.block_size()
        part = self.part(name, (), inner, others * elements * self.cost)
        return part._replace(extents=(self.chunks(), part.extents[1]))

    def run_chunk(self, ranges: Mapping[tuple[int, ...], tuple[Val, Val]]) -> None:
        """Walks the columns of one chunk, vector by vector of the rows in `ranges`."""
        self.row_loops(list(self.rows), ranges)

    def part_of_columns(self) -> TreeBlocks:
        """The blocks of this chunk."""
        e, size = self.nest.e, self.frame.size
        at, _ = self.nest.variables[loop_name(self.chunk)]
        begin = e.op("mul", at, size(self.chunk_blocks))
        return TreeBlocks(begin, e.call("smin", e.op("add", begin, size(self.chunk_blocks)), size(self.blocks())))

    def row(self, offsets: list[int]) -> list[Val]:
        e, (begin, end) = self.nest.e, self.part_of_columns()
        at, _ = self.nest.variables[loop_name(self.chunk)]
        walk = self.walker(offsets, TreeBlocks(begin, end))
        if walk.may_stop:
            walk.part = TreeBlocks(begin, e.select(e.icmp("slt", self.over(), at), begin, end))
        found = walk.totals()
        if walk.may_stop:
            final = walk.is_final([v for _, totals in found for v in totals])
            e.when(e.op("and", final, e.icmp("slt", at, self.over())), lambda: self.set_over(at))
        self.leave(walk, found)
        return []

    def leave(self, walk: Columns, found: list[tuple[Reduction, list[Val]]]) -> None:
        """Stores the partial results of a chunk."""
        for sums, totals in found:
            for buffer, left in zip(self.partials(sums), sums.left(totals), strict=True):
                for k, (offset, total) in enumerate(zip(walk.offsets, left, strict=False)):
                    if self.across_columns:
                        start = k * self.width * buffer.dtype.size
                        self.elements.memory.store(buffer._replace(start=start), self.place(0), total)
                    else:
                        self.elements.memory.store(buffer, self.place(offset), total)


class Join(Chunked):
    """Joins the partial results of a stage's chunks, row by row, and writes the results that are then known."""

    def function(self, name: str) -> NativeFunction:
        bytes = sum(n.result.type.dtype.size for n in self.stages.reductions[self.stage])
        return self.over_rows(name, self.chunks() * bytes * JOIN)

    def row(self, offsets: list[int]) -> list[Val]:
        for node, totals in self.joined_stage(offsets):
            self.make_known(node, totals, offsets)
        self.write_rows(self.stage + 1, offsets)
        return []

    def make_known(self, node: Node, totals: list[Val], offsets: list[int]) -> None:
        """Sets the results of a reduction, here and for later functions."""
        for offset, total in zip(offsets, totals, strict=True):
            index = self.home(node.result, offset)
            self.elements.put(node.result, index, total)
            self.elements.memory.store(self.result(node), index, total)

    def write_rows(self, stage: int, offsets: list[int]) -> None:
        """Writes the results of rows that became known with this stage."""
        self.elements.stage = stage
        first = not any(self.stages.reductions[: self.stage])
        for slot, value in self.stages.row_outputs:
            known = self.stages.known[value]
            if self.stage < known <= stage or (known == 0 and first):
                for offset in offsets:
                    self.elements.write(slot, value, self.home(value, offset))
        for value, buffer in self.of_rows.items():
            known = self.stages.known[value]
            if self.stage < known <= stage or (known == 0 and first):
                for offset in offsets:
                    index = self.home(value, offset)
                    self.elements.memory.store(buffer, index, self.elements.get(value, index))
        self.elements.stage = self.stage

    def joined_stage(self, offsets: list[int]) -> list[tuple[Node, list[Val]]]:
        """The results of the stage's reductions."""
        walk = self.walker(offsets)
        return self.joined(walk.sums, lambda sums: self.load(sums, walk.offsets))

    def joined(
        self, reductions: Sequence[Reduction], load: Callable[[Reduction], list[list[Val]]]
    ) -> list[tuple[Node, list[Val]]]:
        """Joins what the chunks have left of some reductions, as `load` finds it, in the order of the tree."""
        e = self.nest.e
        starts = [sums.unjoined() for sums in reductions]

        def apart(values: list[Val]) -> list[tuple[Reduction, list[Val]]]:
            found, rest = list[tuple[Reduction, list[Val]]](), values
            for sums, start in zip(reductions, starts, strict=True):
                found.append((sums, rest[: len(start)]))
                rest = rest[len(start) :]
            return found

        def chunk(at: Val, values: list[Val]) -> list[Val]:
            count, *totals = values
            after = [e.op("add", count, e.const("i64", 1))]
            for sums, older in apart(totals):
                newer = load(sums)
                if isinstance(sums, Accumulators) and sums.steps:
                    e.when(e.icmp("sge", count, e.const("i64", 0)), lambda s=sums, o=older: s.push(o, count))  # type: ignore[misc]
                    after += newer[0]
                else:
                    after += sums.join(older, newer)
            return after

        start = [e.const("i64", -1), *(v for values in starts for v in values)]
        chunks = self.frame.size(self.chunks())
        count, *totals = self.nest.loop(loop_name(self.chunk), self.frame.size(0), chunks, 1, start, chunk)[1]
        count = e.call("smax", count, e.const("i64", 0))
        results = []
        for sums, parts in apart(totals):
            parts = sums.finish(parts, count) if isinstance(sums, Accumulators) else parts
            results.append((sums.node, sums.results(parts)))
        return results

    def load(self, sums: Reduction, offsets: list[int]) -> list[list[Val]]:
        """Loads the partial results of a chunk."""
        memory, found = self.elements.memory, []
        for buffer in self.partials(sums):
            if not self.across_columns:
                found.append([memory.load(buffer, self.place(offset))[0] for offset in offsets])
            elif isinstance(sums, Accumulators):
                starts = [slot * self.width * buffer.dtype.size for slot in range(len(offsets))]
                found.append([memory.load_whole(buffer._replace(start=start), self.place(0)) for start in starts])
            else:
                found.append([memory.load(buffer, self.place(0))[0]])
        return found


class Spread(Chunked):
    """A last stage that only writes, in the order of memory: all axes are rows.

    The stages before it reduce over axes outside of the vectors, so they walk down from line to line. This one has the
    results of the reductions and writes line after line instead.
    """

    def __init__(self, region: Node, entries: dict[FrameWord, int], stage: int) -> None:
        super().__init__(region, entries, stage)
        self.elements.kept = {**self.elements.kept, **{v: (buffer, 0) for v, buffer in self.of_rows.items()}}
        *outer, line = self.rows
        self.rows, self.columns = (*outer, *self.columns, line), ()

    def outputs_of_rows(self) -> list[tuple[int, Value]]:
        return self.stages.outputs[self.stage]

    def row(self, offsets: list[int]) -> list[Val]:
        self.visit([], self.outputs_of_rows(), offsets)
        return []

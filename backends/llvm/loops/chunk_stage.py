"""Emit a stage whose columns are shared between threads in chunks.

A chunk consists of whole blocks of the reduction trees. A first function walks chunks and stores partial results. A
second one joins these in the order of the tree, so the result has the same bits as that of a single walk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir import dims
from ....ir.graph import Node, Value
from ....ir.indexing import loop_name
from ..code.text import Val
from ..functions import FrameWord, NativeFunction
from ..reductions.accumulators import Accumulators
from .chunk_context import Chunked, Group
from .columns import Columns, Reduction, TreeBlocks

JOIN = 60  # picoseconds to read and combine a byte of a chunk's partial results


class Begin(Chunked):
    """Runs before a walk that may end early."""

    def function(self, name: str) -> NativeFunction:
        self.set_over(self.frame.size(self.chunks()))
        return self.part(name, (), (), 1)


class Walk(Chunked):
    """Walks chunks: loops over chunks and vectors of rows, or over rows and chunks."""

    def function(self, name: str) -> NativeFunction:
        chunks: Group = (self.chunk,)
        groups, inner = [chunks, *self.rows], self.rows[-1] if self.rows else ()
        shared = chunks, inner
        if self.rows and self.across_columns:
            outer, *others = self.rows
            groups, shared = [outer, chunks, *others], (outer, chunks)
        self.row_loops(groups, dict(zip(shared, self.parameters(), strict=True)))
        unshared = dims.product(self.extent(group) for group in groups if group not in shared)
        return self.part(name, *shared, unshared * self.chunk_blocks * self.block_size() * self.cost)

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
        is_first = not any(self.stages.reductions[: self.stage])

        def is_new(value: Value) -> bool:
            known = self.stages.known[value]
            return self.stage < known <= stage or (known == 0 and is_first)

        self.elements.stage = stage
        for slot, value in self.stages.row_outputs:
            for offset in offsets if is_new(value) else ():
                self.elements.write(slot, value, self.home(value, offset))
        for value, buffer in self.of_rows.items():
            for offset in offsets if is_new(value) else ():
                index = self.home(value, offset)
                self.elements.memory.store(buffer, index, self.elements.get(value, index))
        self.elements.stage = self.stage

    def joined_stage(self, offsets: list[int]) -> list[tuple[Node, list[Val]]]:
        """The results of the stage's reductions."""
        walk, wanted = self.walker(offsets), self.joined_in_order()
        found = [sums for sums in walk.sums if sums.node in wanted]
        return self.joined(found, lambda sums: self.load(sums, walk.offsets)) if found else []

    def joined_in_order(self) -> list[Node]:
        """The reductions whose partial results are joined in the order of the chunks."""
        return self.stages.reductions[self.stage]

    def joined(
        self, reductions: Sequence[Reduction], load: Callable[[Reduction], list[list[Val]]]
    ) -> list[tuple[Node, list[Val]]]:
        """Join the partial results that chunks have left of some reductions, in the order of the tree.

        `load` reads them.
        """
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

    def function(self, name: str) -> NativeFunction:
        return self.over_rows(name, self.cost)

    def outputs_of_rows(self) -> list[tuple[int, Value]]:
        return self.stages.outputs[self.stage]

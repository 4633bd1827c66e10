"""Emit a walk over chunks that reads memory line by line.

The reduced axis is outside of the vectors, so a column crosses lines that are far apart. A step takes one vector of all
lines of a block, adds them up in registers, and goes on along the lines: the CPU prefetches each line by itself.
Finished blocks wait in scratch memory, one line for each level of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....ir.accesses import address, coefficient
from ....ir.graph import Node
from ....ir.indexing import loop_name
from ....ir.tuples import NamedTuple
from ....ir.types import integer
from ..code.casts import element
from ..code.memory import Buffer
from ..code.text import Val
from ..functions import FrameWord
from ..reductions.accumulators import combine, joined
from .chunk_context import Group
from .chunk_stage import Walk
from .columns import TreeBlocks
from .vector_loops import LoopPlace, whole_steps

LONG_LINE = 32 << 10  # bytes of a line that a thread walks at a time: shorter ones end before prefetching pays
PLACES = 2048  # bytes: lines that are multiples of it apart have few places in a first-level cache


class Waiting(NamedTuple):
    """Where the sum of some lines goes, and what it joins: the blocks that wait, as a bit for each level of `stack`."""

    levels: Val
    stack: Val
    apart: Val
    half: Val  # the line in which the first lines of a block wait for the others
    line: Buffer


class LineWalk(Walk):
    """The stage while its function is written. It has one group of rows, one of columns, and only sums."""

    def __init__(self, region: Node, entries: dict[FrameWord, int], stage: int, keeps: bool = True) -> None:
        super().__init__(region, entries, stage, keeps)
        self.unroll, self.jammed = 1, self.columns[0][-1]
        self.lines = integer(region.attrs, "lines")
        self.waiting: dict[Node, Waiting] = {}
        self.begins: Val | None = None  # whether a step has the first lines of a block, if it does not have all
        self.block: TreeBlocks | None = None  # the block at the end that has too few lines, while it is walked

    def grain(self, group: tuple[int, ...]) -> int:
        size = max(n.result.type.dtype.size for n in self.stages.reductions[self.stage])
        return LONG_LINE // size if self.vector in group else super().grain(group)

    def row_loops(self, groups: Sequence[Group], ranges: Mapping[Group, tuple[Val, Val]]) -> None:
        if groups[0] != (self.chunk,):
            super().row_loops(groups, ranges)
            return

        def chunk(at: Val, carried: list[Val]) -> list[Val]:
            self.run_chunk(groups[1:], ranges)
            return []

        self.nest.loop(loop_name(self.chunk), *ranges[groups[0]], 1, [], chunk)

    def run_chunk(self, rows: Sequence[Group], ranges: Mapping[Group, tuple[Val, Val]]) -> None:
        e, size, variable = self.nest.e, self.frame.size, loop_name(self.jammed)
        lines, part = e.const("i64", self.lines), self.part_of_columns()
        first, stop = e.op("mul", part.begin, lines), e.op("mul", part.end, lines)
        stop = e.call("smin", stop, size(self.extent(self.columns[0])))
        whole = whole_steps(e, first, stop, self.lines)

        def run(at: Val, at_once: int) -> list[Val]:
            walked = e.op("sub", at, first)
            inside = e.op("and", walked, e.const("i64", self.lines - 1))
            self.begins = e.icmp("eq", inside, e.const("i64", 0)) if at_once < self.lines else None
            ends = e.icmp("sge", e.op("add", inside, e.const("i64", at_once)), lines)
            is_last = e.icmp("sge", e.op("add", e.op("sub", at, inside), lines), stop)
            self._wait(e.op("udiv", walked, lines), ends, is_last)
            self.at_once = at_once if self.block is None else 1
            self.row_loops(rows, ranges)
            self.at_once = 1
            return []

        def short_block(at: Val, carried: list[Val]) -> list[Val]:
            number = e.op("udiv", at, lines)
            self.block = TreeBlocks(number, e.op("add", number, e.const("i64", 1)))
            run(at, self.lines)
            self.block = None
            return []

        few = max(1, self.lines // 2)
        middle = e.select(self._collides(), first, whole)
        self.nest.loop(variable, first, middle, self.lines, [], lambda at, _: run(at, self.lines))
        self.nest.loop(variable, middle, whole, few, [], lambda at, _: run(at, few))
        self.nest.loop(None, whole, stop, self.lines, [], short_block)

    def _collides(self) -> Val:
        """Whether lines are so far apart that they evict each other from the first-level cache."""
        e, along = self.nest.e, self.read_along(range(len(self.region.operands)))
        assert along is not None
        apart = coefficient(address(along.at, along.buffer.strides), self.jammed)
        over = e.op("and", self.frame.size(apart), e.const("i64", PLACES - 1))
        return e.icmp("eq", over, e.const("i64", 0))

    def _wait(self, count: Val, ends: Val, is_last: Val) -> None:
        """Find what a block joins: as the carries of a binary counter do, or all that wait if it is the last one."""
        e, nothing = self.nest.e, self.nest.e.const("i64", 0)
        on = e.op("xor", e.op("add", count, e.const("i64", 1)), e.const("i64", -1))
        carries = e.op("and", count, on)
        level = e.call("ctpop", carries, suffix=".i64")
        joined = e.select(ends, e.select(is_last, count, carries), nothing)
        chunk, _ = self.nest.variables[loop_name(self.chunk)]
        for node in self.stages.reductions[self.stage]:
            dtype = node.result.type.dtype
            strides, bytes = self.row_strides(dtype.size)
            apart = bytes + self.width * dtype.size  # the last vector may reach beyond the line
            levels = max(1, (self.chunk_blocks - 1).bit_length())
            name = f"waiting {self.reductions.index(node)}"
            stack = self.frame.scratch(apart * (levels + 1), for_chunks=True, name=name)
            half = e.offset(stack, self.frame.size(apart * levels))
            left = e.offset(self.partials_of(node).base, e.op("mul", chunk, self.frame.size(bytes)))
            kept = e.offset(stack, e.op("mul", level, self.frame.size(apart)))
            base = e.select(ends, e.select(is_last, left, kept), half)
            line = Buffer(base, tuple(strides), dtype)
            self.waiting[node] = Waiting(joined, stack, self.frame.size(apart), half, line)

    def partials_of(self, node: Node) -> Buffer:
        return self.of_chunks(f"partial {self.reductions.index(node)} 0", node.result.type.dtype)

    def line_of_rows(self) -> LoopPlace | None:
        return self.read_along(range(len(self.region.operands))) if self.block is None else None

    def together(self, offsets: list[int]) -> Iterator[int]:
        memory = self.elements.memory
        for offset in super().together(offsets):
            memory.down = (loop_name(self.jammed), self.down)
            yield offset
        memory.down = None

    def row(self, offsets: list[int]) -> list[Val]:
        walk = self.walker(offsets, self.block)
        if self.block is not None:
            found = [(sums.node, totals[0]) for sums, totals in walk.totals()]
        else:
            terms = self.visit([sums.node for sums in walk.sums], [], offsets)
            found = []
            for sums in walk.sums:
                totals = [self._begun(sums.node, sums.start()[0])]
                for term in terms[sums.node]:
                    totals = sums.add(totals, [term])
                found.append((sums.node, totals[0]))
        for node, total in found:
            self.elements.memory.store(self.waiting[node].line, self.place(0)[:-1], self._joined(node, total))
        return []

    def _begun(self, node: Node, nothing: Val) -> Val:
        """The sum of the block's lines before this step."""
        if self.begins is None:
            return nothing
        return self.nest.e.select(self.begins, nothing, self._waits(node, self._here(node, self.waiting[node].half)))

    def _joined(self, node: Node, total: Val) -> Val:
        """Joins a block with those that wait."""
        e, wait = self.nest.e, self.waiting[node]
        here = self._here(node, wait.stack)

        def join(level: Val, newer: list[Val]) -> list[Val]:
            older = self._waits(node, e.offset(here, e.op("mul", level, wait.apart)))
            return [combine(e, node, older, newer[0])]

        return joined(e, wait.levels, [total], join)[0]

    def _here(self, node: Node, line: Val) -> Val:
        """The address of this vector in a line that waits."""
        e, (at, _) = self.nest.e, self.nest.variables[loop_name(self.vector)]
        return e.offset(line, e.op("mul", at, e.const("i64", node.result.type.dtype.size)))

    def _waits(self, node: Node, place: Val) -> Val:
        return self.nest.e.load(place, element(node.result.type.dtype), self.width)

"""Emit two dependent stages as one walk over memory, shared between threads.

A chunk is walked for the reductions of the first stage and, while it is in the cache, for those of the second. The
latter are sums over `u - shift` (`ir/composites.py`), and the chunk's own maximum or mean serves as their shift. Each
sum of a chunk is one number. The join knows the common shift, moves these numbers to it, and adds them up in the tree
of blocks.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.composites import SCALED, SUM, Composite, recognise
from ....ir.graph import Node, Value
from ....ir.indexing import loop_name
from ....ir.lazy import cached_property
from ....ir.types import ints
from ..code.memory import Buffer
from ..code.text import Val
from ..elements.ops import emit
from ..reductions.accumulators import Accumulators
from .chunked import Chunked
from .chunks import Join, Walk
from .columns import Columns

OF_KIND = {kind: op for op, kind in SCALED.items()}


class Shared(Chunked):
    """What both functions share: the sums of the second stage, and the memory for the chunks' sums."""

    @cached_property
    def composites(self) -> list[Composite]:
        found = [recognise(n) for n in self.stages.reductions[self.stage + 1]]
        return [c for c in found if c is not None]

    @cached_property
    def sums(self) -> dict[tuple[str, Value], Node]:
        """The sums of the second walk by kind and difference; a sum of squares needs the plain sum to be moved."""
        found = {(c.kind, c.difference): c.node for c in self.composites}
        for c in self.composites:
            if c.kind == "moment2" and ("moment1", c.difference) not in found:
                plain = Node(SUM, (c.difference,), c.node.attrs, (c.node.result.type,), c.node.span)
                found["moment1", c.difference] = plain
        return found

    @cached_property
    def shifts(self) -> dict[Value, Composite]:
        return {c.shift: c for c in self.composites}

    def shift_buffer(self, shift: Value) -> Buffer:
        return self.of_chunks(f"shift {self.stage} {list(self.shifts).index(shift)}", shift.type.dtype)

    def sum_buffer(self, kind: str, difference: Value) -> Buffer:
        number = list(self.sums).index((kind, difference))
        return self.of_chunks(f"moved {self.stage} {number}", difference.type.dtype)

    def length(self, elem: str) -> Val:
        """How many elements this chunk has."""
        e, size, elements = self.nest.e, self.frame.size, self.chunk_blocks * self.block_size()
        at, _ = self.nest.variables[loop_name(self.chunk)]
        columns = dims.product(self.extent(group) for group in self.columns)
        left = e.op("sub", size(columns), e.op("mul", at, size(elements)))
        return e.cast("sitofp", e.call("smin", left, size(elements)), elem)


class SharedWalk(Shared, Walk):
    """Walks each chunk twice."""

    def row(self, offsets: list[int]) -> list[Val]:
        e, memory, part = self.nest.e, self.elements.memory, self.part_of_columns()
        walk = self.walker(offsets, part)
        found = walk.totals()
        self.leave(walk, found)
        results = {sums.node: (sums, totals) for sums, totals in found}
        for shift, c in self.shifts.items():
            sums, totals = results[c.reference]
            (own,) = sums.results(totals)
            if c.kind not in OF_KIND:
                own = e.op("fdiv", own, self.length(own.elem))
            self.elements.put(shift, self.home(shift, 0), own)
            memory.store(self.shift_buffer(shift), self.place(0), own)
        self.elements.stage = self.stage + 1
        sums_again = list(self.sums.values())
        again = Columns(self.column_loops(walk.offsets, sums_again, []), sums_again, [], part)
        for (kind, difference), (sums, totals) in zip(self.sums, again.totals(), strict=True):
            memory.store(self.sum_buffer(kind, difference), self.place(0), sums.results(totals)[0])
        self.elements.stage = self.stage
        return []

    def visit(
        self, reductions: list[Node], outputs: list[tuple[int, Value]], offsets: list[int]
    ) -> dict[Node, list[Val]]:
        found = super().visit(reductions, outputs, offsets)
        attrs, is_again = self.region.attrs, self.elements.stage > self.stage
        if is_again and self.elements.memory.mask is None and "prefetch" in attrs:
            # so that memory is not idle while this chunk is walked in the cache
            chunks, level = ints(attrs, "prefetch")
            self.fetch(offsets, loop_name(self.vector), chunks * self.chunk_blocks * self.block_size(), level)
        return found


class SharedJoin(Shared, Join):
    """Joins the first stage as usual, then the second."""

    def row(self, offsets: list[int]) -> list[Val]:
        for node, totals in self.joined_stage(offsets):
            self.make_known(node, totals, offsets)
        self.elements.stage = self.stage + 1
        # The sums of chunks are moved to the common shift before they are added.
        shifts = {shift: self.elements.get(shift, self.home(shift, 0)) for shift in self.shifts}
        sums = {c.node: c for c in self.composites}
        trees = [Accumulators(node, self.nest, self.frame, 1, 0, is_across=False) for node in sums]
        for node, totals in self.joined(trees, lambda tree: [[self.moved(c := sums[tree.node], shifts[c.shift])]]):
            self.make_known(node, totals, offsets)
        self.write_rows(self.stage + 2, offsets)
        return []

    def moved(self, c: Composite, shift: Val) -> Val:
        """Moves this chunk's sum from its own shift to another one."""
        e = self.nest.e
        own, total = self.left(self.shift_buffer(c.shift)), self.left(self.sum_buffer(c.kind, c.difference))
        apart = e.op("fsub", own, shift)
        if c.kind in OF_KIND:
            # A chunk with only -inf contributes 0 beside anything larger, not the NaN of -inf minus itself.
            endless = e.fcmp("oeq", own, e.const_like(own, float("-inf")))
            dtype = c.shift.type.dtype
            factor = emit(e, OF_KIND[c.kind], (dtype,), (apart,))
            return e.op("fmul", e.select(endless, e.const_like(total, 1.0), total), factor)
        length = self.length(own.elem)
        if c.kind == "moment1":
            far = e.fma(length, apart, total)
        else:
            plain = self.left(self.sum_buffer("moment1", c.difference))
            far = e.fma(apart, e.fma(length, apart, e.op("fadd", plain, plain)), total)
        return e.select(e.fcmp("oeq", own, shift), total, far)

    def left(self, buffer: Buffer) -> Val:
        return self.elements.memory.load(buffer, self.place(0))[0]

"""Emit two dependent stages as one walk over memory, shared between threads.

A chunk is walked for the reductions of the first stage and, while it is in the cache, for those of the second. The
latter are sums over `u - shift` (`ir/composites.py`), and the chunk's own maximum or mean serves as their shift. Each
sum of a chunk is one number for a row. The join moves sums of powers to the common shift and adds them up in the tree
of blocks. The moments of chunks are joined in the same order, before the common shift is known. If a chunk has several
parts, each is walked twice in turn, and the moments of a chunk are joined from theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....ir import dims
from ....ir.composites import SCALED, SUM, TOTAL, Composite, recognise
from ....ir.dims import Size
from ....ir.graph import Node, Value
from ....ir.indexing import loop_name
from ....ir.lazy import cached_property
from ....ir.types import integer, ints
from ..code.memory import Buffer
from ..code.text import Val
from ..elements.ops import emit
from ..reductions.accumulators import Accumulators
from ..reductions.moments import KINDS, Moments, in_kinds
from .chunk_context import Chunked
from .chunk_stage import Join, Walk
from .columns import Columns, Reduction, TreeBlocks

OF_KIND = {kind: op for op, kind in SCALED.items()}


class Shared(Chunked):
    """What both functions share: the sums of the second stage, and the memory for the chunks' sums."""

    @cached_property
    def composites(self) -> list[Composite]:
        found = [recognise(n) for n in self.stages.reductions[self.stage + 1]]
        return [c for c in found if c is not None]

    @cached_property
    def sums(self) -> dict[tuple[str, Value], Node]:
        """The sums of the second walk by kind and difference.

        A sum of squares needs the plain sum, too, to be moved.
        """
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

    @cached_property
    def totals(self) -> list[Node]:
        """The sums that come with moments."""
        return [n for n in self.stages.reductions[self.stage] if n.attrs.get("composite") == TOTAL]

    def count(self) -> Size:
        """How many elements a row has."""
        return dims.product(self.extent(group) for group in self.columns)

    @cached_property
    def moments(self) -> list[Composite]:
        return [c for c in self.composites if c.kind not in OF_KIND]

    @cached_property
    def values(self) -> dict[Value, Composite]:
        """The values that have moments, each with a composite whose differences give them all."""
        return {c.u: c for c in sorted(self.moments, key=lambda c: c.kind)}

    def mean(self, total: Val, number: Val, blocks: int) -> Val:
        """The mean of chunk or part `number`, which has this many blocks, given its sum."""
        e, size, elements = self.nest.e, self.frame.size, blocks * self.block_size()
        left = e.op("sub", size(self.count()), e.op("mul", number, size(elements)))
        length = e.cast("sitofp", e.call("smin", left, size(elements)), total.elem)
        return e.op("fdiv", total, e.splat(length, total.lanes))

    def mean_of_chunk(self, total: Val) -> Val:
        return self.mean(total, self.nest.variables[loop_name(self.chunk)][0], self.chunk_blocks)

    def joined_parts(
        self, trees: Sequence[Moments], loop: tuple[str, Val, Val], found: Callable[[Val], list[Val]], count: Val
    ) -> list[list[Val]]:
        """The moments of all `count` elements: a loop finds those of parts, which are joined in the order of the tree.

        `loop` is its variable and range.
        """
        e, (name, begin, end) = self.nest.e, loop
        held = [KINDS * tree.slots for tree in trees]

        def apart(values: list[Val]) -> list[list[Val]]:
            return [values[sum(held[:k]) : sum(held[: k + 1])] for k in range(len(held))]

        def part(at: Val, values: list[Val]) -> list[Val]:
            before, *older = values
            newer = found(at)

            def push() -> None:
                for tree, parts in zip(trees, apart(older), strict=True):
                    tree.push(parts, before)

            e.when(e.icmp("sge", before, e.const("i64", 0)), push)
            return [e.op("add", before, e.const("i64", 1)), *newer]

        start = [e.const("i64", -1), *(v for tree in trees for v in tree.start())]
        before, *parts = self.nest.loop(name, begin, end, 1, start, part)[1]
        before = e.call("smax", before, e.const("i64", 0))
        last = e.op("sub", count, e.op("mul", before, e.const("i64", trees[0].length)))
        return [tree.finish(p, before, last) for tree, p in zip(trees, apart(parts), strict=True)]


class SharedWalk(Shared, Walk):
    """Walks each chunk twice."""

    @cached_property
    def part_blocks(self) -> int:
        return min(
            integer(c.node.attrs, "moment_part") if "moment_part" in c.node.attrs else self.chunk_blocks
            for c in self.composites
        )

    def row(self, offsets: list[int]) -> list[Val]:
        if self.part_blocks < self.chunk_blocks:
            self.walk_parts(offsets)
            return []
        memory, part = self.elements.memory, self.part_of_columns()
        walk = self.walker(offsets, part)
        found = walk.totals()
        self.leave(walk, [pair for pair in found if pair[0].node not in self.totals])
        results = {sums.node: (sums, totals) for sums, totals in found}
        for shift, c in self.shifts.items():
            sums, totals = results[c.reference]
            for offset, own in zip(offsets, sums.results(totals), strict=True):
                memory.store(self.shift_buffer(shift), self.place(offset), own)
                own = own if c.kind in OF_KIND else self.mean_of_chunk(own)
                self.elements.put(shift, self.home(shift, offset), own)
        self.elements.stage = self.stage + 1
        sums_again = list(self.sums.values())
        again = Columns(self.column_loops(walk.offsets, sums_again, []), sums_again, [], part)
        for (kind, difference), (sums, totals) in zip(self.sums, again.totals(), strict=True):
            for offset, total in zip(offsets, sums.results(totals), strict=True):
                memory.store(self.sum_buffer(kind, difference), self.place(offset), total)
        self.elements.stage = self.stage
        return []

    def walk_parts(self, offsets: list[int]) -> None:
        """Walks each part of a chunk twice, and stores the moments of the chunk."""
        e, size, memory = self.nest.e, self.frame.size, self.elements.memory
        first, last = self.part_of_columns()
        sources = [c.reference for c in self.values.values()]
        if others := [n for n in self.stages.reductions[self.stage] if n not in sources and n not in self.totals]:
            walk = Columns(self.column_loops(offsets, others, []), others, [], TreeBlocks(first, last))
            self.leave(walk, walk.totals())
        elements, levels = self.part_blocks * self.block_size(), (self.chunk_blocks // self.part_blocks).bit_length()
        lanes = 0 if self.across_columns else self.width
        trees = [
            Moments(self.nest, self.frame, u.type.dtype, len(offsets), lanes, elements, levels) for u in self.values
        ]
        blocks = e.const("i64", self.part_blocks)

        def part(at: Val) -> list[Val]:
            begin = e.op("mul", at, blocks)
            end = e.call("smin", e.op("add", begin, blocks), last)
            return self.part_moments(offsets, at, TreeBlocks(begin, end))

        parts = e.op("sdiv", e.op("add", last, e.const("i64", self.part_blocks - 1)), blocks)
        begin = e.op("mul", first, e.const("i64", self.block_size()))
        count = e.call("smin", e.op("sub", size(self.count()), begin), size(self.chunk_blocks * self.block_size()))
        loop = (loop_name(self.chunk + 1), e.op("sdiv", first, blocks), parts)
        for c, found in zip(self.values.values(), self.joined_parts(trees, loop, part, count), strict=True):
            kinds = [found[k * len(offsets) : (k + 1) * len(offsets)] for k in range(KINDS)]
            buffers = [(self.shift_buffer(c.shift), kinds[0])]
            buffers += [
                (self.sum_buffer(kind, c.difference), kinds[k])
                for k, kind in ((2, "moment1"), (3, "moment2"))
                if (kind, c.difference) in self.sums
            ]
            for buffer, values in buffers:
                for offset, value in zip(offsets, values, strict=True):
                    memory.store(buffer, self.place(offset), value)

    def part_moments(self, offsets: list[int], at: Val, part: TreeBlocks) -> list[Val]:
        """The moments of one part of a chunk."""
        sources = [c.reference for c in self.values.values()]
        walk = Columns(self.column_loops(offsets, sources, []), sources, [], part)
        known = {sums.node: sums.results(found) for sums, found in walk.totals()}
        means = {u: [self.mean(x, at, self.part_blocks) for x in known[c.reference]] for u, c in self.values.items()}
        for u, c in self.values.items():
            for offset, mean in zip(offsets, means[u], strict=True):
                self.elements.put(c.shift, self.home(c.shift, offset), mean)
        self.elements.stage = self.stage + 1
        wanted = {key: n for key, n in self.sums.items() if any(key[1] is c.difference for c in self.values.values())}
        again = Columns(self.column_loops(walk.offsets, [*wanted.values()], []), [*wanted.values()], [], part)
        sums = {key: a.results(found) for key, (a, found) in zip(wanted, again.totals(), strict=True)}
        self.elements.stage = self.stage
        made = list[Val]()
        for c in self.values.values():
            plain = sums["moment1", c.difference]
            made += [*known[c.reference], *means[c.u], *plain, *sums.get(("moment2", c.difference), plain)]
        return made

    def visit(
        self, reductions: list[Node], outputs: list[tuple[int, Value]], offsets: list[int]
    ) -> dict[Node, list[Val]]:
        found = super().visit(reductions, outputs, offsets)
        attrs, is_again = self.region.attrs, self.elements.stage > self.stage
        if is_again and self.elements.memory.mask is None and "prefetch" in attrs:
            # so that memory is not idle while this chunk is walked in the cache
            ahead, level = ints(attrs, "prefetch")
            beside = self.chunk_blocks * self.block_size() if self.across_columns else self.width * len(offsets)
            self.fetch(offsets, loop_name(self.vector), ahead * beside, level)
        return found


class SharedJoin(Shared, Join):
    """Joins the first stage, then the second."""

    def row(self, offsets: list[int]) -> list[Val]:
        found = {value: self.joined_moments(value, offsets) for value in dict.fromkeys(map(_summed, self.moments))}
        for node in self.totals:
            self.make_known(node, found[node.operands[0]][1][: len(offsets)], offsets)
        for node, totals in self.joined_stage(offsets):
            self.make_known(node, totals, offsets)
        self.elements.stage = self.stage + 1
        get, home = self.elements.get, self.home
        shifts = {(shift, k): get(shift, home(shift, k)) for shift in self.shifts for k in offsets}
        for c in self.moments:
            tree, parts = found[c.u]
            count, is_second = self.frame.size(self.count()), c.kind == "moment2"
            each = [parts[k :: len(offsets)] for k in range(len(offsets))]
            moved = [tree.moved(x, count, shifts[c.shift, k])[is_second] for k, x in zip(offsets, each, strict=True)]
            is_none = self.nest.e.icmp("eq", count, self.nest.e.const("i64", 0))
            sums = [self.nest.e.select(is_none, x[0], y) for x, y in zip(each, moved, strict=True)]
            self.make_known(c.node, sums, offsets)
        self.join_powers(offsets, shifts)
        self.write_rows(self.stage + 2, offsets)
        return []

    def joined_in_order(self) -> list[Node]:
        return [n for n in super().joined_in_order() if n not in self.totals]

    def joined_moments(self, value: Value, offsets: list[int]) -> tuple[Moments, list[Val]]:
        """The moments of all chunks of a value."""
        elements = self.chunk_blocks * self.block_size()
        lanes = 0 if self.across_columns else self.width
        tree = Moments(self.nest, self.frame, value.type.dtype, len(offsets), lanes, elements)
        of = self.values[value]
        kinds = [key for key in (("moment1", of.difference), ("moment2", of.difference)) if key in self.sums]
        buffers = [self.shift_buffer(of.shift), *(self.sum_buffer(*key) for key in kinds)]

        def left(offset: int) -> list[Val]:
            total, plain, *squares = (self.left(b, offset) for b in buffers)
            return [total, self.mean_of_chunk(total), plain, *(squares or [plain])]

        loop = (loop_name(self.chunk), self.frame.size(0), self.frame.size(self.chunks()))
        count = self.frame.size(self.count())
        parts = self.joined_parts([tree], loop, lambda at: in_kinds([left(offset) for offset in offsets]), count)
        return tree, parts[0]

    def join_powers(self, offsets: list[int], shifts: Mapping[tuple[Value, int], Val]) -> None:
        """Moves the sums of chunks to the common shift and adds them up."""
        sums = {c.node: c for c in self.composites if c.kind in OF_KIND}
        lanes = 0 if self.across_columns else self.width
        trees = [Accumulators(node, self.nest, self.frame, len(offsets), lanes, is_across=False) for node in sums]

        def moved(tree: Reduction) -> list[list[Val]]:
            c = sums[tree.node]
            return [[self.moved(c, shifts[c.shift, offset], offset) for offset in offsets]]

        for node, totals in self.joined(trees, moved) if trees else ():
            self.make_known(node, totals, offsets)

    def moved(self, c: Composite, shift: Val, offset: int) -> Val:
        """Moves this chunk's sum of powers from its own shift to another one."""
        e = self.nest.e
        own = self.left(self.shift_buffer(c.shift), offset)
        total = self.left(self.sum_buffer(c.kind, c.difference), offset)
        # A chunk with only -inf contributes 0 beside anything larger, not the NaN of -inf minus itself.
        endless = e.fcmp("oeq", own, e.const_like(own, float("-inf")))
        factor = emit(e, OF_KIND[c.kind], (c.shift.type.dtype,), (e.op("fsub", own, shift),))
        return e.op("fmul", e.select(endless, e.const_like(total, 1.0), total), factor)

    def left(self, buffer: Buffer, offset: int) -> Val:
        return self.elements.memory.load(buffer, self.place(offset))[0]


def _summed(composite: Composite) -> Value:
    return composite.u

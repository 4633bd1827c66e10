"""Emit the two functions of a product of large matrices: pack, then multiply blocks.

The first function packs the right operand into memory that all threads read. The second takes blocks of rows and
columns of the result. For each part of the terms it packs the rows of the left operand, few enough for the second-level
cache, and multiplies; one panel stays in the first-level cache while all tiles of the block use it. Totals wait in
memory for the next part of the terms; the last part turns them into results. If all rows are one block, each panel is
needed once: then the first function has nothing to do, and the second packs a few panels at a time.

If stages over rows follow, a block covers all columns. Its rows stay in memory of the worker, and the stages run when
they are finished. If there are only a few rows, threads share blocks of columns as before: the rows are in memory that
all threads read, and a third function runs the stages.

Tiles of a symmetric product that lie below the diagonal are not computed; `mirror.py` copies them from those above.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.records import replace
from ..code.text import Val
from ..functions import FrameWord, NativeFunction
from .few_rows import FewRows, has_few_rows
from .mirror import store_mirrored
from .packing import PackedSpan, pack
from .panels import Panels, panel_bytes
from .product import Product
from .results import TileResults
from .row_stages import RowStages
from .tiles import call_tile

PACKING = 60  # picoseconds to copy an element
SIDE_BY_SIDE = 8  # panels that are packed together, so that memory is read in long lines
FEWEST_DOWN, FEWEST_ACROSS = 4, 2  # least blocks of a matrix that has as many tiles
# The same if blocks cover all columns; they are then about this high, because each reads everything.
FEWEST_OF_ROWS, HIGH = 8, 96
LOW = (2, 4)  # rows of lower tiles: 8 rows of a matrix take as many terms as they have, not those of 12
HIGHEST = 120  # most rows of such a block, so that they stay in the second-level cache


def _blocks(size: Size, most: int, tile: int, fewest: Size) -> Size:
    """Return the number of blocks along a side: no block is too long, and there are enough of them for the threads."""
    needed, tiles = (dims.floordiv(size + step - 1, step) for step in (most, tile))
    return dims.maximum(needed, dims.minimum(tiles, fewest))


def _flag(size: Size) -> Size:
    """Return 1 for a positive number, otherwise 0."""
    return dims.minimum(dims.maximum(size, 0), 1)


class Blocked(Product):
    """What both functions share: where the panels are."""

    def __init__(self, region: Node, entries: dict[FrameWord, int], owner: str, panels: Panels) -> None:
        super().__init__(region, entries, owner)
        self.panels_of = panels

    @property
    def is_high(self) -> Size:
        """1 if panels are packed for all blocks of rows together, otherwise 0."""
        return _flag(self.m - self.block_rows)

    @property
    def packs(self) -> Size:
        """1 if these functions compute the product, 0 if another function did so in place."""
        return 1 - self.is_in_place

    @property
    def is_spread(self) -> Size:
        """1 if stages over rows follow although blocks do not cover all columns, otherwise 0."""
        return _flag(self.block_rows + 1 - self.stack_size(self.node.result) * self.m) if self.of_rows else 0

    def spread_rows(self, matrix: Val) -> Val:
        """The origin of one matrix in the memory of all rows."""
        bytes = self.row_bytes(self.m)
        rows = self.frame.shared("rows", self.is_spread * self.stack_size(self.node.result) * bytes)
        return self.e.offset(rows, self.times(matrix, bytes))

    def panel(self, matrix: Val, part: Val, panel: Val) -> Val:
        """The address of a panel of the right operand."""
        bytes = panel_bytes(self)
        size = self.packs * self.is_high * self.stack_size(self.right) * self.depths * self.panels * bytes
        number = self.plus(self.times(self.plus(self.times(matrix, self.depths), part), self.panels), panel)
        return self.e.offset(self.frame.shared("panels", size), self.times(number, bytes))

    def terms(self, part: Val) -> tuple[Val, Val]:
        """The begin and end of a part of the terms."""
        start = self.times(part, self.depth)
        return start, self.least(self.plus(start, self.depth), self.k)


class Pack(Blocked):
    """Packs the right operand: the outer loop runs over matrices and parts of the terms, the inner one over panels."""

    def function(self, name: str) -> NativeFunction:
        def part(at: Val) -> None:
            matrix, place = self.apart(at, self.depths)
            start, stop = self.terms(place)

            def panels(at: Val) -> None:
                end = self.least(self.plus(at, SIDE_BY_SIDE), self.parameter("end1"))
                column, side = self.times(at, self.tile.columns), self.times(end, self.tile.columns)
                target = self.panel(matrix, place, at)
                self.panels_of.call(self, target, matrix, start, stop, column, self.least(side, self.n))

            self.loop(self.parameter("begin1"), self.parameter("end1"), SIDE_BY_SIDE, panels)

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, part)
        elements = dims.minimum(self.k, self.depth) * self.tile.columns
        extents = (self.packs * self.is_high * self.stack_size(self.right) * self.depths, self.panels)
        return self.part(name, extents, elements * PACKING)


class Multiply(Blocked):
    """Multiplies: the outer loop runs over matrices and blocks of rows, the inner one over blocks of columns."""

    def __init__(
        self,
        region: Node,
        entries: dict[FrameWord, int],
        owner: str,
        panels: Panels,
        results: TileResults,
        stages: RowStages | None,
    ) -> None:
        super().__init__(region, entries, owner, panels)
        self.results, self.stages = results, stages

    def function(self, name: str) -> NativeFunction:
        across = FEWEST_ACROSS * (2 - self.is_high)
        down = FEWEST_DOWN * (2 if self.is_symmetric else 1)  # blocks then differ in work
        row_blocks = _blocks(self.m, self.block_rows, self.tile.rows, down * self.is_high)
        if self.stages is not None:
            row_blocks = 1 + self.is_high * (_blocks(self.m, HIGHEST, HIGH, FEWEST_OF_ROWS) - 1)
        column_blocks = _blocks(self.n, self.block_columns, self.tile.columns, across)
        height = self.share(self.m, row_blocks, self.tile.rows)
        width = self.share(self.n, column_blocks, self.tile.columns)

        def rows(at: Val) -> None:
            matrix, block = self.apart(at, row_blocks)
            self.bind_stack(matrix, self.node.result)
            start = self.least(self.e.op("mul", block, height), self.m)
            stop = self.least(self.plus(start, height), self.m)

            def columns(at: Val, origin: Val) -> None:
                first = self.least(self.e.op("mul", at, width), self.n)
                end = self.least(self.plus(first, width), self.n)
                if not self.is_symmetric:
                    self.block(matrix, (start, stop), (first, end), origin)
                    return
                is_above = self.e.icmp("slt", start, end)
                self.e.when(is_above, lambda: self.block(matrix, (start, stop), (first, end), origin))

            begin, end = self.parameter("begin1"), self.parameter("end1")
            if self.stages is None:
                self.loop(begin, end, 1, lambda at: columns(at, self.number(0)))
                return
            e, stages, is_spread = self.e, self.stages, self.e.icmp("ne", self.number(self.is_spread), self.number(0))
            origin = e.select(is_spread, self.spread_rows(matrix), self.own_rows(start))
            begin, end = (
                e.select(is_spread, begin, self.number(0)),
                e.select(is_spread, end, self.number(column_blocks)),
            )
            self.loop(begin, end, 1, lambda at: columns(at, e.cast("ptrtoint", origin, "i64")))
            e.when(e.not_(is_spread), lambda: stages.call(self, origin, matrix, start, stop))

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, rows)
        high = dims.minimum(dims.floordiv(self.m, FEWEST_DOWN) + 1, self.block_rows)
        wide = dims.minimum(dims.floordiv(self.n, FEWEST_ACROSS) + 1, self.block_columns)
        if self.stages is not None:
            wide, column_blocks = self.n, dims.maximum(self.is_spread * column_blocks, 1)
        blocks = self.packs * self.stack_size(self.node.result) * row_blocks
        return self.part(name, (blocks, column_blocks), self.time(high * wide))

    def share(self, size: Size, blocks: Size, step: int) -> Val:
        """Return the length of a side's blocks, as equal as whole tiles allow."""
        count = self.number(dims.maximum(blocks, 1))
        even = self.e.op("sdiv", self.e.op("sub", self.plus(self.number(size), count), self.number(1)), count)
        return self.up(even, step)

    def block(self, matrix: Val, rows: tuple[Val, Val], columns: tuple[Val, Val], origin: Val) -> None:
        """Adds all terms of a block of one result matrix; `origin` is where rows are stored for later stages."""
        e, tile, width = self.e, self.tile, self.tile.columns
        copy = self.frame.scratch((self.block_rows + self.width) * tile.row_bytes, for_chunks=True)
        own = self.frame.scratch(SIDE_BY_SIDE * panel_bytes(self), for_chunks=True)
        waits = dims.minimum(dims.maximum(self.depths - 1, 0), 1)  # 1 if totals are kept, else 0
        tiles_down, tiles_across = self.block_rows // tile.rows, self.block_columns // width
        slots = 1 + waits * tiles_down * tiles_across
        if self.is_symmetric:  # all tiles of a panel wait until they are copied; that reads whole squares
            slots = tiles_down * (1 + waits * (tiles_across - 1)) + -(-tile.columns // tile.rows)
        totals = self.frame.scratch(slots * tile.bytes, for_chunks=True)
        right = self.stack_number(self.right)
        parts = self.number(dims.maximum(self.depths, 1))
        is_low = e.icmp("eq", self.number(self.is_high), self.number(0))
        few = has_few_rows(self)
        in_place = FewRows(self, few, columns, origin) if few != 0 else None
        start_column = columns[0] if in_place is None else in_place.end

        def terms(part: Val) -> None:
            start, stop = self.terms(part)
            padded = self.plus(rows[0], self.up(e.op("sub", rows[1], rows[0]), tile.rows))
            pack(self, True, PackedSpan(*rows, padded), PackedSpan(start, stop, stop), copy, tile.row_bytes)
            is_last = e.icmp("eq", part, e.op("sub", parts, self.number(1)))
            if in_place is not None:
                is_first = e.icmp("eq", part, self.number(0))
                in_place.add(matrix, (start, stop), rows, copy, is_first, is_last)
            given = {
                "line": self.number(tile.line_bytes), "count": e.op("sub", stop, start),
                "goes_on": e.icmp("ne", part, self.number(0)),
            }  # fmt: skip

            def together(column: Val) -> None:
                end = self.least(self.plus(column, SIDE_BY_SIDE * width), columns[1])
                e.when(is_low, lambda: self.panels_of.call(self, own, right, start, stop, column, end))
                shared = self.panel(right, part, e.op("sdiv", column, self.number(width)))
                panels = e.select(is_low, own, shared)
                self.loop(column, end, width, lambda at: across(panels, column, at))

            def across(panels: Val, first: Val, column: Val) -> None:
                number = e.op("sdiv", e.op("sub", column, first), self.number(width))
                panel = e.offset(panels, self.times(number, panel_bytes(self)))
                place = e.op("sdiv", e.op("sub", column, columns[0]), self.number(width))
                side = self.least(self.plus(column, width), columns[1])
                stop = self.least(rows[1], side) if self.is_symmetric else rows[1]
                panel_slot = self.times(self.times(place, tiles_down), waits)

                def down(row: Val) -> None:
                    number = e.op("sub", row, rows[0])
                    slot = e.op("sdiv", number, self.number(tile.rows))
                    slot = self.plus(panel_slot, slot if self.is_symmetric else self.times(slot, waits))
                    sums = e.offset(totals, self.times(slot, tile.bytes))
                    left = e.offset(copy, self.times(number, tile.row_bytes))
                    self.add(e.op("sub", rows[1], row), e.op("sub", side, column), left, panel, sums, given)
                    end = self.least(self.plus(row, tile.rows), rows[1])
                    e.when(is_last, lambda: self.results.call(self, sums, matrix, row, end, column, side, origin))

                self.loop(rows[0], stop, tile.rows, down)
                if self.is_symmetric:
                    start = e.offset(totals, self.times(panel_slot, tile.bytes))
                    copied = (rows[0], stop), (column, side)
                    e.when(is_last, lambda: store_mirrored(self, self.results, start, matrix, *copied))

            self.loop(start_column, columns[1], SIDE_BY_SIDE * width, together)

        self.loop(self.number(0), parts, 1, terms)

    def add(self, down: Val, across: Val, left: Val, right: Val, sums: Val, given: dict[str, Val]) -> None:
        """Add terms to a tile. If its columns do not need all vectors, the vectors that they need are added one
        by one.
        """
        e, tile = self.e, self.tile
        last = self.number((tile.vectors - 1) * self.width)

        def single(column: Val) -> None:
            skipped = self.times(column, tile.size)
            lane = {"left": left, "right": e.offset(right, skipped), "sums": e.offset(sums, skipped)}
            call_tile(e, replace(tile, vectors=1), **lane, **given)

        e.when(
            e.icmp("sgt", across, last),
            lambda: self.call_lowest(down, left=left, right=right, sums=sums, **given),
            lambda: self.loop(self.number(0), across, self.width, single),
        )

    def call_lowest(self, rest: Val, **given: Val) -> None:
        """Add terms to a tile. At the end of a block a lower tile may take all rows that are left."""
        heights = [h for h in LOW if h < self.tile.rows] + [self.tile.rows]
        for below, height in zip([0, *heights], heights, strict=False):
            fits = self.e.icmp("sgt", rest, self.number(below))
            if height < self.tile.rows:
                fits = self.e.op("and", fits, self.e.icmp("sle", rest, self.number(height)))
            tile = replace(self.tile, rows=height)
            self.e.when(fits, lambda tile=tile: call_tile(self.e, tile, **given))  # type: ignore[misc]


class Finish(Blocked):
    """Run the stages over rows that blocks could not run, in loops over matrices and rows."""

    def __init__(
        self, region: Node, entries: dict[FrameWord, int], owner: str, panels: Panels, stages: RowStages
    ) -> None:
        super().__init__(region, entries, owner, panels)
        self.stages = stages

    def function(self, name: str) -> NativeFunction:
        begin, end = self.parameter("begin1"), self.parameter("end1")
        self.loop(
            self.parameter("begin0"), self.parameter("end0"), 1,
            lambda at: self.stages.call(self, self.spread_rows(at), at, begin, end),
        )  # fmt: skip
        extents = (self.is_spread * self.stack_size(self.node.result), self.m)
        return self.part(name, extents, self.n * self.row_cost)

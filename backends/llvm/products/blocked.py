"""A region with a product in, two functions out that run one after another: for large matrices.

The first packs the right operand into memory that all threads read, panel by panel: as many columns as a tile has, and
`depth` terms. The second takes blocks of rows and columns of the result. For each part of the terms it packs the rows
of the left operand, small enough for the second cache, and multiplies; one panel stays in the first cache while all
tiles of the block go by. Totals wait in memory for the next part of the terms; with the last results are made of them.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Node
from ..functions import Entry, Part
from ..text import Val
from .packing import Span, is_turned, pack, pack_panels
from .product import Product, rounded_up
from .results import Results
from .tiles import call_tile

PACKING = 60  # picoseconds to copy an element
APART = 320  # bytes between panels, so that not all of them compete for the same lines of the cache
FEWEST_DOWN, FEWEST_ACROSS = 4, 2  # blocks of a matrix that has so many tiles
SIDE_BY_SIDE = 8  # panels that are packed together: memory is read in long lines then


def _blocks(size: Size, most: int, tile: int, fewest: int) -> Size:
    """How many blocks a side is cut into: none is too long, and there are some to share between threads."""
    needed, tiles = (dims.floordiv(size + step - 1, step) for step in (most, tile))
    return dims.maximum(needed, dims.minimum(tiles, fewest))


class Blocked(Product):
    """What both functions know: where the panels lie."""

    @property
    def panel_bytes(self) -> Size:
        lines = dims.minimum(rounded_up(self.k, self.width), self.depth)
        return lines * self.tile.line_bytes + APART

    def panel(self, matrix: Val, part: Val, panel: Val) -> Val:
        """The address of a panel of the right operand."""
        size = self.stack_size(self.right) * self.depths * self.panels * self.panel_bytes
        number = self.plus(self.times(self.plus(self.times(matrix, self.depths), part), self.panels), panel)
        return self.e.offset(self.frame.shared("panels", size), self.times(number, self.panel_bytes))

    def terms(self, part: Val) -> tuple[Val, Val]:
        """Where a part of the terms begins and ends."""
        start = self.times(part, self.depth)
        return start, self.least(self.plus(start, self.depth), self.k)


class Pack(Blocked):
    """Packs the right operand: the outer loop runs over matrices and parts of the terms, the inner one over panels."""

    def function(self, name: str) -> Part:
        columns, side = self.tile.columns, 1 if is_turned(self, False) else SIDE_BY_SIDE

        def part(at: Val) -> None:
            matrix, place = self.apart(at, self.depths)
            self.bind_stack(matrix, self.right)
            start, stop = self.terms(place)

            def panels(at: Val) -> None:
                column, end = self.times(at, columns), self.least(self.plus(at, side), self.parameter("end1"))
                padded = self.times(end, columns)
                positions = Span(column, self.least(padded, self.n), padded)
                target, lines = self.panel(matrix, place, at), Span(start, stop, stop)
                if side == 1:
                    pack(self, False, lines, positions, target, self.tile.line_bytes)
                else:
                    pack_panels(self, lines, positions, target, self.panel_bytes)

            self.loop(self.parameter("begin1"), self.parameter("end1"), side, panels)

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, part)
        elements = dims.minimum(self.k, self.depth) * self.tile.columns
        return self.part(name, (self.stack_size(self.right) * self.depths, self.panels), elements * PACKING)


class Multiply(Blocked):
    """Multiplies: the outer loop runs over matrices and blocks of rows, the inner one over blocks of columns."""

    def __init__(self, region: Node, entries: dict[Entry, int], results: Results) -> None:
        super().__init__(region, entries)
        self.results = results

    def function(self, name: str) -> Part:
        row_blocks = _blocks(self.m, self.block_rows, self.tile.rows, FEWEST_DOWN)
        column_blocks = _blocks(self.n, self.block_columns, self.tile.columns, FEWEST_ACROSS)
        height = self.share(self.m, row_blocks, self.tile.rows)
        width = self.share(self.n, column_blocks, self.tile.columns)

        def rows(at: Val) -> None:
            matrix, block = self.apart(at, row_blocks)
            self.bind_stack(matrix, self.node.result)
            start = self.least(self.e.op("mul", block, height), self.m)
            stop = self.least(self.plus(start, height), self.m)

            def columns(at: Val) -> None:
                first = self.least(self.e.op("mul", at, width), self.n)
                self.block(matrix, (start, stop), (first, self.least(self.plus(first, width), self.n)))

            self.loop(self.parameter("begin1"), self.parameter("end1"), 1, columns)

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, rows)
        high = dims.minimum(dims.floordiv(self.m, FEWEST_DOWN) + 1, self.block_rows)
        wide = dims.minimum(dims.floordiv(self.n, FEWEST_ACROSS) + 1, self.block_columns)
        extents = (self.stack_size(self.node.result) * row_blocks, column_blocks)
        return self.part(name, extents, dims.product((high, wide, dims.maximum(self.k, 1), self.cost)))

    def share(self, size: Size, blocks: Size, step: int) -> Val:
        """How long the blocks of a side are: as equal as whole tiles allow."""
        count = self.number(dims.maximum(blocks, 1))
        even = self.e.op("sdiv", self.e.op("sub", self.plus(self.number(size), count), self.number(1)), count)
        return self.up(even, step)

    def block(self, matrix: Val, rows: tuple[Val, Val], columns: tuple[Val, Val]) -> None:
        """All terms of a block of one matrix of the result."""
        e, tile = self.e, self.tile
        copy = self.frame.scratch((self.block_rows + self.width) * tile.row_bytes, for_chunks=True)
        waits = dims.minimum(dims.maximum(self.depths - 1, 0), 1)  # whether totals are kept, 0 or 1
        tiles_down = self.block_rows // tile.rows
        tiles = 1 + waits * tiles_down * (self.block_columns // tile.columns)
        totals = self.frame.scratch(tiles * tile.bytes, for_chunks=True)
        right = self.stack_number(self.right)
        parts = self.number(dims.maximum(self.depths, 1))
        first_panel = e.op("sdiv", columns[0], self.number(tile.columns))

        def terms(part: Val) -> None:
            start, stop = self.terms(part)
            count = e.op("sub", stop, start)
            padded = self.plus(rows[0], self.up(e.op("sub", rows[1], rows[0]), tile.rows))
            pack(self, True, Span(*rows, padded), Span(start, stop, stop), copy, tile.row_bytes)
            goes_on = e.icmp("ne", part, self.number(0))
            is_last = e.icmp("eq", part, e.op("sub", parts, self.number(1)))

            def across(column: Val) -> None:
                place = e.op("sdiv", e.op("sub", column, columns[0]), self.number(tile.columns))
                panel = self.panel(right, part, self.plus(first_panel, place))

                def down(row: Val) -> None:
                    number = e.op("sub", row, rows[0])
                    slot = self.plus(self.times(place, tiles_down), e.op("sdiv", number, self.number(tile.rows)))
                    sums = e.offset(totals, self.times(self.times(slot, waits), tile.bytes))
                    left = e.offset(copy, self.times(number, tile.row_bytes))
                    line = self.number(tile.line_bytes)
                    call_tile(e, tile, left=left, right=panel, line=line, sums=sums, count=count, goes_on=goes_on)
                    end = self.least(self.plus(row, tile.rows), rows[1])
                    side = self.least(self.plus(column, tile.columns), columns[1])
                    e.when(is_last, lambda: self.results.call(self, sums, matrix, row, end, column, side))

                self.loop(rows[0], rows[1], tile.rows, down)

            self.loop(columns[0], columns[1], tile.columns, across)

        self.loop(self.number(0), parts, 1, terms)

    def up(self, number: Val, step: int) -> Val:
        """The next multiple of a step."""
        return self.times(self.e.op("sdiv", self.plus(number, step - 1), self.number(step)), step)

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
from .packing import Span, pack
from .product import Product, rounded_up
from .results import Results
from .tiles import call_tile

PACKING = 60  # picoseconds to copy an element


class Blocked(Product):
    """What both functions know: where the panels lie."""

    @property
    def panel_bytes(self) -> Size:
        lines = dims.minimum(rounded_up(self.k, self.width), self.depth)
        return lines * self.tile.line_bytes

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
        def part(at: Val) -> None:
            matrix, place = self.apart(at, self.depths)
            self.bind_stack(matrix, self.right)
            start, stop = self.terms(place)

            def panel(at: Val) -> None:
                column = self.times(at, self.tile.columns)
                positions = Span(column, self.least(self.plus(column, self.tile.columns), self.n),
                                 self.plus(column, self.tile.columns))  # fmt: skip
                target = self.panel(matrix, place, at)
                pack(self, False, Span(start, stop, stop), positions, target, self.tile.line_bytes)

            self.loop(self.parameter("begin1"), self.parameter("end1"), 1, panel)

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, part)
        elements = dims.minimum(self.k, self.depth) * self.tile.columns
        return self.part(name, (self.stack_size(self.right) * self.depths, self.panels), elements * PACKING)


class Multiply(Blocked):
    """Multiplies: the outer loop runs over matrices and blocks of rows, the inner one over blocks of columns."""

    def __init__(self, region: Node, entries: dict[Entry, int], results: Results) -> None:
        super().__init__(region, entries)
        self.results = results

    @property
    def row_blocks(self) -> Size:
        return dims.floordiv(self.m + self.block_rows - 1, self.block_rows)

    def function(self, name: str) -> Part:
        def rows(at: Val) -> None:
            matrix, block = self.apart(at, self.row_blocks)
            self.bind_stack(matrix, self.node.result)
            start = self.times(block, self.block_rows)
            stop = self.least(self.plus(start, self.block_rows), self.m)

            def columns(at: Val) -> None:
                first = self.times(at, self.block_columns)
                self.block(matrix, (start, stop), (first, self.least(self.plus(first, self.block_columns), self.n)))

            self.loop(self.parameter("begin1"), self.parameter("end1"), 1, columns)

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, rows)
        extents = (
            self.stack_size(self.node.result) * self.row_blocks,
            dims.floordiv(self.n + self.block_columns - 1, self.block_columns),
        )
        sides = (dims.minimum(self.m, self.block_rows), dims.minimum(self.n, self.block_columns))
        return self.part(name, extents, dims.product((*sides, dims.maximum(self.k, 1), self.cost)))

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

"""Emit one function for products of small matrices, with little overhead.

Operands are read in place: the left one always, because its elements are read one by one, and the right one if its
lines are contiguous. Other operands, and computed ones, are packed on the stack of the calling thread. Tiles of few
rows, or of one vector, handle matrices that do not fill a whole tile. A tile that would reach beyond the last row
begins earlier; its first rows are not stored again unless the product itself is the result.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ir import dims
from ....ir.accesses import address, coefficient
from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.indexing import loop_variables
from ....ir.products import DEEPEST
from ....ir.records import replace
from ..code.text import Val
from ..functions import FrameWord, NativeFunction
from .packing import PackedSpan, pack
from .panels import Panels
from .product import Product
from .results import TileResults
from .row_stages import RowStages
from .tiles import FEW_ROWS, Tile, call_tile

NARROW_ROWS = 8  # rows of tiles that are one vector wide, and of some wider ones
WIDE = 2  # width of other tiles in vectors
BLOCK = 96  # rows that a thread takes at a time, a multiple of those of a tile


class Small(Product):
    """The outer loop runs over the matrices of a stack; if stages over rows follow, the inner one runs over blocks."""

    def __init__(
        self,
        region: Node,
        entries: dict[FrameWord, int],
        owner: str,
        panels: Panels,
        results: TileResults,
        stages: RowStages | None,
    ) -> None:
        super().__init__(region, entries, owner)
        self.panels_of, self.results, self.stages = panels, results, stages

    def function(self, name: str) -> NativeFunction:
        blocks = dims.floordiv(self.m + self.block_rows - 1, self.block_rows) if self.stages else 1

        def matrix(at: Val) -> None:
            self.bind_stack(at, self.node.result)
            if self.stages is None:
                self.multiply(at, self.number(0), self.number(self.m), self.number(0))
                return
            self.loop(self.parameter("begin1"), self.parameter("end1"), 1, lambda block: self.rows(at, block))

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, matrix)
        rows = dims.minimum(self.m, self.block_rows) if self.stages else self.m
        return self.part(name, (self.stack_size(self.node.result), blocks), self.time(rows * self.n))

    def rows(self, matrix: Val, block: Val) -> None:
        """Emits a block of rows and the stages that follow."""
        assert self.stages is not None
        start = self.times(block, self.block_rows)
        stop = self.least(self.plus(start, self.block_rows), self.m)
        origin = self.own_rows(start)
        self.multiply(matrix, start, stop, self.e.cast("ptrtoint", origin, "i64"))
        self.stages.call(self, origin, matrix, start, stop)

    def multiply(self, matrix: Val, first: Val, rows: Val, origin: Val) -> None:
        """Multiplies some rows of one matrix of the stack, up to `rows`."""
        e, tile, zero = self.e, self.wide, self.number(0)
        most, across_at_once = max(tile.rows, NARROW_ROWS), tile.vectors * self.width
        if not self.is_plain(self.left):
            self.copy = self.frame.reserve(-(-most // self.width) * self.width * tile.row_bytes)
        if not self.reads_in_place:
            self.copied = self.frame.reserve(DEEPEST * tile.line_bytes)
        sums = zero if self.is_direct else self.frame.reserve(most * tile.line_bytes)
        columns, few = self.number(self.n), self.number(FEW_ROWS)

        def across(column: Val) -> None:
            side = self.least(self.plus(column, across_at_once), columns)
            right, line = self.panel(column, side)
            length = e.op("sub", side, column)
            is_narrow = e.icmp("sle", length, self.number(self.width))
            lanes = e.op("sub", length, e.select(is_narrow, zero, self.number(across_at_once - self.width)))
            tallest = e.select(is_narrow, self.number(NARROW_ROWS), self.number(tile.rows))
            lowest = tallest if tile.rows <= NARROW_ROWS else self.number(NARROW_ROWS)

            def down(values: list[Val]) -> list[Val]:
                (row,) = values
                left_over = e.op("sub", rows, row)
                is_few = e.op("or", e.icmp("sle", left_over, few), e.icmp("slt", rows, lowest))
                usual, is_middle = self.height(rows, left_over, tallest)
                end = self.least(self.plus(row, e.select(is_few, few, usual)), rows)
                start = e.select(is_few, row, e.op("sub", end, usual))
                left, row_step, term_step = self.rows_from(start, end)
                given = {
                    "left": left, "right": right, "line": line, "count": self.number(self.k), "row": row_step,
                    "term": term_step, "rows": left_over, "lanes": lanes,
                }  # fmt: skip
                if self.is_direct:
                    place, step = self.result_at(start, column)
                    self.add(is_narrow, is_few, is_middle, sums=place, out=step, **given)
                    return [end]
                self.add(is_narrow, is_few, is_middle, sums=sums, **given)
                skipped = e.offset(sums, self.times(e.op("sub", row, start), tile.line_bytes))
                self.results.call(self, skipped, matrix, row, end, column, side, origin)
                return [end]

            self.nest.while_loop([first], lambda values: e.icmp("slt", values[0], rows), down)

        self.loop(zero, columns, across_at_once, across)

    @property
    def wide(self) -> Tile:
        """Return a tile of another shape with as many registers, because few matrices have 3k vectors of columns."""
        rows = self.tile.rows * self.tile.vectors // WIDE
        return replace(self.tile, rows=rows, vectors=WIDE, is_free=True, is_direct=self.is_direct, is_tallest=True)

    def height(self, rows: Val, left_over: Val, tallest: Val) -> tuple[Val, Val | None]:
        """Return the number of rows of the next tile, unless few are left, and whether it is a wide tile of medium
        height.

        With 12, 8 and 4 rows every multiple of 4 is covered without computing a row twice; 16 are 8 and 8.
        """
        e, tile, middle = self.e, self.wide, self.number(NARROW_ROWS)
        if tile.rows <= NARROW_ROWS:
            return tallest, None
        whole = e.icmp("sgt", left_over, middle)
        evenly = e.op(
            "and",
            e.icmp("sgt", left_over, self.number(tile.rows)),
            e.icmp("sle", left_over, self.number(2 * NARROW_ROWS)),
        )
        is_middle = e.op("or", e.op("or", e.not_(whole), evenly), e.icmp("slt", rows, self.number(tile.rows)))
        return e.select(is_middle, middle, tallest), is_middle

    def add(self, is_narrow: Val, is_few: Val, is_middle: Val | None, **arguments: Val) -> None:
        """Adds all terms, with the smallest tile that is large enough."""
        e, wide = self.e, self.wide
        lower = replace(wide, rows=NARROW_ROWS, is_tallest=False)
        narrow, middle = replace(lower, vectors=1), lower

        def call(tile: Tile) -> None:
            call_tile(e, tile, **arguments)

        def tall() -> None:
            if is_middle is None:
                call(wide)
                return
            e.when(is_middle, lambda: call(middle), lambda: call(wide))

        def by_rows(tile: Tile, high: Callable[[], None]) -> None:
            e.when(is_few, lambda: call(replace(tile, rows=FEW_ROWS, is_tallest=False)), high)

        e.when(is_narrow, lambda: by_rows(narrow, lambda: call(narrow)), lambda: by_rows(wide, tall))

    # -- the result

    @property
    def is_direct(self) -> bool:
        """Whether the result is the product itself, in rows that are contiguous."""
        if self.stages is not None or self.body.outputs != (self.node.result,) or self.tile.dtype.kind == "bool":
            return False
        return self.elements(self.axes[1]).operand(len(self.body.inputs)).strides[-1] == self.tile.size

    def result_at(self, row: Val, column: Val) -> tuple[Val, Val]:
        """The address of a tile's result, and the stride of its rows."""
        rows, columns, _ = self.axes
        self.bind(rows, row)
        self.bind(columns, column)
        elements = self.elements(columns)
        buffer = elements.operand(len(self.body.inputs))
        offset: Size = address(loop_variables(self.space)[:-1], buffer.strides)
        place, _ = elements.memory.pointer(buffer, offset)
        return place, self.number(buffer.strides[-2])

    # -- operands

    def rows_from(self, start: Val, end: Val) -> tuple[Val, Val, Val]:
        """The address of rows of the left operand, and the strides of rows and terms."""
        rows, _, terms = self.axes
        if not self.is_plain(self.left):
            zero, stop = self.number(0), self.number(self.k)
            pack(self, True, PackedSpan(start, end, end), PackedSpan(zero, stop, stop), self.copy, self.tile.row_bytes)
            return self.copy, self.number(self.tile.row_bytes), self.number(self.tile.size)
        self.bind(rows, start)
        place, offset = self.place_of(True, rows, 0)
        return place, self.number(coefficient(offset, rows)), self.number(coefficient(offset, terms))

    def panel(self, column: Val, side: Val) -> tuple[Val, Val]:
        """The address of lines of the right operand, and their stride."""
        _, columns, terms = self.axes
        if self.reads_in_place:
            self.bind(columns, column)
            place, offset = self.place_of(False, columns, 0)
            return place, self.number(coefficient(offset, terms))
        right, stop = self.stack_number(self.right), self.number(self.k)
        self.panels_of.call(self, self.copied, right, self.number(0), stop, column, side)
        return self.copied, self.number(self.tile.line_bytes)


class InPlace(Small):
    """Do the same for matrices that are not small but fit a core's cache. The inner loop runs over blocks of rows."""

    def function(self, name: str) -> NativeFunction:
        def matrix(at: Val) -> None:
            self.bind_stack(at, self.node.result)
            self.loop(self.parameter("begin1"), self.parameter("end1"), 1, lambda block: some(at, block))

        def some(matrix: Val, block: Val) -> None:
            start = self.times(block, BLOCK)
            self.multiply(matrix, start, self.least(self.plus(start, BLOCK), self.m), self.number(0))

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, matrix)
        blocks, rows = dims.floordiv(self.m + BLOCK - 1, BLOCK), dims.minimum(self.m, BLOCK)
        extents = (self.is_in_place * self.stack_size(self.node.result), blocks)
        return self.part(name, extents, self.time(rows * self.n))

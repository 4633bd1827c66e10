"""Emit the loops of a product with few rows, which read the right operand where it lies.

Each element of the right operand is needed for a few rows only, so that copying it would take longer than multiplying.
A few terms at a time are added to all tiles side by side: memory is read along its lines, and the next part of each
line is prefetched. Totals wait in the second-level cache. Columns that do not fill a tile are left to the other loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir import dims
from ....ir.accesses import coefficient
from ....ir.dims import Size
from ....ir.indexing import loop_name
from ..code.text import Val
from .tiles import LINE

if TYPE_CHECKING:
    from .blocked import Multiply

MOST_TILES = 4  # below each other: more rows are worth a copy
TERMS = 16  # that are added at a time: about as many lines as the CPU follows
AHEAD = 2  # tiles: the time for 16 terms of 8 rows is about half of a memory access


def has_few_rows(product: Multiply) -> Size:
    """Return 1 if the loops are for a call's number of rows, otherwise 0; always 0 if the operand has to be copied."""
    if not product.reads_in_place:
        return 0
    return dims.minimum(dims.maximum(MOST_TILES * product.tile.rows + 1 - product.m, 0), 1)


class FewRows:
    """The loops over one block of the result, for one part of the terms after the other."""

    def __init__(self, product: Multiply, few: Size, columns: tuple[Val, Val], origin: Val) -> None:
        self.p, self.origin, e, tile = product, origin, product.e, product.tile
        whole = e.op("sdiv", e.op("sub", columns[1], columns[0]), product.number(tile.columns))
        self.start = columns[0]
        self.end = product.plus(columns[0], product.times(product.times(whole, tile.columns), few))
        across = product.block_columns // tile.columns
        self.totals = product.frame.scratch(few * across * MOST_TILES * tile.bytes, for_chunks=True)

    def add(
        self, matrix: Val, terms: tuple[Val, Val], rows: tuple[Val, Val], copy: Val, is_first: Val, is_last: Val
    ) -> None:
        """Add a part of the terms; `copy` holds this part of the left operand."""
        p, e, tile = self.p, self.p.e, self.p.tile
        _, axis, term_axis = p.axes
        p.bind_stack(p.stack_number(p.right), p.right)

        def some(first: Val) -> None:
            end = p.least(p.plus(first, TERMS), terms[1])
            count, skipped = e.op("sub", end, first), p.times(e.op("sub", first, terms[0]), tile.size)
            begins = e.op("and", is_first, e.icmp("eq", first, terms[0]))
            ends = e.op("and", is_last, e.icmp("eq", end, terms[1]))

            def across(column: Val) -> None:
                p.bind(axis, column)
                p.bind(term_axis, first)
                right, offset = p.place_of(False, axis, dims.symbol(loop_name(term_axis)))
                line = p.number(coefficient(offset, term_axis))
                ahead = e.offset(right, p.number(AHEAD * tile.line_bytes))
                p.loop(p.number(0), count, 1, lambda k: self._fetch(e.offset(ahead, e.op("mul", k, line))))
                number = e.op("sdiv", e.op("sub", column, self.start), p.number(tile.columns))
                given = {"line": line, "count": count, "goes_on": e.not_(begins), "right": right}

                def down(row: Val) -> None:
                    place = e.op("sub", row, rows[0])
                    slot = p.plus(p.times(number, MOST_TILES), e.op("sdiv", place, p.number(tile.rows)))
                    sums = e.offset(self.totals, p.times(slot, tile.bytes))
                    left = e.offset(copy, p.plus(p.times(place, tile.row_bytes), skipped))
                    p.call_lowest(e.op("sub", rows[1], row), left=left, sums=sums, **given)
                    stop, side = p.least(p.plus(row, tile.rows), rows[1]), p.plus(column, tile.columns)
                    e.when(ends, lambda: p.results.call(p, sums, matrix, row, stop, column, side, self.origin))

                p.loop(*rows, tile.rows, down)

            p.loop(self.start, self.end, tile.columns, across)

        p.loop(*terms, TERMS, some)

    def _fetch(self, place: Val) -> None:
        for offset in range(0, self.p.tile.line_bytes, LINE):
            self.p.e.prefetch(self.p.e.offset(place, self.p.number(offset)), 2)

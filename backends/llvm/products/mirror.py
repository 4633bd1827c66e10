"""Emit code that stores computed tiles of a symmetric product on the other side of the diagonal as well.

Tiles of one panel lie below each other, so their totals are one matrix as wide as a tile. Square blocks of it are
transposed, and results are computed from them as from any tile.
"""

from __future__ import annotations

from ..code.text import Val
from .packing import transposed
from .product import Product
from .results import TileResults


def store_mirrored(
    product: Product, results: TileResults, totals: Val, matrix: Val, rows: tuple[Val, Val], columns: tuple[Val, Val]
) -> None:
    """Store the totals of some rows and columns of a matrix transposed; `totals` begin with the first of both."""
    e, tile, width = product.e, product.tile, product.width
    copy = product.frame.scratch(tile.columns * tile.line_bytes, for_chunks=True)
    zero, across = product.number(0), e.op("sub", columns[1], columns[0])

    def square(first: Val) -> None:
        end = product.least(product.plus(first, tile.columns), rows[1])
        source = e.offset(totals, product.times(e.op("sub", first, rows[0]), tile.line_bytes))

        def block(row: Val, column: Val) -> None:
            start = e.offset(
                source, product.plus(product.times(row, tile.line_bytes), product.times(column, tile.size))
            )
            places = [e.offset(start, product.number(k * tile.line_bytes)) for k in range(width)]
            turned = transposed(e, [e.load(place, tile.elem, width, 1) for place in places])
            start = e.offset(copy, product.plus(product.times(column, tile.line_bytes), product.times(row, tile.size)))
            for k, x in enumerate(turned):
                e.store(x, e.offset(start, product.number(k * tile.line_bytes)), 1)

        product.loop(
            zero, e.op("sub", end, first), width,
            lambda row: product.loop(zero, across, width, lambda column: block(row, column)),
        )  # fmt: skip
        results.call(product, copy, matrix, *columns, first, end, zero)

    product.loop(*rows, tile.columns, square)

"""A finished tile in, code out that computes the region's results from it and stores them."""

from __future__ import annotations

from ....ir import dims
from ....ir.indexing import loop_name, loop_variables
from ..text import Val
from .product import Product


def write_results(product: Product, sums: Val, rows: tuple[Val, Val], columns: tuple[Val, Val]) -> None:
    """Results of these rows and columns; the totals of the first of both are at `sums`."""
    e, body, tile = product.e, product.body, product.tile
    row_axis, column_axis, _ = product.axes
    elements = product.elements(column_axis)
    index = loop_variables(product.space)[:-1]
    name = loop_name(column_axis)

    def row(at: Val) -> None:
        product.bind(row_axis, at)
        line = e.offset(sums, product.times(e.op("sub", at, rows[0]), tile.line_bytes))

        def vectors(at: Val, count: int) -> None:
            product.bind(column_axis, at)
            place = e.offset(line, product.times(e.op("sub", at, columns[0]), tile.size))
            for k in range(count):
                moved = tuple(dims.substitute(i, {name: dims.symbol(name) + k * product.width}) for i in index)
                total = e.load(
                    e.offset(place, product.number(k * product.width * tile.size)), tile.elem, product.width, 1
                )
                if tile.dtype.kind == "bool":
                    total = e.icmp("ne", total, e.zero_like(total))
                elements.put(product.node.result, moved, total)
                for slot, value in enumerate(body.outputs, len(body.inputs)):
                    elements.write(slot, value, moved)

        product.over_vectors(elements, columns[0], columns[1], columns[1], (tile.vectors, 1), vectors)

    product.loop(rows[0], rows[1], 1, row)

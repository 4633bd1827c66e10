"""Emit a function that packs adjacent panels of the right operand into memory.

A panel is as many columns as a tile has, and as many terms as one call of a tile adds at most.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ..code.text import Val
from .called import CalledProduct
from .packing import PackedSpan, is_turned, pack, pack_panels
from .product import Product, rounded_up

APART = 320  # bytes between panels, so that they do not compete for the same cache lines


def panel_bytes(product: Product) -> Size:
    lines = dims.minimum(rounded_up(product.k, product.width), product.depth)
    return lines * product.tile.line_bytes + APART


class Panels(CalledProduct):
    """Packs some terms of some columns of one matrix; columns begin with a panel."""

    names = ("matrix", "term", "term_end", "column", "column_end")

    def write(self) -> None:
        self.bind_stack(self.parameter("matrix"), self.right)
        start, stop, column, end = (self.parameter(name) for name in self.names[1:])
        lines, size = PackedSpan(start, stop, stop), panel_bytes(self)
        if not is_turned(self, False):
            padded = self.plus(column, self.up(self.e.op("sub", end, column), self.tile.columns))
            pack_panels(self, lines, PackedSpan(column, end, padded), self.memory, size)
            return

        def panel(at: Val) -> None:
            number = self.e.op("sdiv", self.e.op("sub", at, column), self.number(self.tile.columns))
            side = self.plus(at, self.tile.columns)
            target = self.e.offset(self.memory, self.times(number, size))
            pack(self, False, lines, PackedSpan(at, self.least(side, end), side), target, self.tile.line_bytes)

        self.loop(column, end, self.tile.columns, panel)

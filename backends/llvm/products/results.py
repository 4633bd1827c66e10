"""Emit a function that computes a region's results from a finished tile and stores them.

The functions that multiply call it, so that operations fused after the product are compiled once. If stages
over rows follow, it copies the tile to the memory of its rows instead.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.indexing import loop_name, loop_variables
from ....ir.ops import MATMUL, Trait
from ..code.text import Val
from .called import CalledProduct


class TileResults(CalledProduct):
    """Writes results of some rows and columns of one matrix; `memory` holds the totals, from the first of both on."""

    names = ("matrix", "row", "row_end", "column", "column_end", "origin")

    def write(self) -> None:
        self.bind_stack(self.parameter("matrix"), self.node.result)
        e, body, tile = self.e, self.body, self.tile
        rows = self.row_buffer(e.cast("inttoptr", self.parameter("origin"), "ptr")) if self.of_rows else None
        row_axis, column_axis, _ = self.axes
        elements, name = self.elements(column_axis), loop_name(column_axis)
        index = loop_variables(self.space)[:-1]
        first_row, first_column, end = (self.parameter(p) for p in ("row", "column", "column_end"))

        def row(at: Val) -> None:
            self.bind(row_axis, at)
            line = e.offset(self.memory, self.times(e.op("sub", at, first_row), tile.line_bytes))

            def store(at: Val, count: int) -> None:
                self.bind(column_axis, at)
                place = e.offset(line, self.times(e.op("sub", at, first_column), tile.size))
                for k in range(count):
                    moved = tuple(dims.substitute(i, {name: dims.symbol(name) + k * self.width}) for i in index)
                    step = self.number(k * self.width * tile.size)
                    total = e.load(e.offset(place, step), tile.elem, self.width, 1)
                    if tile.dtype.kind == "bool":
                        total = e.icmp("ne", total, e.zero_like(total))
                    if rows is not None:
                        elements.memory.store(rows, moved, total)
                        continue
                    elements.put(self.node.result, moved, total)
                    for slot, value in enumerate(body.outputs, len(body.inputs)):
                        elements.write(slot, value, moved)

            self.over_vectors(elements, first_column, end, end, (1 if self.is_costly else tile.vectors,), store)

        self.loop(first_row, self.parameter("row_end"), 1, row)

    @property
    def is_costly(self) -> bool:
        """Tell whether one vector at a time is enough work to keep the CPU busy."""
        return not self.of_rows and any(Trait.EXPENSIVE in n.op.traits for n in self.body if n.op is not MATMUL)

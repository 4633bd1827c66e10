"""A region with a product in, one function out for matrices so small that all but the product itself must be little.

Everything happens on the stack of the calling thread. Panels of the right operand are read where they lie if that is in
lines of whole vectors; the last panel, which may be narrower, and any other operand are packed. There are tiles of
fewer rows, and of one vector, for matrices that do not fill a whole one.
"""

from __future__ import annotations

from dataclasses import replace

from ....ir import dims
from ....ir.accesses import address, coefficient
from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.indexing import loop_name
from ..functions import Entry, Part
from ..text import Val
from .packing import Span, pack
from .product import Product
from .results import Results
from .tiles import Tile, call_tile

FEW_ROWS = 4


class Small(Product):
    """The loop runs over the matrices of a stack."""

    def __init__(self, region: Node, entries: dict[Entry, int], results: Results) -> None:
        super().__init__(region, entries)
        self.results = results

    def function(self, name: str) -> Part:
        def matrix(at: Val) -> None:
            self.bind_stack(at, self.node.result)
            self.multiply(at)

        self.loop(self.parameter("begin0"), self.parameter("end0"), 1, matrix)
        terms = dims.product((self.m, self.n, dims.maximum(self.k, 1), self.cost))
        return self.part(name, (self.stack_size(self.node.result), 1), terms)

    def multiply(self, matrix: Val) -> None:
        """One matrix of the stack."""
        e, tile, zero = self.e, self.tile, self.number(0)
        copy = self.frame.reserve((tile.rows + self.width) * tile.row_bytes)
        panel = self.frame.reserve(self.depth * tile.line_bytes)
        sums = self.frame.reserve(tile.bytes)
        rows, columns, terms = self.number(self.m), self.number(self.n), self.number(self.k)

        def across(column: Val) -> None:
            wanted, line = self.packed(column, panel)
            side = self.least(self.plus(column, tile.columns), columns)

            def down(row: Val) -> None:
                end = self.least(self.plus(row, tile.rows), rows)
                pack(self, True, Span(row, end, end), Span(zero, terms, terms), copy, tile.row_bytes)
                self.add(copy, wanted, line, sums, e.op("sub", end, row), e.op("sub", side, column))
                self.results.call(self, sums, matrix, row, end, column, side)

            self.loop(zero, rows, tile.rows, down)

        self.loop(zero, columns, tile.columns, across)

    def add(self, copy: Val, panel: Val, line: Val, sums: Val, rows: Val, columns: Val) -> None:
        """The tile that is large enough."""
        e = self.e

        def by_rows(tile: Tile) -> None:
            few = replace(tile, rows=FEW_ROWS)
            e.when(e.icmp("sgt", rows, self.number(FEW_ROWS)), lambda: call(tile), lambda: call(few))

        def call(tile: Tile) -> None:
            call_tile(e, tile, copy, panel, line, sums, self.number(self.k), e.const("i1", 0))

        narrow = replace(self.tile, vectors=1)
        e.when(e.icmp("sgt", columns, self.number(self.width)), lambda: by_rows(self.tile), lambda: by_rows(narrow))

    def packed(self, column: Val, panel: Val) -> tuple[Val, Val]:
        """Where a panel is, and how far apart its lines lie."""
        e, tile, zero = self.e, self.tile, self.number(0)
        end, stop = self.plus(column, tile.columns), self.number(self.n)
        count, line = self.number(self.k), self.number(tile.line_bytes)
        where = self.in_place(column)
        if where is not None:
            is_whole = e.icmp("sle", end, stop)
            count = e.select(is_whole, zero, count)
        positions = Span(column, self.least(end, stop), self.up_to(column, self.least(end, stop)))
        pack(self, False, Span(zero, count, count), positions, panel, tile.line_bytes)
        if where is None:
            return panel, line
        return e.select(is_whole, where[0], panel), e.select(is_whole, where[1], line)

    def up_to(self, start: Val, stop: Val) -> Val:
        """Where the last vector from `start` on ends."""
        length = self.e.op("and", self.plus(self.e.op("sub", stop, start), self.width - 1), self.number(-self.width))
        return self.plus(start, length)

    def in_place(self, column: Val) -> tuple[Val, Val] | None:
        """Where a panel lies in memory as it is needed, if it does, and how far apart its lines are."""
        if self.right not in self.body.inputs or self.right.type.dtype.kind == "bool":
            return None
        _, axis, terms = self.axes
        elements = self.elements(axis)
        buffer = elements.operand(elements.slots[self.right])
        offset: Size = address(self.factor(False), buffer.strides)
        if coefficient(offset, axis) != self.tile.size:
            return None
        self.bind(axis, column)
        place, _ = elements.memory.pointer(buffer, dims.substitute(offset, {loop_name(terms): 0}))
        return place, self.number(coefficient(offset, terms))

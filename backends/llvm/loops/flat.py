"""Emit a region without reductions whose rows are short, with vectors that run from row to row.

A block of rows is walked as if it were one row. Operands that are the same for every row, or one number per row, are
first written to scratch memory, repeated for all elements of the block. So the walk only loads whole vectors.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ir import dims
from ....ir.accesses import address, region_elements, walk_kind
from ....ir.dims import Size
from ....ir.forms import longest_short_row
from ....ir.graph import Node
from ....ir.indexing import Index, loop_name
from ..code.casts import memory_element
from ..code.memory import Buffer, Memory
from ..code.scopes import Scope
from ..code.text import BITS, Val
from ..functions import FrameWord, NativeFunction
from .region import Region
from .vector_loops import whole_steps


class Flat(Region):
    """A region with short rows, while its function is written."""

    def __init__(self, region: Node, entries: dict[FrameWord, int]) -> None:
        super().__init__(region, entries)
        self.outer, self.length = self.rows[-2][-1], self.extent(self.rows[-1])
        self.block = 4 * self.width  # rows in a block, so that it ends at a whole vector
        self.memory = FlatMemory(self)
        self.elements.use(self.memory)

    def over_rows(self, name: str, time: Size) -> NativeFunction:
        """Emits a function over all rows; threads share the loops around a row."""
        self.row_loops(list(self.rows), dict(zip(self.rows, self.parameters(), strict=False)))
        outer, inner = [*self.rows[:-1][:2], ()][:2]
        others = dims.product(self.extent(g) for g in self.rows[:-1][2:])
        return self.part(name, outer, inner, others * self.length * time)

    def row_loops(self, groups: list[tuple[int, ...]], ranges: Mapping[tuple[int, ...], tuple[Val, Val]]) -> None:
        if len(groups) > 2:
            super().row_loops(groups, ranges)
            return
        e, size = self.nest.e, self.frame.size
        first, last = ranges.get(groups[0]) or (size(0), size(self.extent(groups[0])))
        of_rows, of_numbers = self.scratch_loads()
        most = e.call("smin", e.op("sub", last, first), e.const("i64", self.block))
        for buffer, index in of_rows:
            self.memory.repeat(buffer, index, e.op("mul", most, size(self.length)))

        def rows(begin: Val, carried: list[Val]) -> list[Val]:
            end = e.call("smin", last, e.op("add", begin, e.const("i64", self.block)))
            for buffer, index in of_numbers:
                self.memory.spread(buffer, index, begin, end)
            self.nest.variables[loop_name(self.outer)] = (begin, self.nest.scope)
            self.elements_of_block(e.op("mul", e.op("sub", end, begin), size(self.length)))
            del self.nest.variables[loop_name(self.outer)]
            return []

        self.nest.loop(None, first, last, self.block, [], rows)

    def elements_of_block(self, count: Val) -> None:
        variable, start = loop_name(self.vector), self.frame.size(0)
        end = whole_steps(self.nest.e, start, count, self.width)
        self.nest.loop(variable, start, end, self.width, [], lambda at, _: self.row([0]))
        self.nest.loop(
            variable, end, count, self.width, [], lambda at, _: self.masked(at, count, lambda: self.row([0]))
        )

    def scratch_loads(self) -> tuple[list[tuple[Buffer, Index]], list[tuple[Buffer, Index]]]:
        """List the loads that are the same for all rows, and those of one number per row."""
        found: dict[str | None, dict[tuple[Buffer, Index], None]] = {}
        for value, index in region_elements(self.region):
            if value in self.elements.slots:
                buffer = self.elements.operand(self.elements.slots[value])
                index = tuple(dims.substitute(i, self.variables_of_groups()) for i in index)
                found.setdefault(self.memory.kind(buffer, index), {})[buffer, index] = None
        return list(found.get("row", {})), list(found.get("column", {}))


class FlatMemory(Memory):
    """Loads and stores vectors across several rows; repeated operands are loaded from scratch memory."""

    def __init__(self, region: Flat) -> None:
        super().__init__(region.nest, region.frame, region.width, loop_name(region.vector))
        self.region = region
        self.places: dict[tuple[Buffer, Index], Val] = {}

    def kind(self, buffer: Buffer, index: Index) -> str | None:
        return walk_kind(address(index, buffer.strides), self.region.outer, self.region.vector, self.region.length)

    def load(self, buffer: Buffer, index: Index) -> tuple[Val, Scope]:
        if (buffer, index) not in self.places:
            return super().load(buffer, index)
        e, elem = self.nest.e, memory_element(buffer.dtype)
        at, scope = self.nest.variables[self.vector]
        with self.nest.at(scope):
            raw = e.load(self._place(buffer, index, at), elem, self.width, 1)
            return e.icmp("ne", raw, e.zero_like(raw)) if buffer.dtype.kind == "bool" else raw, scope

    def repeat(self, buffer: Buffer, index: Index, count: Val) -> None:
        """Writes a row repeatedly until the block is filled."""
        e, region, elem = self.nest.e, self.region, memory_element(buffer.dtype)
        length, width = self.frame.size(region.length), e.const("i64", self.width)

        def copy(at: Val) -> list[Val]:
            raw = self._raw(buffer, index)
            e.masked_store(raw, self._place(buffer, index, at), 1, self.lanes_that_count())
            return []

        self._reserve(buffer, index)
        self.nest.loop(
            self.vector, self.frame.size(0), length, self.width, [],
            lambda at, _: region.masked(at, length, lambda: copy(at)),
        )  # fmt: skip

        def go_on(values: list[Val]) -> list[Val]:
            """Append a copy of the first rows, doubling them until they fill a vector."""
            known, rows = values
            raw = e.load(self._place(buffer, index, e.op("sub", known, rows)), elem, self.width, 1)
            e.store(raw, self._place(buffer, index, known), 1)
            known = e.op("add", known, e.call("smin", rows, width))
            return [known, e.select(e.icmp("slt", rows, width), known, rows)]

        e.repeat([length, length], lambda values: e.icmp("slt", values[0], count), go_on)

    def spread(self, buffer: Buffer, index: Index, begin: Val, end: Val) -> None:
        """Write the number of each row for all its elements; the next row overwrites any excess."""
        e, length = self.nest.e, self.frame.size(self.region.length)
        self._reserve(buffer, index)

        def row(at: Val, carried: list[Val]) -> list[Val]:
            raw = e.splat(self._raw(buffer, index), longest_short_row(self.region.region))
            e.store(raw, self._place(buffer, index, e.op("mul", e.op("sub", at, begin), length)), 1)
            return []

        self.nest.loop(loop_name(self.region.outer), begin, end, 1, [], row)

    def _raw(self, buffer: Buffer, index: Index) -> Val:
        """Loads raw memory, a bool as a byte."""
        found, _ = super().load(buffer, index)
        return self.nest.e.cast("zext", found, "i8") if found.elem == "i1" else found

    def _reserve(self, buffer: Buffer, index: Index) -> None:
        if (buffer, index) not in self.places:
            most = longest_short_row(self.region.region) * self.region.block
            count = most + self.width  # the last vector may reach beyond the block
            self.places[buffer, index] = self.frame.reserve(count * BITS[memory_element(buffer.dtype)] // 8)

    def _place(self, buffer: Buffer, index: Index, at: Val) -> Val:
        """The address of a block's element in scratch memory."""
        e, size = self.nest.e, BITS[memory_element(buffer.dtype)] // 8
        return e.offset(self.places[buffer, index], e.op("mul", at, e.const("i64", size)))

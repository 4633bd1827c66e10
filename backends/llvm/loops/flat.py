"""Emit two loops of a region's nest as one: vectors run from short row to short row.

A block of rows is walked as if it were one row. Operands that are the same for every row, or one number per row, are
first written to scratch memory, repeated for all elements of the block. So the walk only loads whole vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir import dims
from ....ir.accesses import address, walk_kind
from ....ir.dims import LOOP
from ....ir.forms import longest_short_row, region_guards
from ....ir.graph import Node
from ....ir.nest import ops
from ....ir.nest.scopes import variables
from ....ir.ops import SIZE
from ....ir.types import integer, sizes
from ..code.casts import element, memory_element
from ..code.text import BITS, Val
from ..code.vectors import load
from .vector_loops import LoopPlace, VectorLoop, lane_mask

if TYPE_CHECKING:
    from ..elements.operations import Known
    from .region_nest import RegionNest


class FlatRows:
    """A loop over short rows and the vector loop inside it, while they are written."""

    def __init__(self, f: RegionNest, loop: Node, inner: Node) -> None:
        assert inner.body is not None
        self.f, self.nest, self.e, self.body = f, f.nest, f.nest.e, inner.body
        (row,), (column,) = variables(loop), variables(inner)
        self.outer, self.vector, self.length = LOOP + row.name, LOOP + column.name, column.end
        self.width, self.most = integer(inner.attrs, "width"), longest_short_row(f.region)
        self.block = 4 * self.width  # rows in a block, so that it ends at a whole vector
        self.copies: dict[LoopPlace, Val] = {}

    def fits(self) -> bool:
        """Whether rows are short, and memory is accessed in one of the ways that can run from row to row."""
        shortest = dims.minimum(self.length, self.most)
        is_short = shortest == self.length or (shortest, self.length) in region_guards(self.f.region)
        return is_short and all(map(self._runs_on, self.body))

    def _runs_on(self, node: Node) -> bool:
        """Whether an op can run from row to row."""
        if node.op is SIZE:
            return not dims.symbols(sizes(node.attrs, "size")[0]) & {self.outer, self.vector}
        if node.op not in ops.ACCESSES:
            return node.op not in ops.OPS
        place = self.f.place(node)
        if self.f.slot(node.operands[-1]) is None or place.buffer.dtype.kind == "complex":
            return False
        kind = self.kind(place)
        return kind == "flat" or (kind is not None and node.op is ops.LOAD)

    def kind(self, place: LoopPlace) -> str | None:
        return walk_kind(address(place.at, place.buffer.strides), self.outer, self.vector, self.length)

    def run(self, first: Val, last: Val) -> None:
        """Emit the loops for the rows from `first` up to `last`, excluded."""
        e, f, length = self.e, self.f, self.f.frame.size(self.length)
        f.memory.vector, f.memory.width = self.vector, self.width
        loads = dict.fromkeys(f.place(n) for n in self.body if n.op is ops.LOAD)
        most = e.call("smin", e.op("sub", last, first), e.const("i64", self.block))
        for place in loads:
            if self.kind(place) == "row":
                self.repeat(place, e.op("mul", most, length))

        def rows(begin: Val, carried: list[Val]) -> list[Val]:
            end = e.call("smin", last, e.op("add", begin, e.const("i64", self.block)))
            for place in loads:
                if self.kind(place) == "column":
                    self.spread(place, begin, end)
            self.nest.variables[self.outer] = (begin, self.nest.scope)
            f.flat = self
            VectorLoop(f.memory, lambda offsets: f.body(self.body, {})).run(
                f.frame.size(0), e.op("mul", e.op("sub", end, begin), length), [1], None, None
            )
            f.flat = None
            del self.nest.variables[self.outer]
            return []

        self.nest.loop(None, first, last, self.block, [], rows)
        f.memory.vector, f.memory.width = "", 0

    def load(self, place: LoopPlace) -> Known:
        """Loads what was repeated for all elements of the block."""
        e, dtype, (at, scope) = self.e, place.buffer.dtype, self.nest.variables[self.vector]
        with self.nest.at(scope):
            return load(e, element(dtype), self.width, self._address(place, at)), scope

    def repeat(self, place: LoopPlace, count: Val) -> None:
        """Writes a row repeatedly until the block is filled."""
        e, elem, memory = self.e, memory_element(place.buffer.dtype), self.f.memory
        length, width = self.f.frame.size(self.length), e.const("i64", self.width)

        def copy(at: Val, carried: list[Val]) -> list[Val]:
            memory.mask = lane_mask(e, self.width, at, length)
            e.masked_store(self._raw(place), self._address(place, at), memory.mask)
            memory.mask = None
            return []

        def go_on(values: list[Val]) -> list[Val]:
            """Append a copy of the first rows, doubling them until they fill a vector."""
            known, rows = values
            raw = e.load(self._address(place, e.op("sub", known, rows)), elem, self.width)
            e.store(raw, self._address(place, known))
            known = e.op("add", known, e.call("smin", rows, width))
            return [known, e.select(e.icmp("slt", rows, width), known, rows)]

        self.nest.loop(self.vector, self.f.frame.size(0), length, self.width, [], copy)
        e.repeat([length, length], lambda values: e.icmp("slt", values[0], count), go_on)

    def spread(self, place: LoopPlace, begin: Val, end: Val) -> None:
        """Write the number of each row for all its elements; the next row overwrites any excess."""
        e, length = self.e, self.f.frame.size(self.length)

        def row(at: Val, carried: list[Val]) -> list[Val]:
            raw = e.splat(self._raw(place), self.most)
            e.store(raw, self._address(place, e.op("mul", e.op("sub", at, begin), length)))
            return []

        self.nest.loop(self.outer, begin, end, 1, [], row)

    def _raw(self, place: LoopPlace) -> Val:
        """Loads raw memory, a bool as a byte."""
        found, _ = self.f.memory.load(*place)
        return self.e.cast("zext", found, "i8") if found.elem == "i1" else found

    def _address(self, place: LoopPlace, at: Val) -> Val:
        """The address of a block's element in scratch memory, which is reserved when it is first needed."""
        size = BITS[memory_element(place.buffer.dtype)] // 8
        if place not in self.copies:
            count = self.most * self.block + self.width  # the last vector may reach beyond the block
            self.copies[place] = self.f.frame.reserve(count * size)
        return self.e.offset(self.copies[place], self.e.op("mul", at, self.e.const("i64", size)))


def flat_rows(f: RegionNest, loop: Node) -> FlatRows | None:
    """Emit a loop over short rows as one loop with the loop inside it, if memory allows it."""
    assert loop.body is not None
    inner = loop.body.nodes[0]
    if len(loop.body.nodes) > 1 or inner.op is not ops.FOR or inner.attrs["kind"] != "vector":
        return None
    found = FlatRows(f, loop, inner) if "width" in inner.attrs and variables(inner)[0].first == 0 else None
    return found if found is not None and found.fits() else None

"""Peel row loops so that vector stores are cache-line aligned.

A load or a store that crosses from one line of the cache to the next takes twice as long, so a long row begins with as
many elements as there are before the next line: of its first result or, where all of it is reduced in any order, of
what is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.accesses import address, coefficient, region_elements
from ...ir.indexing import Index, loop_name
from .memory import Buffer
from .text import Val

if TYPE_CHECKING:
    from .region import Region

LINE = 32  # bytes of a vector that is worth it
LONG = 8  # vectors of a row that is


def aligned_start(region: Region, start: Val, stop: Val) -> Val:
    """Where the whole vectors of a row from `start` to `stop` begin best."""
    outputs = region.outputs_of_rows()
    if not outputs:
        return start
    slot, value = outputs[0]
    return _next_line(region, region.elements.operand(slot), region.home(value, 0), start, stop) or start


def streamed_output(region: Region, first: Val) -> tuple[Buffer, Val] | None:
    """The result that is written past the caches, if one is, and whether it is aligned from `first` on."""
    outputs = region.stages.outputs[0] if region.columns else region.outputs_of_rows()
    if not region.streams or not outputs:
        return None
    slot, value = outputs[0]
    buffer = region.elements.operand(slot)
    index, e = region.home(value, 0), region.nest.e
    place = _first_address(region, buffer, index, first)
    if place is None or buffer.dtype.kind == "complex":
        return None
    if region.at_once > 1:  # the other rows of a step are aligned too if rows are whole vectors apart
        place = e.op("or", place, region.frame.size(coefficient(address(index, buffer.strides), region.jammed)))
    over = e.op("and", place, e.const("i64", region.width * buffer.dtype.size - 1))
    return buffer, e.icmp("eq", over, e.const("i64", 0))


def aligned_reads(region: Region, start: Val, stop: Val) -> Val | None:
    """The same of what a walk over columns reads first, if vectors of it can be aligned."""
    slots, joined = region.elements.slots, region.variables_of_groups()
    for value, index in region_elements(region.region):
        if value in slots:
            index = tuple(dims.substitute(i, joined) for i in index)
            first = _next_line(region, region.elements.operand(slots[value]), index, start, stop)
            if first is not None:
                return first
    return None


def _next_line(region: Region, buffer: Buffer, index: Index, start: Val, stop: Val) -> Val | None:
    """Where the line begins that follows `start`, for a long row; nothing if vectors are no lines."""
    e, size = region.nest.e, buffer.dtype.size
    first = _first_address(region, buffer, index, start)
    if first is None:
        return None
    before = e.op("and", e.op("sub", e.const("i64", 0), first), e.const("i64", region.width * size - 1))
    before = e.op("lshr", before, e.const("i64", size.bit_length() - 1))
    is_long = e.icmp("sge", e.op("sub", stop, start), e.const("i64", LONG * region.width))
    return e.op("add", start, e.select(is_long, before, e.const("i64", 0)))


def _first_address(region: Region, buffer: Buffer, index: Index, start: Val) -> Val | None:
    """Where the element at `start` of a row is, if vectors of the row are lines, or halves of lines."""
    e, size = region.nest.e, buffer.dtype.size
    offset = address(index, buffer.strides)
    if coefficient(offset, region.vector) != size or region.width * size < LINE or size & (size - 1):
        return None
    row, _ = region.elements.memory.pointer(buffer, dims.substitute(offset, {loop_name(region.vector): 0}))
    number = e.emit(f"ptrtoint ptr {row.text} to i64", "i64", 0)
    return e.op("add", number, e.op("mul", start, e.const("i64", size)))


def edge_loop(region: Region, start: Val, first: Val, end: Val, stop: Val) -> None:
    """One masked loop over both edges: what lies from `start` to `first`, and from `end` to `stop`."""
    e, nest, variable = region.nest.e, region.nest, loop_name(region.vector)

    def inside(values: list[Val]) -> Val:
        return e.icmp("slt", *values)

    def edge(values: list[Val]) -> list[Val]:
        at, limit = values
        nest.variables[variable] = (at, nest.scope)
        region.masked(at, limit, lambda: region.row([0]))
        on = e.op("add", at, e.const("i64", region.width))
        return [e.select(e.icmp("slt", at, first), end, on), stop]

    begins = e.icmp("slt", start, first)
    nest.while_loop([e.select(begins, start, end), e.select(begins, first, stop)], inside, edge)
    del nest.variables[variable]

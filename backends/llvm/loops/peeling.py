"""Peel row loops so that vector stores are cache-line aligned.

A load or store that crosses a cache line takes twice as long. So a long row begins with the elements before the next
cache line of its first result. If everything is reduced in any order, the line is that of the first operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir import dims
from ....ir.accesses import address, coefficient, region_elements
from ....ir.dims import Size
from ....ir.graph import Value
from ....ir.indexing import Index, loop_name
from ....ir.types import integer
from ..code.memory import Buffer
from ..code.text import Val

if TYPE_CHECKING:
    from .region import Region

LONG = 8  # vectors of a row from which on it counts as long


def aligned_start(region: Region, start: Val, stop: Val) -> Val:
    """Where the whole vectors of a row from `start` to `stop` should begin."""
    outputs = region.outputs_of_rows()
    if "peel" not in region.region.attrs or not outputs:
        return start
    slot, value = outputs[0]
    return _next_line(region, region.elements.operand(slot), region.home(value, 0), start, stop)


def streamed_output(region: Region, outputs: Sequence[tuple[int, Value]], first: Val) -> tuple[Buffer, Val] | None:
    """The first of some outputs if its stores are non-temporal, and whether it is aligned from `first` on."""
    if not region.region.attrs.get("stream") or not outputs:
        return None
    slot, value = outputs[0]
    buffer = region.elements.operand(slot)
    index, e = region.home(value, 0), region.nest.e
    place = _first_address(region, buffer, index, first)
    if region.at_once > 1:  # the other rows of a step are aligned too if rows are whole vectors apart
        place = e.op("or", place, region.frame.size(coefficient(address(index, buffer.strides), region.jammed)))
    over = e.op("and", place, e.const("i64", region.width * buffer.dtype.size - 1))
    return buffer, e.icmp("eq", over, e.const("i64", 0))


def aligned_reads(region: Region, start: Val, stop: Val) -> Val:
    """Where whole vectors should begin in a walk over columns, by the array that it reads first."""
    found = _read_along(region, (integer(region.region.attrs, "peel"),))
    return start if found is None else _next_line(region, *found, start, stop)


def aligned_lines(region: Region, start: Val, stop: Val) -> Val:
    """Where whole vectors should begin in a walk across lines, by the first line of the array that it reads."""
    found = _read_along(region, range(len(region.region.operands)))
    return start if found is None else _next_line(region, *found, start, stop)


def line_stride(region: Region) -> Size:
    """How many bytes two lines of the array are apart that a walk across lines reads."""
    found = _read_along(region, range(len(region.region.operands)))
    assert found is not None
    buffer, index = found
    return coefficient(address(index, buffer.strides), region.columns[-1][-1])


def _read_along(region: Region, slots: Sequence[int]) -> tuple[Buffer, Index] | None:
    """The first of some operands that vectors lie along, and the index at which it is read."""
    joined = region.variables_of_groups()
    for value, index in region_elements(region.region):
        slot, index = region.elements.slots.get(value), tuple(dims.substitute(i, joined) for i in index)
        if slot is None or slot not in slots:
            continue
        buffer = region.elements.operand(slot)
        if _lies_along(region, buffer, index):
            return buffer, index
    return None


def _lies_along(region: Region, buffer: Buffer, index: Index) -> bool:
    return coefficient(address(index, buffer.strides), region.vector) == buffer.dtype.size


def _next_line(region: Region, buffer: Buffer, index: Index, start: Val, stop: Val) -> Val:
    """The start of the next cache line after `start`, if the row is long."""
    e, size = region.nest.e, buffer.dtype.size
    first = _first_address(region, buffer, index, start)
    before = e.op("and", e.op("sub", e.const("i64", 0), first), e.const("i64", region.width * size - 1))
    before = e.op("lshr", before, e.const("i64", size.bit_length() - 1))
    is_long = e.icmp("sge", e.op("sub", stop, start), e.const("i64", LONG * region.width))
    return e.op("add", start, e.select(is_long, before, e.const("i64", 0)))


def _first_address(region: Region, buffer: Buffer, index: Index, start: Val) -> Val:
    """The address of a row's element at `start`."""
    e, size = region.nest.e, buffer.dtype.size
    offset = address(index, buffer.strides)
    row, _ = region.elements.memory.pointer(buffer, dims.substitute(offset, {loop_name(region.vector): 0}))
    number = e.emit(f"ptrtoint ptr {row.text} to i64", "i64", 0)
    return e.op("add", number, e.op("mul", start, e.const("i64", size)))


def edge_loop(region: Region, start: Val, first: Val, end: Val, stop: Val) -> None:
    """Emits one masked loop over both edges: from `start` to `first`, and from `end` to `stop`."""
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

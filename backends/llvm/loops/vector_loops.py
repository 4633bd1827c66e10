"""Emit the loop along the vectors: whole steps, single vectors, and the masked rest.

A load or store that crosses a cache line takes twice as long. So a long loop may begin with the elements before the
next cache line of an array, and stores of whole vectors may be non-temporal from there on if the array is aligned.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ir import dims
from ....ir.accesses import address, coefficient_of
from ....ir.indexing import Index
from ....ir.tuples import NamedTuple
from ..code.memory import Buffer, Memory
from ..code.text import Emitter, Val

LONG = 8  # vectors of a row from which on it counts as long
MOST_LANES = 127  # that a signed byte can count


class LoopPlace(NamedTuple):
    """An element of memory in one step of the loops."""

    buffer: Buffer
    at: Index


class VectorLoop(NamedTuple):
    """A loop that is being written: `body` emits the vectors at some offsets, and `jammed` is a loop of rows around."""

    memory: Memory
    body: Callable[[list[int]], object]
    jammed: str | None = None

    @property
    def e(self) -> Emitter:
        return self.memory.nest.e

    def run(self, start: Val, stop: Val, steps: list[int], line: LoopPlace | None, streamed: LoopPlace | None) -> None:
        """Emits the whole loop; `steps` are the numbers of vectors in a step, the most first.

        Whole vectors begin at a cache line of `line`, and `streamed` is written by non-temporal stores.
        """
        width = self.memory.width
        first = start if line is None else next_line(self.memory, line, start, stop)
        ends, begin = list[tuple[Val, Val, list[int]]](), first
        for count in steps:
            end = whole_steps(self.e, begin, stop, width * count)
            ends.append((begin, end, [width * k for k in range(count)]))
            begin = end
        if streamed is not None:
            ends = self.stream(streamed, first, ends)
        for at, end, offsets in ends:
            self.whole(at, end, offsets)
        self.edges(start, first, begin, stop)

    def whole(self, start: Val, end: Val, offsets: list[int]) -> None:
        """Emits a loop whose step processes the vectors at these offsets."""

        def step(at: Val, carried: list[Val]) -> list[Val]:
            self.body(offsets)
            return []

        self.memory.nest.loop(self.memory.vector, start, end, len(offsets) * self.memory.width, [], step)

    def stream(
        self, place: LoopPlace, first: Val, ends: list[tuple[Val, Val, list[int]]]
    ) -> list[tuple[Val, Val, list[int]]]:
        """Emits whole steps with non-temporal stores if memory is aligned; returns the plain steps that are left."""
        e, memory = self.e, self.memory
        memory.streamed, is_aligned = place.buffer, self.is_aligned(place, first)
        lasts = [e.select(is_aligned, end, start) for start, end, _ in ends]
        for last, (start, _, offsets) in zip(lasts, ends, strict=True):
            self.whole(start, last, offsets)
        memory.streamed = None
        return [(last, end, offsets) for last, (_, end, offsets) in zip(lasts, ends, strict=True)]

    def edges(self, start: Val, first: Val, end: Val, stop: Val) -> None:
        """Emits one masked loop over both edges: from `start` to `first`, if they differ, and from `end` to `stop`."""
        e, memory, nest = self.e, self.memory, self.memory.nest

        def masked(at: Val, limit: Val) -> list[Val]:
            memory.mask = lane_mask(e, memory.width, at, limit)
            self.body([0])
            memory.mask = None
            return []

        if first == start:
            nest.loop(memory.vector, end, stop, memory.width, [], lambda at, _: masked(at, stop))
            return

        def edge(values: list[Val]) -> list[Val]:
            at, limit = values
            nest.variables[memory.vector] = (at, nest.scope)
            masked(at, limit)
            on = e.op("add", at, e.const("i64", memory.width))
            return [e.select(e.icmp("slt", at, first), end, on), stop]

        begins = e.icmp("slt", start, first)
        bounds = [e.select(begins, start, end), e.select(begins, first, stop)]
        nest.while_loop(bounds, lambda values: e.icmp("slt", *values), edge)
        del nest.variables[memory.vector]

    def is_aligned(self, place: LoopPlace, first: Val) -> Val:
        """Whether whole vectors of a place from `first` on are aligned."""
        e, (buffer, at) = self.e, place
        found = _address(self.memory, place, first)
        if self.jammed is not None:  # the other rows of a step are aligned too if rows are whole vectors apart
            apart = coefficient_of(address(at, buffer.strides), self.jammed)
            found = e.op("or", found, self.memory.frame.size(apart))
        over = e.op("and", found, e.const("i64", self.memory.width * buffer.dtype.size - 1))
        return e.icmp("eq", over, e.const("i64", 0))


def next_line(memory: Memory, place: LoopPlace, start: Val, stop: Val, long: int = LONG) -> Val:
    """Return the start of the next cache line after `start`, if the row has at least `long` vectors."""
    e, size, width = memory.nest.e, place.buffer.dtype.size, memory.width
    first, is_first = _address(memory, place, start), start.text == "0"
    is_long = e.icmp("sge", stop if is_first else e.op("sub", stop, start), e.const("i64", long * width))

    def before() -> list[Val]:
        bytes_ = e.op("and", e.op("sub", e.const("i64", 0), first), e.const("i64", width * size - 1))
        return [e.op("lshr", bytes_, e.const("i64", size.bit_length() - 1))]

    (elements,) = e.either(is_long, before)  # a branch: what short rows load need not wait for the address
    return elements if is_first else e.op("add", start, elements)


def _address(memory: Memory, place: LoopPlace, start: Val) -> Val:
    """The address of a row's element at `start`."""
    e, (buffer, at) = memory.nest.e, place
    offset = dims.substitute(address(at, buffer.strides), {memory.vector: 0})
    row, _ = memory.pointer(buffer, offset)
    number = e.emit(f"ptrtoint ptr {row.text} to i64", "i64", 0)
    if start.text == "0":
        return number
    return e.op("add", number, e.op("mul", start, e.const("i64", buffer.dtype.size)))


def whole_steps(e: Emitter, start: Val, stop: Val, step: int) -> Val:
    """The end of the last whole step from `start` on."""
    length = e.call("smax", e.op("sub", stop, start), e.const("i64", 0))
    return e.op("add", start, e.op("and", length, e.const("i64", -step)))


def lane_mask(e: Emitter, width: int, at: Val, stop: Val) -> Val:
    """Return the mask of the lanes from `at` on that are before `stop`."""
    return lane_masks(e, width, at, stop, [0])[0]


def lane_masks(e: Emitter, width: int, at: Val, stop: Val, offsets: list[int]) -> list[Val]:
    """Return the masks of the lanes before `stop` of the vectors at some offsets from `at` on.

    Elements are compared in a type for which the vector fills a register. For a shorter vector LLVM left garbage in
    the mask's missing lanes, and a masked store of bytes wrote there (seen on AVX-512).
    """
    elem = f"i{min(64, max(8, 128 // width))}"
    if len(offsets) > 1 and offsets[-1] + width > MOST_LANES:
        return [lane_mask(e, width, e.op("add", at, e.const("i64", offset)), stop) for offset in offsets]
    left = e.call("smin", e.op("sub", stop, at), e.const("i64", MOST_LANES))
    left = e.splat(left if elem == "i64" else e.cast("trunc", left, elem), width)
    return [e.icmp("slt", e.lanes_of(elem, list(range(k, k + width))), left) for k in offsets]

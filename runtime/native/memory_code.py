"""Write the addresses and strides of a graph's values in a native call, and allocate what has no memory.

A value between two kernels gets memory of its own, a piece of a concatenation a part of the whole's, and a reshaped
value the memory of what it was. Memory that was taken is noted in the call's own (0 where nothing was taken yet), so
that one piece of code frees all of it, however far the call came. What a loop carries moves: a word says where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...backends.llvm.code.text import Val
from ...ir import dims
from ...ir.graph import Node, Value
from ...ir.layouts import byte_strides
from ...ir.ops import RESHAPE
from ...ir.types import integer
from .writer import NULL, CallWriter

NO_MEMORY = "no_memory"
Span = tuple[Val, Val]


class Heap(Protocol):
    """Code that takes memory, null where there is none, and frees it, null too."""

    def take(self, bytes: Val) -> Val: ...

    def free(self, taken: Val) -> None: ...


class CallMemory:
    """Addresses and strides by value. `pieces` says which values are parts of which concatenation."""

    def __init__(self, writer: CallWriter, heap: Heap, pieces: Mapping[Value, tuple[Node, int]]) -> None:
        self.w, self.heap, self.pieces = writer, heap, pieces
        self.pointers: dict[Value, Val] = {}
        self.strides: dict[Value, list[Val]] = {}
        self.moving: dict[Value, tuple[Val, Val]] = {}  # words with addresses, and how far behind them a value starts
        self.taken: dict[Val, bool] = {}  # places of memory that was taken, and whether it always is

    def place(self, value: Value) -> None:
        """Memory for a value, unless it has some."""
        if value in self.pointers or value in self.moving:
            return
        if value in self.pieces:
            node, place = self.pieces[value]
            self.place(node.result)
            axis = integer(node.attrs, "axis")
            before: dims.Size = 0
            for other in node.operands[:place]:
                before = before + other.type.shape[axis]
            self._piece(value, node.result, axis, before)
        elif value.node is not None and value.node.op is RESHAPE:
            self.reshaped(value, value.node.operands[0])
        else:
            size = dims.product((value.type.dtype.size, *value.type.shape))
            self.pointers[value] = self.scratch(self.w.sizes.number(size))
            self.put_dense_strides(value)

    def pointer(self, value: Value) -> Val:
        """Where a value is now."""
        if value not in self.moving:
            return self.pointers[value]
        word, behind = self.moving[value]
        return self.w.e.offset(self.w.field(word, 0), behind)

    def move(self, value: Value, word: Val) -> None:
        """The value is where a word says, in C order."""
        self.moving[value] = word, self.w.number(0)
        self.put_dense_strides(value)

    def share(self, value: Value, other: Value) -> None:
        """The value is where another is."""
        if other in self.moving:
            self.moving[value] = self.moving[other]
        else:
            self.pointers[value] = self.pointers[other]
        self.strides[value] = self.strides.get(other, [])

    def scratch(self, bytes: Val, wanted: Val | None = None) -> Val:
        """Memory for this call alone, or null where it is not wanted."""
        place = self.w.reserve(8, cleared=True)

        def take() -> None:
            taken = self.heap.take(bytes)
            self.w.put(taken, place, 0)
            self.w.demand(self.w.e.icmp("ne", taken, NULL), NO_MEMORY)

        self.taken[place] = wanted is None
        if wanted is None:
            take()
        else:
            self.w.e.when(wanted, take)
        return self.w.field(place, 0)

    def free(self) -> None:
        """Frees all that was taken."""
        for place, is_always in self.taken.items():
            taken = self.w.field(place, 0)
            if is_always:
                self.heap.free(taken)
            else:
                self.w.e.when(self.w.e.icmp("ne", taken, NULL), lambda t=taken: self.heap.free(t))  # type: ignore[misc]

    def put_dense_strides(self, value: Value) -> None:
        """The value lies in C order without gaps."""
        strides = byte_strides("C", value.type.shape, value.type.dtype.size, "")
        self.strides[value] = [self.w.sizes.number(s) for s in strides]

    def reshaped(self, value: Value, dense: Value) -> None:
        """The memory of a dense value in another shape."""
        self.share(value, dense)
        self.put_dense_strides(value)

    def _piece(self, value: Value, whole: Value, axis: int, before: dims.Size) -> None:
        """A part of the memory of a concatenation, which starts so many elements behind it along an axis."""
        w, strides = self.w, self.strides[whole]
        skipped = w.e.op("mul", w.sizes.number(before), strides[axis])
        if whole in self.moving:
            word, behind = self.moving[whole]
            self.moving[value] = word, w.e.op("add", behind, skipped)
        else:
            self.pointers[value] = w.e.offset(self.pointers[whole], skipped)
        self.strides[value] = strides

    def bounds(self, value: Value) -> Span:
        """The addresses between which the elements of an array lie."""
        return span(self.w, self.pointers[value], value.type.shape, self.strides[value], value.type.dtype.size)


def span(w: CallWriter, pointer: Val, shape: Sequence[dims.Size], strides: Sequence[Val], itemsize: int) -> Span:
    """The addresses between which elements lie; nothing for an empty array."""
    e = w.e
    low = high = e.cast("ptrtoint", pointer, "i64")
    some = w.number(1, "i1")
    for size, stride in zip(shape, strides, strict=True):
        number = w.sizes.number(size)
        some = e.op("and", some, e.icmp("ne", number, w.number(0)))
        reach = e.op("mul", e.op("sub", number, w.number(1)), stride)
        low = e.op("add", low, e.call("smin", reach, w.number(0)))
        high = e.op("add", high, e.call("smax", reach, w.number(0)))
    end = e.op("add", high, w.number(itemsize))
    return low, e.select(some, end, low)


def apart(w: CallWriter, a: Span, b: Span) -> Val:
    """Whether two ranges of addresses have nothing in common."""
    return w.e.op("or", w.e.icmp("ule", a[1], b[0]), w.e.icmp("uge", a[0], b[1]))

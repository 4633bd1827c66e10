"""Generate code for the addresses and strides of a graph's values in a native call, and allocate those without memory.

A value between two kernels gets its own memory. A piece of a concatenation is part of the whole, and a reshaped value
shares its operand's memory. The call's stack frame notes each allocation (0 before it is made), so the same code frees
them all, no matter where the call ends. A value carried by a loop moves; a word holds its address.
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
    """Generate code that allocates memory, which may fail with null, and frees it; freeing null does nothing."""

    def take(self, bytes: Val) -> Val: ...

    def free(self, taken: Val) -> None: ...


class CallMemory:
    """Addresses and strides of values. `pieces` tells which values are parts of which concatenation."""

    def __init__(self, writer: CallWriter, heap: Heap, pieces: Mapping[Value, tuple[Node, int]]) -> None:
        self.w, self.heap, self.pieces = writer, heap, pieces
        self.pointers: dict[Value, Val] = {}
        self.strides: dict[Value, list[Val]] = {}
        self.moving: dict[Value, tuple[Val, Val]] = {}  # words with addresses, and how far behind them a value starts
        self.taken: dict[Val, bool] = {}  # places of memory that was taken, and whether it always is

    def place(self, value: Value) -> None:
        """Allocate a value, unless it has memory."""
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
        """Return the current address of a value."""
        if value not in self.moving:
            return self.pointers[value]
        word, behind = self.moving[value]
        return self.w.e.offset(self.w.field(word, 0), behind)

    def move(self, value: Value, word: Val) -> None:
        """Read the value's address from a word; the value is in C order."""
        self.moving[value] = word, self.w.number(0)
        self.put_dense_strides(value)

    def share(self, value: Value, other: Value) -> None:
        """Let the value share another's memory."""
        if other in self.moving:
            self.moving[value] = self.moving[other]
        else:
            self.pointers[value] = self.pointers[other]
        self.strides[value] = self.strides.get(other, [])

    def scratch(self, bytes: Val, wanted: Val | None = None) -> Val:
        """Allocate memory for this call alone, or give null if none is wanted."""
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
        """Free all allocations."""
        for place, is_always in self.taken.items():
            taken = self.w.field(place, 0)
            if is_always:
                self.heap.free(taken)
            else:
                self.w.e.when(self.w.e.icmp("ne", taken, NULL), lambda t=taken: self.heap.free(t))  # type: ignore[misc]

    def put_dense_strides(self, value: Value) -> None:
        """Set the strides of C order without gaps."""
        strides = byte_strides("C", value.type.shape, value.type.dtype.size, "")
        self.strides[value] = [self.w.sizes.number(s) for s in strides]

    def reshaped(self, value: Value, dense: Value) -> None:
        """Give a dense value's memory another shape."""
        self.share(value, dense)
        self.put_dense_strides(value)

    def _piece(self, value: Value, whole: Value, axis: int, before: dims.Size) -> None:
        """Place a value in the memory of a concatenation, this many elements from its start along an axis."""
        w, strides = self.w, self.strides[whole]
        skipped = w.e.op("mul", w.sizes.number(before), strides[axis])
        if whole in self.moving:
            word, behind = self.moving[whole]
            self.moving[value] = word, w.e.op("add", behind, skipped)
        else:
            self.pointers[value] = w.e.offset(self.pointers[whole], skipped)
        self.strides[value] = strides

    def bounds(self, value: Value) -> Span:
        """Return the first and last addresses of an array's elements."""
        return span(self.w, self.pointers[value], value.type.shape, self.strides[value], value.type.dtype.size)


def span(w: CallWriter, pointer: Val, shape: Sequence[dims.Size], strides: Sequence[Val], itemsize: int) -> Span:
    """Return the address range of the elements. That of an empty array lies at 0, apart from all others."""
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
    return e.select(some, low, w.number(0)), e.select(some, end, w.number(0))


def apart(w: CallWriter, a: Span, b: Span) -> Val:
    """Tell whether two address ranges are disjoint."""
    return w.e.op("or", w.e.icmp("ule", a[1], b[0]), w.e.icmp("uge", a[0], b[1]))

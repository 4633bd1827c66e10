"""Lay out the arguments of a native kernel in a frame, and emit code that computes sizes.

A kernel takes one pointer to a frame of 64-bit words: addresses of operands and results, sizes, strides and scratch.
`Frame` hands out words as the code asks for them; its entries tell the runtime what to write where.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.dims import Atom, Size
from ..functions import FrameWord
from .scopes import Nest
from .text import Emitter, Val

STACK_LIMIT = 1 << 16
LINE = 128


class Frame:
    """The words of one kernel's frame, loaded once at the entry of each of its functions, which share `entries`."""

    def __init__(self, nest: Nest, entries: dict[FrameWord, int]) -> None:
        self.nest, self.entries = nest, entries
        self.stack_bytes = 0

    def word(self, entry: FrameWord, elem: str) -> Val:
        """The value of a word, loaded in the function's entry."""
        found = self.nest.find(entry)
        if found is not None:
            return found[0]
        e = self.nest.e
        place = self.entries.setdefault(entry, len(self.entries))
        with self.nest.at(self.nest.entry):
            address = e.offset(Val("%frame", "ptr", 0), e.const("i64", 8 * place))
            value = e.emit(f"load {elem}, ptr {address.text}, align 8", elem, 0)  # whatever memory code is about
        self.nest.entry.memo[entry] = value
        return value

    def reserve(self, bytes: int) -> Val:
        """Reserves private memory: on the native stack if it is small, otherwise in scratch memory."""
        self.stack_bytes += bytes
        if self.stack_bytes > STACK_LIMIT:
            return self.scratch(bytes)
        with self.nest.at(self.nest.entry):
            return self.nest.e.emit(f"alloca i8, i64 {bytes}, align 64", "ptr", 0)

    def scratch(self, bytes: Size, for_chunks: bool = False, name: str = "") -> Val:
        """Memory that the caller provides for each worker, always or only when chunks run.

        The same name means the same memory in all functions of the kernel.
        """
        apart = bytes + LINE  # so that workers never write to the same cache line
        kind = "chunked" if for_chunks else "scratch"
        base = self.word(FrameWord(kind, 0 if name else len(self.entries), symbol=name, bytes=apart), "ptr")
        e, own = self.nest.e, self.size(apart)
        with self.nest.at(self.nest.entry):
            return e.offset(base, e.op("mul", Val("%worker", "i64", 0), own))

    def shared(self, name: str, bytes: Size) -> Val:
        """Memory in which the functions of a kernel pass results on; `name` identifies it."""
        return self.word(FrameWord("shared", symbol=name, bytes=bytes + LINE), "ptr")

    def pointer(self, slot: int) -> Val:
        return self.word(FrameWord("pointer", slot), "ptr")

    def size(self, size: Size) -> Val:
        """Computes a size in the function's entry."""
        e = self.nest.e
        if isinstance(size, int):
            return e.const("i64", size)
        found = self.nest.find(("size", size))
        if found is not None:
            return found[0]
        with self.nest.at(self.nest.entry):
            total: Val | None = None
            for monomial, factor in size.terms:
                term = e.const("i64", factor)
                for atom in monomial:
                    value = self._atom(atom)
                    term = value if term.text == "1" else e.op("mul", term, value)
                total = term if total is None else e.op("add", total, term)
        assert total is not None
        self.nest.entry.memo["size", size] = total
        return total

    def _atom(self, atom: Atom) -> Val:
        if not atom.args:
            slot, dot, axis = atom.name.partition(".s")
            if dot:
                return self.word(FrameWord("stride", int(slot.removeprefix("arg")), int(axis)), "i64")
            return self.word(FrameWord("size", symbol=atom.name), "i64")
        return folded(self.nest.e, atom.name, [self.size(a) for a in atom.args])


def folded(e: Emitter, name: str, values: Sequence[Val]) -> Val:
    """Emits a quotient, rounded down, by a positive divisor, or the least or greatest of some numbers."""
    total, *others = values
    for other in others:
        if name != "floordiv":
            total = e.call("smin" if name == "min" else "smax", total, other)
            continue
        if other.text.isdecimal() and (divisor := int(other.text)).bit_count() == 1:
            total = e.op("ashr", total, e.const_like(total, divisor.bit_length() - 1))
            continue
        quotient = e.op("sdiv", total, other)
        below = e.icmp("slt", e.op("srem", total, other), e.const_like(total, 0))
        total = e.op("sub", quotient, e.cast("zext", below, "i64"))
    return total

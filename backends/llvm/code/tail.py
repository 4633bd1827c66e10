"""Collect the elements of an incomplete step in memory, padded to whole vectors."""

from __future__ import annotations

from collections.abc import Iterable

from ..elements.combine import Number
from .frame import Frame
from .scopes import Nest
from .text import BITS, Emitter, Val


def memory_form(elem: str) -> str:
    """The LLVM type in memory of a register type."""
    return "i8" if elem == "i1" else elem


def store(e: Emitter, x: Val, address: Val) -> None:
    """Stores a vector or a number; an `i1` is stored as a byte."""
    e.store(e.cast("zext", x, "i8") if x.elem == "i1" else x, address, 1)


def load(e: Emitter, elem: str, lanes: int, address: Val) -> Val:
    """Loads what `store` stored."""
    raw = e.load(address, memory_form(elem), lanes, 1)
    return e.icmp("ne", raw, e.zero_like(raw)) if elem == "i1" else raw


class Tail:
    """Memory for one step of a reduction, reserved when the first such step begins.

    `missing` describes an element: the LLVM type of each part, and the number that stands for a missing element.
    """

    def __init__(self, nest: Nest, frame: Frame, slots: int, lanes: int, *missing: tuple[str, Number]) -> None:
        self._nest, self._frame, self._slots, self._lanes, self._missing = nest, frame, slots, lanes, missing
        self._parts: list[_Part] = []

    def begin(self) -> None:
        if not self._parts:
            shared = self._nest, self._frame, self._slots, self._lanes
            self._parts = [_Part(*shared, elem, number) for elem, number in self._missing]
        for part in self._parts:
            part.begin()

    def put(self, element: Iterable[Val], mask: Val, lane: Val) -> None:
        """Stores the elements of one vector, which starts at a lane of the step."""
        for part, x in zip(self._parts, element, strict=True):
            part.put(x, mask, lane)

    def vectors(self) -> list[list[Val]]:
        """Loads the whole step: for each part of an element, one vector for each slot."""
        return [part.vectors() for part in self._parts]


class _Part:
    """One part of the elements of a step: its vectors, padded with one number."""

    def __init__(self, nest: Nest, frame: Frame, slots: int, lanes: int, elem: str, missing: Number) -> None:
        self.nest, self.elem, self.slots, self.lanes = nest, elem, slots, lanes
        self.itemsize = BITS[memory_form(elem)] // 8
        self.missing = nest.e.const(elem, missing, lanes)
        self.base = frame.reserve(max(1, lanes) * slots * self.itemsize)

    def begin(self) -> None:
        for slot in range(self.slots):
            store(self.nest.e, self.missing, self._vector(slot))

    def put(self, x: Val, mask: Val, lane: Val) -> None:
        e = self.nest.e
        x = e.select(mask, e.splat(x, self.lanes), self.missing)
        store(e, x, e.offset(self.base, e.op("mul", lane, e.const("i64", self.itemsize))))

    def vectors(self) -> list[Val]:
        return [load(self.nest.e, self.elem, self.lanes, self._vector(k)) for k in range(self.slots)]

    def _vector(self, slot: int) -> Val:
        return self.nest.e.offset(self.base, self.nest.e.const("i64", max(1, self.lanes) * self.itemsize * slot))

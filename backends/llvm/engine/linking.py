"""Link an object file: lay out its sections as an image, and apply its relocations.

An image is three ranges of whole pages: code, constants, and writable data. External functions and data may be too far
away for a direct reference. So their addresses are in a table among the constants, and calls go through short stubs
after the code. Kernels are entered through thunks behind these (`thunks.py`), also by one another.
"""

from __future__ import annotations

from collections.abc import Collection

from .library import BadObject, CodeImage, image_bytes
from .objects import AARCH64, ALLOC, EXECUTE, NOBITS, WRITE, Object, Relocation, read
from .relocations import THROUGH_TABLE, WIDTH, Patch, apply, stub
from .thunks import THUNK, thunk

STUB = 16
CODE, CONSTANTS, DATA = ALLOC | EXECUTE, ALLOC, ALLOC | WRITE


class ObjectLayout:
    """The layout of an object as an image, in offsets.

    `starts` are the offsets of the three ranges; `slots` and `stubs` give the table entries and stubs by symbol, and
    `thunks` those of kernels.
    """

    def __init__(self, found: Object, page: int, kernels: Collection[str] = ()) -> None:
        self.object = found
        self.places: dict[int, int] = {}
        self.starts: dict[int, int] = {}
        through_table = THROUGH_TABLE[found.machine]
        outside = sorted({r.symbol for r in found.relocations if found.symbols[r.symbol].section is None})
        inside = {r.symbol for r in found.relocations if r.kind in through_table}.difference(outside)
        end = _aligned(self._run(CODE, 0), STUB)
        self.stubs = {symbol: end + STUB * k for k, symbol in enumerate(outside)}
        entered = [k for k, s in enumerate(found.symbols) if s.name in kernels and s.section is not None]
        end = _aligned(end + STUB * len(outside), THUNK)
        self.thunks = {symbol: end + THUNK * k for k, symbol in enumerate(entered)}
        end = _aligned(self._run(CONSTANTS, _aligned(end + THUNK * len(entered), page)), 8)
        self.slots = {symbol: end + 8 * k for k, symbol in enumerate((*outside, *sorted(inside)))}
        end = self._run(DATA, _aligned(end + 8 * len(self.slots), page))
        self.size = max(page, _aligned(end, page))
        strange = [s.name for k, s in enumerate(found.sections) if s.is_loaded and k not in self.places]
        if strange:
            raise BadObject(f"the section {strange[0]} is neither code nor constants nor data")

    def _run(self, kind: int, start: int) -> int:
        """Place the sections of one kind; return where they end."""
        self.starts[kind] = end = start
        for index, section in enumerate(self.object.sections):
            if section.is_loaded and section.flags & (ALLOC | WRITE | EXECUTE) == kind:
                self.places[index] = _aligned(end, section.align)
                end = self.places[index] + section.size
        return end

    def symbol(self, index: int) -> int:
        """Return the offset of a symbol that the object defines, or of its thunk."""
        return self.thunks.get(index) or self.own(index)

    def own(self, index: int) -> int:
        """Return the offset of the function or data that a symbol of the object names."""
        name, section, value, _ = self.object.symbols[index]
        if section is None or section not in self.places or value > self.object.sections[section].size:
            raise BadObject(f"'{name}' has no place in memory")
        return self.places[section] + value

    def functions(self) -> dict[str, int]:
        """Return the offsets of the functions and data that others may use."""
        symbols = enumerate(self.object.symbols)
        return {s.name: self.symbol(k) for k, s in symbols if s.section is not None and not s.is_local and s.name}


def linked(code: bytes, page: int, kernels: Collection[str]) -> bytes:
    """Return the image of an object file, as bytes; `kernels` are functions that get a thunk."""
    return image_bytes(link(ObjectLayout(read(code), page, kernels)))


def link(layout: ObjectLayout) -> CodeImage:
    """Return the image of an object."""
    found, image = layout.object, bytearray(layout.size)
    for index, place in layout.places.items():
        section = found.sections[index]
        if section.type != NOBITS:
            image[place : place + section.size] = found.code[section.offset : section.offset + section.size]
    outside = {symbol: k for k, symbol in enumerate(layout.stubs, 1)}
    fixups = [
        (slot, outside.get(symbol, 0), 0 if symbol in outside else layout.symbol(symbol))
        for symbol, slot in layout.slots.items()
    ]
    for symbol, at in layout.stubs.items():
        image[at : at + STUB] = stub(found.machine, at, layout.slots[symbol])
        if found.machine == AARCH64:
            fixups.append((at + 8, outside[symbol], 0))
    for symbol, at in layout.thunks.items():
        image[at : at + THUNK] = thunk(found.machine, at, layout.own(symbol)).ljust(THUNK, b"\0")
    for relocation in found.relocations:
        _relocate(layout, image, relocation, outside.get(relocation.symbol, 0), fixups)
    names = tuple(found.symbols[symbol].name for symbol in outside)
    starts = layout.starts[CONSTANTS], layout.starts[DATA]
    return CodeImage(layout.size, *starts, layout.functions(), names, tuple(fixups), bytes(image).rstrip(b"\0"))


def _relocate(
    layout: ObjectLayout, image: bytearray, r: Relocation, outside: int, fixups: list[tuple[int, int, int]]
) -> None:
    found = layout.object
    section, machine = found.sections[r.section], found.machine
    if r.offset + WIDTH[machine].get(r.kind, 4) > section.size:
        raise BadObject(f"a relocation behind the end of {section.name}")
    target = 0 if outside else layout.symbol(r.symbol)
    near = layout.stubs[r.symbol] if outside else target
    slot = layout.slots[r.symbol] + r.addend if r.symbol in layout.slots else None
    at = layout.places[r.section] + r.offset
    apply(machine, r.kind, Patch(image, at, target + r.addend, near + r.addend, slot, outside, fixups))


def _aligned(offset: int, step: int) -> int:
    return -(-offset // step) * step

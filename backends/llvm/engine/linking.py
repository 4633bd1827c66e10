"""Place the sections of an object file at an address and apply its relocations.

Memory is three ranges of whole pages: code, constants, and writable data. External functions and data may be too far
away for a direct reference. So their addresses are in a table among the constants, and calls go through short stubs
after the code.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from .objects import ALLOC, EXECUTE, NOBITS, WRITE, BadObject, Object, Relocation
from .relocations import THROUGH_TABLE, WIDTH, Patch, apply, stub

STUB = 16
CODE, CONSTANTS, DATA = ALLOC | EXECUTE, ALLOC, ALLOC | WRITE


class ObjectLayout:
    """The layout of an object in memory, as offsets from its base address.

    `starts` are the offsets of the three ranges; `slots` and `stubs` give the table entries and stubs by symbol.
    """

    def __init__(self, found: Object, page: int) -> None:
        self.object = found
        self.places: dict[int, int] = {}
        self.starts: dict[int, int] = {}
        through_table = THROUGH_TABLE[found.machine]
        outside = sorted({r.symbol for r in found.relocations if found.symbols[r.symbol].section is None})
        inside = {r.symbol for r in found.relocations if r.kind in through_table}.difference(outside)
        end = _aligned(self._run(CODE, 0), STUB)
        self.stubs = {symbol: end + STUB * k for k, symbol in enumerate(outside)}
        end = _aligned(self._run(CONSTANTS, _aligned(end + STUB * len(outside), page)), 8)
        self.slots = {symbol: end + 8 * k for k, symbol in enumerate((*outside, *sorted(inside)))}
        end = self._run(DATA, _aligned(end + 8 * len(self.slots), page))
        self.size = max(page, _aligned(end, page))
        strange = [s.name for k, s in enumerate(found.sections) if s.is_loaded and k not in self.places]
        if strange:
            raise BadObject(f"the section {strange[0]} is neither code nor constants nor data")

    def _run(self, kind: int, start: int) -> int:
        """Places the sections of one kind; returns where they end."""
        self.starts[kind] = end = start
        for index, section in enumerate(self.object.sections):
            if section.is_loaded and section.flags & (ALLOC | WRITE | EXECUTE) == kind:
                self.places[index] = _aligned(end, section.align)
                end = self.places[index] + section.size
        return end

    def symbol(self, index: int) -> int:
        """The offset of a symbol that the object defines."""
        name, section, value = self.object.symbols[index]
        if section is None or section not in self.places or value > self.object.sections[section].size:
            raise BadObject(f"'{name}' has no place in memory")
        return self.places[section] + value

    def functions(self, names: Sequence[str]) -> list[int]:
        """The offsets of functions."""
        known = {name: index for index, (name, section, _) in enumerate(self.object.symbols) if section is not None}
        missing = [name for name in names if name not in known]
        if missing:
            raise BadObject(f"there is no function '{missing[0]}'")
        return [self.symbol(known[name]) for name in names]


def link(layout: ObjectLayout, base: int, addresses: Mapping[str, int]) -> bytearray:
    """Links an object for the address `base`; `addresses` resolve its undefined symbols."""
    found, image = layout.object, bytearray(layout.size)
    for index, place in layout.places.items():
        section = found.sections[index]
        if section.type != NOBITS:
            image[place : place + section.size] = found.code[section.offset : section.offset + section.size]
    targets = {symbol: _address(layout, symbol, base, addresses) for symbol in layout.slots}
    for symbol, slot in layout.slots.items():
        struct.pack_into("<Q", image, slot, targets[symbol])
    for symbol, at in layout.stubs.items():
        image[at : at + STUB] = stub(found.machine, at, layout.slots[symbol], targets[symbol])
    for relocation in found.relocations:
        _relocate(layout, image, relocation, base, targets)
    return image


def _relocate(layout: ObjectLayout, image: bytearray, r: Relocation, base: int, targets: Mapping[int, int]) -> None:
    found = layout.object
    section, machine = found.sections[r.section], found.machine
    if r.offset + WIDTH[machine].get(r.kind, 4) > section.size:
        raise BadObject(f"a relocation behind the end of {section.name}")
    target = targets[r.symbol] if r.symbol in targets else base + layout.symbol(r.symbol)
    near = base + layout.stubs[r.symbol] if r.symbol in layout.stubs else target
    slot = base + layout.slots[r.symbol] + r.addend if r.symbol in layout.slots else 0
    at = layout.places[r.section] + r.offset
    apply(machine, r.kind, Patch(image, at, base + at, target + r.addend, near + r.addend, slot))


def _address(layout: ObjectLayout, symbol: int, base: int, addresses: Mapping[str, int]) -> int:
    found = layout.object.symbols[symbol]
    if found.section is not None:
        return base + layout.symbol(symbol)
    if not addresses.get(found.name):
        raise BadObject(f"nothing outside is called '{found.name}'")
    return addresses[found.name]


def _aligned(offset: int, step: int) -> int:
    return -(-offset // step) * step

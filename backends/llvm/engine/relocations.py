"""Apply relocations of x86-64 and AArch64 to code and data.

The kinds are those that LLVM makes of our modules; the names in the tables are the ABIs'.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from ....ir.tuples import NamedTuple
from .library import BadObject
from .objects import AARCH64, X86_64


class Patch(NamedTuple):
    """The input of a relocation: the image, the offset in it, and what it refers to. All are offsets in the image.

    `target` includes the addend; for a symbol outside, which has the number `outside`, it is the addend alone. `near`
    is what a call reaches: a stub if the target is outside. `slot` is the table entry that holds the target's address,
    if there is one. `fixups` collects the words that need an address (`library.py`).
    """

    image: bytearray
    at: int
    target: int
    near: int
    slot: int | None
    outside: int
    fixups: list[tuple[int, int, int]]


Rule = Callable[[Patch], None]


def apply(machine: int, kind: int, place: Patch) -> None:
    """Apply a relocation to the image."""
    rule = RULES[machine].get(kind)
    if rule is None:
        raise BadObject(f"a relocation of the kind {kind}")
    rule(place)


def stub(machine: int, at: int, slot: int) -> bytes:
    """Return code that jumps to the external address in a slot of the table; on AArch64, in its own last word."""
    if machine == X86_64:
        return b"\xff\x25" + struct.pack("<i", slot - at - 6) + b"\xcc" * 10  # jmp *slot(%rip)
    return struct.pack("<IIQ", 0x58000050, 0xD61F0200, 0)  # ldr x16, 8; br x16


def _inside(p: Patch) -> int:
    """Return the target of a direct reference, which must be inside the image."""
    if p.outside:
        raise BadObject("a direct reference to an external symbol")
    return p.target


def _signed(value: int, bits: int) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise BadObject(f"{value} does not fit a relocation of {bits} bits")
    return value


def _slot(p: Patch) -> int:
    if p.slot is None:
        raise BadObject("a relocation needs a word of the table that is not there")
    return p.slot


def _absolute(p: Patch) -> None:
    p.fixups.append((p.at, p.outside, p.target))


def _put64(p: Patch, value: int) -> None:
    struct.pack_into("<Q", p.image, p.at, value % (1 << 64))


def _put32(p: Patch, value: int) -> None:
    struct.pack_into("<i", p.image, p.at, _signed(value, 32))


def _change(p: Patch, mask: int, bits: int) -> None:
    """Replaces the masked bits of an instruction."""
    (word,) = struct.unpack_from("<I", p.image, p.at)
    struct.pack_into("<I", p.image, p.at, word & ~mask | bits & mask)


def _page(p: Patch, target: int) -> None:
    """Encodes the distance to a target in pages, in the two fields of an `adrp`."""
    pages = _signed((target >> 12) - (p.at >> 12), 21)
    _change(p, 0x60FFFFE0, (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)


def _low(p: Patch, target: int, scale: int) -> None:
    """Encode a target's offset in its page, in units of the access size."""
    low = target & 0xFFF
    if low & ((1 << scale) - 1):
        raise BadObject("an access to memory is not aligned")
    _change(p, 0x003FFC00, low >> scale << 10)


def _branch(p: Patch) -> None:
    distance = _signed(p.near - p.at, 28)
    if distance & 3:
        raise BadObject("a call leads into the middle of an instruction")
    _change(p, 0x03FFFFFF, distance >> 2)


_INTEL: dict[int, Rule] = {
    1: _absolute,  # R_X86_64_64
    2: lambda p: _put32(p, _inside(p) - p.at),  # R_X86_64_PC32
    4: lambda p: _put32(p, p.near - p.at),  # R_X86_64_PLT32
    9: lambda p: _put32(p, _slot(p) - p.at),  # R_X86_64_GOTPCREL
    24: lambda p: _put64(p, _inside(p) - p.at),  # R_X86_64_PC64
    41: lambda p: _put32(p, _slot(p) - p.at),  # R_X86_64_GOTPCRELX
    42: lambda p: _put32(p, _slot(p) - p.at),  # R_X86_64_REX_GOTPCRELX
}

_ARM: dict[int, Rule] = {
    257: _absolute,  # R_AARCH64_ABS64
    260: lambda p: _put64(p, _inside(p) - p.at),  # R_AARCH64_PREL64
    261: lambda p: _put32(p, _inside(p) - p.at),  # R_AARCH64_PREL32
    275: lambda p: _page(p, _inside(p)),  # R_AARCH64_ADR_PREL_PG_HI21
    277: lambda p: _low(p, _inside(p), 0),  # R_AARCH64_ADD_ABS_LO12_NC
    278: lambda p: _low(p, _inside(p), 0),  # R_AARCH64_LDST8_ABS_LO12_NC
    282: _branch,  # R_AARCH64_JUMP26
    283: _branch,  # R_AARCH64_CALL26
    284: lambda p: _low(p, _inside(p), 1),  # R_AARCH64_LDST16_ABS_LO12_NC
    285: lambda p: _low(p, _inside(p), 2),  # R_AARCH64_LDST32_ABS_LO12_NC
    286: lambda p: _low(p, _inside(p), 3),  # R_AARCH64_LDST64_ABS_LO12_NC
    299: lambda p: _low(p, _inside(p), 4),  # R_AARCH64_LDST128_ABS_LO12_NC
    311: lambda p: _page(p, _slot(p)),  # R_AARCH64_ADR_GOT_PAGE
    312: lambda p: _low(p, _slot(p), 3),  # R_AARCH64_LD64_GOT_LO12_NC
}

RULES = {X86_64: _INTEL, AARCH64: _ARM}
THROUGH_TABLE = {X86_64: frozenset((9, 41, 42)), AARCH64: frozenset((311, 312))}
WIDTH = {X86_64: {1: 8, 24: 8}, AARCH64: {257: 8, 260: 8}}  # bytes that a relocation changes, if not four

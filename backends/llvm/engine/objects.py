"""Read the sections, symbols and relocations of an ELF object file.

It reads only what LLVM writes for our modules: 64-bit, little-endian, relocatable, for x86-64 or AArch64. Anything
else is a `BadObject`, which a cache takes for a miss.
"""

from __future__ import annotations

import struct

from ....ir.tuples import NamedTuple
from .library import MOST, BadObject

X86_64, AARCH64 = 62, 183
WRITE, ALLOC, EXECUTE = 1, 2, 4
NOBITS = 8
_SYMTAB, _RELA, _REL, _UNWIND = 2, 4, 9, 0x70000001
_UNDEFINED, _RESERVED = 0, 0xFF00
_LOCAL = 0  # how a symbol is bound that other files do not see


class Section(NamedTuple):
    """A section: its place in the file, and its size and alignment in memory."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int

    @property
    def is_loaded(self) -> bool:
        """Whether it is loaded into memory; unwinding tables are not, because no exception passes through our code."""
        return bool(self.flags & ALLOC) and self.size > 0 and self.type != _UNWIND and self.name != ".eh_frame"


class Symbol(NamedTuple):
    """A name with its section and offset; an undefined symbol has no section."""

    name: str
    section: int | None
    value: int
    is_local: bool


class Relocation(NamedTuple):
    """A place in a section that needs the address of a symbol."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class Object(NamedTuple):
    """An object file."""

    machine: int
    code: bytes
    sections: list[Section]
    symbols: list[Symbol]
    relocations: list[Relocation]

    @property
    def undefined(self) -> frozenset[str]:
        """The names of the undefined symbols."""
        return frozenset(s.name for s in self.symbols if s.section is None and s.name)


def read(code: bytes) -> Object:
    """The parts of an object file."""
    try:
        return _read(code)
    except (struct.error, IndexError, ValueError) as error:
        raise BadObject(f"not an object file that Weft made: {error}") from error


def undefined_symbols(code: bytes) -> frozenset[str]:
    """The undefined symbols of an object."""
    return read(code).undefined


def _read(code: bytes) -> Object:
    if code[:7] != b"\x7fELF\x02\x01\x01":
        raise BadObject("not a 64-bit little-endian ELF file")
    kind, machine = struct.unpack_from("<HH", code, 16)
    if kind != 1 or machine not in (X86_64, AARCH64):
        raise BadObject(f"not a relocatable object of a known machine (type {kind}, machine {machine})")
    (at,) = struct.unpack_from("<Q", code, 40)
    entry, count, names = struct.unpack_from("<HHH", code, 58)
    if entry != 64 or at + 64 * count > len(code):
        raise BadObject("the section table does not fit the file")
    found = [struct.unpack_from("<IIQQQQIIQQ", code, at + 64 * k) for k in range(count)]
    texts = found[names]
    sections = [Section(_text(code, texts[4] + s[0]), s[1], s[2], s[4], s[5], s[6], s[7], max(1, s[8])) for s in found]
    for section in sections:
        if section.type != NOBITS and section.offset + section.size > len(code):
            raise BadObject(f"the section {section.name} does not fit the file")
        if section.align & (section.align - 1) or section.align > 4096:
            raise BadObject(f"the section {section.name} is aligned to {section.align} bytes")
        if section.size > MOST:
            raise BadObject(f"the section {section.name} has {section.size} bytes")
        if section.type == _REL and sections[section.info].is_loaded:
            raise BadObject(f"relocations without addends ({section.name})")
    tables = [s for s in sections if s.type == _SYMTAB]
    if len(tables) != 1:
        raise BadObject(f"{len(tables)} symbol tables")
    symbols = _symbols(code, tables[0], sections)
    relocations = [r for s in sections if s.type == _RELA and sections[s.info].is_loaded for r in _relocations(code, s)]
    if any(r.symbol >= len(symbols) for r in relocations):
        raise BadObject("a relocation refers to a symbol that is not there")
    return Object(machine, code, sections, symbols, relocations)


def _symbols(code: bytes, table: Section, sections: list[Section]) -> list[Symbol]:
    names = sections[table.link].offset
    found = []
    for name, info, _other, place, value, _size in struct.iter_unpack("<IBBHQQ", _bytes(code, table)):
        if place >= _RESERVED:
            # In our objects only the name of the source file is absolute; a reference to it is an error.
            found.append(Symbol("", None, 0, True))
        elif place == _UNDEFINED:
            found.append(Symbol(_text(code, names + name), None, 0, False))
        else:
            found.append(Symbol(_text(code, names + name), place, value, info >> 4 == _LOCAL))
    return found


def _relocations(code: bytes, table: Section) -> list[Relocation]:
    return [
        Relocation(table.info, offset, info & 0xFFFFFFFF, info >> 32, addend)
        for offset, info, addend in struct.iter_unpack("<QQq", _bytes(code, table))
    ]


def _bytes(code: bytes, section: Section) -> bytes:
    return code[section.offset : section.offset + section.size]


def _text(code: bytes, at: int) -> str:
    return code[at : code.index(b"\0", at)].decode()

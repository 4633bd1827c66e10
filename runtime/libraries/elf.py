"""Read what the dynamic linker reads from an ELF library: header, segments and dynamic section.

The linker follows these without checking whether the file contains what they name, so a damaged or truncated library
kills the process that loads it. `Image` raises `Damage` if they point to something that is not there; `elf_tables.py`
checks the tables behind them.
"""

from __future__ import annotations

import hashlib
import platform
import struct
from typing import Any

import numpy as np

from ...ir.tuples import NamedTuple

_MAGIC = b"\x7fELF"
_HEADER, _SEGMENT = 64, 56
_BUILD_ID = b"\3\0\0\0GNU\0"
_MACHINES = {62: "x86_64", 183: "aarch64"}
_LARGEST = 1 << 33  # bytes of memory

LOAD, DYNAMIC, NOTE, PHDR, TLS, EH_FRAME, RELRO, PROPERTY = (
    1, 2, 4, 6, 7, 0x6474E550, 0x6474E552, 0x6474E553,
)  # fmt: skip
EXECUTE, WRITE, READ = 1, 2, 4
NEEDED, STRTAB, SYMTAB, STRSZ, SYMENT, SONAME = 1, 5, 6, 10, 11, 14

Table = np.ndarray[Any, Any]


class Damage(Exception):
    """Raised for a damaged library; the message completes the sentence "it can't be loaded: …"."""


class Segment(NamedTuple):
    """An entry of the program header."""

    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    size: int
    alignment: int

    @property
    def end(self) -> int:
        return self.address + self.size


class Image:
    """A library as the dynamic linker sees it; addresses are relative to its base."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        _check_header(content)
        self.segments = _segments(content)
        self.loaded = tuple(s for s in self.segments if s.kind == LOAD)
        self._check_segments()
        self.entries = self._dynamic()
        self.tags = dict(self.entries)  # the last of a kind counts
        self._strings = self._string_table()

    def text(self, offset: int) -> str:
        """Return a string of the string table."""
        end = self._strings.find(b"\0", offset)
        if end < 0:
            raise Damage("it names a string outside its string table")
        return self._strings[offset:end].decode("utf-8", "surrogateescape")

    def texts(self, tag: int) -> list[str]:
        """Return the strings that entries of a kind name."""
        return [self.text(value) for found, value in self.entries if found == tag]

    @property
    def text_size(self) -> int:
        return len(self._strings)

    def bytes_at(self, address: int, size: int, what: str) -> memoryview:
        """Return bytes of the file by their address in memory."""
        for s in self.loaded:
            if s.address <= address and address + size <= s.address + s.file_size:
                start = address - s.address + s.offset
                return memoryview(self.content)[start : start + size]
        raise Damage(f"its {what} is outside of the file")

    def rest_at(self, address: int, what: str) -> memoryview:
        """Return the bytes from an address to the end of the file's data there."""
        for s in self.loaded:
            if s.address <= address < s.address + s.file_size:
                return memoryview(self.content)[address - s.address + s.offset : s.offset + s.file_size]
        raise Damage(f"its {what} is outside of the file")

    def is_in(self, addresses: Table, flag: int = 0, size: int = 0) -> Table:
        """Tell which addresses lie in the library's memory, in segments with a flag."""
        found = np.zeros(len(addresses), bool)
        for s in self.loaded:
            if s.flags & flag == flag and s.size >= size:
                found |= (addresses >= s.address) & (addresses <= s.end - size)
        return found

    @property
    def build_id(self) -> bytes:
        """Return the build ID that the linker wrote, or nothing."""
        for s in self.segments:
            data = bytes(self.rest_at(s.address, "note")[: s.size]) if s.kind == NOTE and s.size else b""
            at = data.find(_BUILD_ID)
            if at >= 4:
                (size,) = struct.unpack_from("<I", data, at - 4)
                return data[at + len(_BUILD_ID) :][:size]
        return b""

    @property
    def digest(self) -> bytes:
        """Return a digest of everything that is loaded, except the file header, which `strip` changes."""
        found = hashlib.sha256()
        for s in self.loaded:
            start = max(s.offset, _HEADER)
            found.update(memoryview(self.content)[start : max(start, s.offset + s.file_size)])
        return found.digest()

    def _check_segments(self) -> None:
        if not self.loaded:
            raise Damage("it has nothing to load")
        end = 0
        for s in self.loaded:
            if s.address < end or s.end > _LARGEST:
                raise Damage("its segments overlap, or are out of order")
            if s.alignment & (s.alignment - 1) or (s.address - s.offset) % max(1, s.alignment):
                raise Damage("a segment is not aligned")
            if not s.flags & READ or (s.size > s.file_size and not s.flags & WRITE):
                raise Damage("a segment can't be read, or has memory without content")
            end = s.end
        for s in self.segments:
            is_inside = any(load.address <= s.address and s.end <= _page_end(load.end) for load in self.loaded)
            if s.kind in (DYNAMIC, NOTE, PHDR, EH_FRAME, RELRO, PROPERTY) and s.size and not is_inside:
                raise Damage("a segment lies outside of those that are loaded")
            if s.kind == TLS:
                if s.alignment & (s.alignment - 1) or s.alignment > 1 << 16 or s.size > _LARGEST:
                    raise Damage("its thread-local data has an impossible size or alignment")
                if s.file_size:
                    self.bytes_at(s.address, s.file_size, "thread-local data")

    def _dynamic(self) -> list[tuple[int, int]]:
        found = next((s for s in self.segments if s.kind == DYNAMIC), None)
        if found is None:
            raise Damage("it has no dynamic section")
        data = self.rest_at(found.address, "dynamic section")
        entries: list[tuple[int, int]] = []
        for at in range(0, len(data) - 15, 16):
            tag, value = struct.unpack_from("<QQ", data, at)
            if not tag:
                return entries
            entries.append((tag, value))
        raise Damage("its dynamic section does not end")

    def _string_table(self) -> bytes:
        for tag in (STRTAB, SYMTAB, STRSZ):
            if tag not in self.tags:
                raise Damage("it has no symbols")
        if self.tags.get(SYMENT, 24) != 24:
            raise Damage("its symbols have another size")
        found = bytes(self.bytes_at(self.tags[STRTAB], self.tags[STRSZ], "string table"))
        if not found.endswith(b"\0"):
            raise Damage("its string table does not end")
        for tag in (NEEDED, SONAME):
            if any(value >= len(found) for name, value in self.entries if name == tag):
                raise Damage("it names a string outside its string table")
        return found


def _check_header(content: bytes) -> None:
    if len(content) < _HEADER:
        raise Damage("its end is missing")
    if not content.startswith(_MAGIC):
        raise Damage("it is not in the format ELF")
    if content[4:7] != b"\x02\x01\x01":
        raise Damage("it is not for machines with 64 bits, the lower byte first")
    kind, machine = struct.unpack_from("<HH", content, 16)
    if kind != 3:
        raise Damage("it is not a shared library")
    own = platform.machine()
    if own in _MACHINES.values() and _MACHINES.get(machine) != own:
        raise Damage(f"it is for {_MACHINES.get(machine, 'another machine')}")


def _segments(content: bytes) -> tuple[Segment, ...]:
    (start,) = struct.unpack_from("<Q", content, 32)
    length, count = struct.unpack_from("<HH", content, 54)
    if length != _SEGMENT or start + length * count > len(content):
        raise Damage("its end is missing")
    found = tuple(_segment(content, start + k * length) for k in range(count))
    for s in found:
        if s.kind == LOAD and (s.offset + s.file_size > len(content)):
            raise Damage("its end is missing")
        if s.file_size > s.size and s.kind in (LOAD, TLS):
            raise Damage("a segment has less memory than file content")
    return found


def _segment(content: bytes, at: int) -> Segment:
    kind, flags, offset, address, _, file_size, size, alignment = struct.unpack_from("<IIQQQQQQ", content, at)
    return Segment(kind, flags, offset, address, file_size, size, alignment)


def _page_end(address: int) -> int:
    """Return the end of an address's page; read-only memory is rounded up to one."""
    return -(-address >> 16) << 16 if address & 0xFFF else address

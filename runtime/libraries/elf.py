"""Check the bytes of a shared library before it is loaded.

The dynamic linker maps what the headers name without asking whether the file has it, and whoever reads memory past
the end of a file is killed. A library that is half written, as while it is built anew, must be an error instead. Of
one for another CPU the linker says that there is no such file.
"""

from __future__ import annotations

import platform
import struct

_MAGIC = b"\x7fELF\x02"  # 64 bits
_HEADER = 64
_ORDERS = {1: "<", 2: ">"}
_MACHINES = {62: "x86_64", 183: "aarch64"}


def foreign_machine(content: bytes) -> str | None:
    """The CPU that a library is for, if it is another one than this process runs on and both are known."""
    order = _order(content)
    found = None if order is None else _MACHINES.get(struct.unpack_from(f"{order}H", content, 18)[0])
    own = platform.machine()
    return found if own in _MACHINES.values() and found != own else None


def is_cut_off(content: bytes) -> bool:
    """Whether a file of the format ELF names bytes that it does not have; other formats are the linker's business."""
    order = _order(content)
    if order is None:
        return False
    (start,) = struct.unpack_from(f"{order}Q", content, 32)
    length, count = struct.unpack_from(f"{order}HH", content, 54)
    if length < 56 or start + length * count > len(content):
        return True
    segments = (struct.unpack_from(f"{order}8xQ16xQ", content, start + k * length) for k in range(count))
    return any(offset + size > len(content) for offset, size in segments)


def _order(content: bytes) -> str | None:
    """The order of bytes in a file of the format ELF for 64 bits."""
    is_elf = content.startswith(_MAGIC) and len(content) >= _HEADER
    return _ORDERS.get(content[5]) if is_elf else None

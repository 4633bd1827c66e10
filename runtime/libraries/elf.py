"""The bytes of a shared library in, whether its end is missing out.

The dynamic linker maps what the headers name without asking whether the file has it, and whoever reads memory past
the end of a file is killed. A library that is half written, as while it is built anew, must be an error instead.
"""

from __future__ import annotations

import struct

_MAGIC = b"\x7fELF\x02"  # 64 bits
_HEADER = 64
_ORDERS = {1: "<", 2: ">"}


def is_cut_off(content: bytes) -> bool:
    """Whether a file of the format ELF names bytes that it does not have; other formats are the linker's business."""
    if not content.startswith(_MAGIC) or len(content) < _HEADER or content[5] not in _ORDERS:
        return False
    order = _ORDERS[content[5]]
    (start,) = struct.unpack_from(f"{order}Q", content, 32)
    length, count = struct.unpack_from(f"{order}HH", content, 54)
    if length < 56 or start + length * count > len(content):
        return True
    segments = (struct.unpack_from(f"{order}8xQ16xQ", content, start + k * length) for k in range(count))
    return any(offset + size > len(content) for offset, size in segments)

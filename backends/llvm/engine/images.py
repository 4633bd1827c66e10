"""Hold linked machine code as data: an image that can be placed at any address.

`linking.py` makes images from object files. The cache on disk keeps images, so that a process that finds one there has
nothing left to link but the few words that hold addresses.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from ....ir.errors import WeftError
from ....ir.tuples import NamedTuple

MAGIC = b"weftcode"
MOST = 1 << 28  # bytes of an image, and of a section
_HEAD = struct.Struct("<8s7Q")


class BadObject(WeftError, ValueError):
    """Machine code that the loader does not know how to place."""


class CodeImage(NamedTuple):
    """Code, then constants from `constants` on, then writable data from `data` on: three ranges of whole pages.

    `functions` are offsets by name. A fixup is the offset of a word, the number of the address that it holds, and what
    to add to that. Number 0 is the address of the image itself, the others are those of `outside`, in this order.
    """

    size: int
    constants: int
    data: int
    functions: Mapping[str, int]
    outside: tuple[str, ...]
    fixups: tuple[tuple[int, int, int], ...]
    content: bytes  # without the zeros at the end

    def placed(self, base: int, addresses: Mapping[str, int]) -> bytearray:
        """Return the bytes of the image for the address `base`; `addresses` are those of names outside."""
        missing = [name for name in self.outside if not addresses.get(name)]
        if missing:
            raise BadObject(f"nothing outside is called '{missing[0]}'")
        targets = (base, *(addresses[name] for name in self.outside))
        made = bytearray(self.size)
        made[: len(self.content)] = self.content
        for at, which, more in self.fixups:
            struct.pack_into("<Q", made, at, (targets[which] + more) % (1 << 64))
        return made


def image_bytes(image: CodeImage) -> bytes:
    """Return an image as bytes that `read_image` reads."""
    offsets, fixups = list(image.functions.values()), [word % (1 << 64) for fixup in image.fixups for word in fixup]
    names = "\n".join((*image.functions, *image.outside)).encode()
    head = _HEAD.pack(
        MAGIC, image.size, image.constants, image.data, len(offsets), len(image.outside), len(fixups), len(names)
    )
    words = struct.pack(f"<{len(offsets) + len(fixups)}Q", *offsets, *fixups)
    return head + words + names + image.content


def read_image(code: bytes, page: int) -> CodeImage:
    """Return the image that bytes describe, whose ranges begin on pages."""
    try:
        _, size, constants, data, functions, outside, fixups, length = _HEAD.unpack_from(code)
        words = struct.unpack_from(f"<{functions + fixups}Q", code, _HEAD.size)
        start = _HEAD.size + 8 * len(words)
        text = code[start : start + length].decode()
    except (struct.error, ValueError, MemoryError, OverflowError) as error:
        raise BadObject(f"not an image that Weft made: {error}") from error
    names = text.split("\n") if text else []
    content = code[start + length :]
    patches = words[functions:]
    found = tuple(zip(patches[::3], patches[1::3], patches[2::3], strict=False))
    ranges_fit = 0 <= constants <= data <= size <= MOST and not (constants | data | size) % page
    counts_fit = len(names) == functions + outside and fixups % 3 == 0 and len(content) <= size
    offsets_fit = max((0, *words[:functions])) <= size and all(at + 8 <= size and k <= outside for at, k, _ in found)
    if code[:8] != MAGIC or not (ranges_fit and counts_fit and offsets_fit):
        raise BadObject("not an image that Weft made")
    by_name = dict(zip(names[:functions], words[:functions], strict=True))
    return CodeImage(size, constants, data, by_name, tuple(names[functions:]), found, content)

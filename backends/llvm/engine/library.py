"""Load machine code into memory and find the addresses of its functions.

Memory is writable while it is filled; afterwards it is executable or read-only. This module does not need LLVM. What it
loads is an image: linked code that can be placed at any address. `linking.py` makes images from object files. The cache
on disk keeps images, so that a process that finds one there only has to fill in the few words that hold addresses.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from ....ir.errors import UnsupportedTarget, WeftError
from ....ir.tuples import NamedTuple

ALLOWED_SYMBOLS = frozenset(("memset", "memcpy", "memmove"))
PAGE = os.sysconf("SC_PAGE_SIZE")
_FAILED = ctypes.c_void_p(-1).value
# Linux has these numbers on all machines; importing `mmap` for them takes longer than loading a kernel.
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE_ANONYMOUS = 0x22
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
            raise BadObject(f"there is no address for the external symbol '{missing[0]}'")
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


class LoadedCode:
    """Machine code in memory. It is freed when nothing refers to this object any more."""

    def __init__(self, code: bytes, symbols: Sequence[str], addresses: Mapping[str, int] | None = None) -> None:
        """`code` is an image or an object file, `symbols` are the functions to call.

        `addresses` are those of undefined symbols.
        """
        self._base = 0
        image = read_image(code if code[: len(MAGIC)] == MAGIC else linked(code), PAGE)
        missing = [name for name in symbols if name not in image.functions]
        if missing:
            raise BadObject(f"there is no function '{missing[0]}'")
        outside = {name: _address_of(name) for name in image.outside if name in ALLOWED_SYMBOLS}
        outside.update(addresses or {})
        base = self._reserve(image.size)
        filled = image.placed(base, outside)
        ctypes.memmove(base, (ctypes.c_char * image.size).from_buffer(filled), image.size)
        self._protect(0, image.constants, _READ | _EXECUTE)
        self._protect(image.constants, image.data, _READ)
        self.addresses = {name: base + image.functions[name] for name in symbols}

    def _reserve(self, size: int) -> int:
        libc = _libc()
        found = libc.mmap(None, size, _READ | _WRITE, _PRIVATE_ANONYMOUS, -1, 0)
        if found == _FAILED:
            raise MemoryError(f"can't allocate {size} bytes for machine code")
        self._base, self._size = int(found), size
        return self._base

    def _protect(self, start: int, end: int, access: int) -> None:
        if end > start and _libc().mprotect(self._base + start, end - start, access):
            raise UnsupportedTarget(
                f"the system does not let generated code run: {os.strerror(ctypes.get_errno())}",
                hint="the reference backend still works: weft.jit(f, backend='reference')",
            )

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # Threads may still run this code while the interpreter exits, when this module may have no globals any more.
        if self._base and not is_finalizing():
            _libc().munmap(self._base, self._size)


def linked(code: bytes, kernels: Collection[str] = ()) -> bytes:
    """Return the image of an object file; `kernels` are functions that run under the default control word."""
    from . import linking  # code from the cache does without

    return linking.linked(code, PAGE, kernels)


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    words, pointer = ctypes.c_size_t, ctypes.c_void_p
    libc.mmap.restype = pointer
    libc.mmap.argtypes = [pointer, words, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [pointer, words, ctypes.c_int]
    libc.munmap.argtypes = [pointer, words]
    return libc


def _address_of(name: str) -> int:
    return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0

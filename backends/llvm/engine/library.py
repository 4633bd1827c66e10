"""Load machine code into memory and find the addresses of its functions.

Memory is writable while it is filled; afterwards it is executable or read-only. This module does not need LLVM, and
code that was linked before (`images.py`) needs no linker either.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ....ir.errors import UnsupportedTarget
from .images import MAGIC, BadObject, read_image

ALLOWED_SYMBOLS = frozenset(("memset", "memcpy", "memmove"))
PAGE = os.sysconf("SC_PAGE_SIZE")
_FAILED = ctypes.c_void_p(-1).value
# Linux has these numbers on all machines; importing `mmap` for them takes longer than loading a kernel.
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE_ANONYMOUS = 0x22


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


def linked(code: bytes) -> bytes:
    """Return the image of an object file."""
    from . import linking  # code from the cache does without

    return linking.linked(code, PAGE)


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

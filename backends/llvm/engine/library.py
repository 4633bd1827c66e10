"""Load an object file into memory and find the addresses of its functions.

Memory is writable while it is filled; afterwards it is executable or read-only. This module does not need LLVM: code
from another process is loaded in the same way as code that was just compiled.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ....ir.errors import UnsupportedTarget
from .linking import CODE, CONSTANTS, DATA, ObjectLayout, link
from .objects import ALLOWED_SYMBOLS, read

_FAILED = ctypes.c_void_p(-1).value
_READ, _WRITE, _EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC


class LoadedCode:
    """Machine code in memory. It is freed when nothing refers to this object any more."""

    def __init__(self, code: bytes, symbols: Sequence[str], addresses: Mapping[str, int] | None = None) -> None:
        """`symbols` are the functions to call, `addresses` resolve the undefined symbols."""
        self._base = 0
        layout = ObjectLayout(read(code), mmap.PAGESIZE)
        outside = {name: _address_of(name) for name in ALLOWED_SYMBOLS & layout.object.undefined}
        outside.update(addresses or {})
        base = self._reserve(layout.size)
        image = link(layout, base, outside)
        ctypes.memmove(base, (ctypes.c_char * layout.size).from_buffer(image), layout.size)
        ends = (layout.starts[CONSTANTS], layout.starts[DATA])
        self._protect(layout.starts[CODE], ends[0], _READ | _EXECUTE)
        self._protect(ends[0], ends[1], _READ)
        offsets = layout.functions(symbols)
        self.addresses = {name: base + offset for name, offset in zip(symbols, offsets, strict=True)}

    def _reserve(self, size: int) -> int:
        libc = _libc()
        found = libc.mmap(None, size, _READ | _WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
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

"""The floating-point environment of a thread: rounding, subnormal numbers, traps.

Code of others may change it and leave it so: a library when it is loaded (what GCC links for `-ffast-math` does), or a
function of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_SIZE = 64  # bytes, more than any machine's
_USUAL = ctypes.c_void_p(-1)  # `FE_DFL_ENV` of the C libraries of Linux


@contextmanager
def kept() -> Iterator[None]:
    """Puts back afterwards what is found now."""
    saved = ctypes.create_string_buffer(_SIZE)
    _libm().fegetenv(saved)
    try:
        yield
    finally:
        _libm().fesetenv(saved)


@contextmanager
def usual() -> Iterator[None]:
    """Rounds to nearest, keeps subnormal numbers and traps nothing inside."""
    with kept():
        _libm().fesetenv(_USUAL)
        yield


@cache
def _libm() -> Any:
    """The C library's functions, which are the process's own or in a library beside it."""
    found = ctypes.PyDLL(None)
    return found if hasattr(found, "fesetenv") else ctypes.PyDLL("libm.so.6")

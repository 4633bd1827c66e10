"""Save and set the floating-point environment of a thread: rounding, subnormal numbers, traps.

Other code may change it without restoring it: a library that is being loaded (as GCC's `-ffast-math` code does), or a
function that a library exports.
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
    """Restores the environment on exit."""
    saved = ctypes.create_string_buffer(_SIZE)
    _libm().fegetenv(saved)
    try:
        yield
    finally:
        _libm().fesetenv(saved)


@contextmanager
def usual() -> Iterator[None]:
    """Sets the default environment inside: round to nearest, keep subnormal numbers, no traps."""
    with kept():
        _libm().fesetenv(_USUAL)
        yield


@cache
def _libm() -> Any:
    """The C library's functions, from the process itself or from a separate libm."""
    found = ctypes.PyDLL(None)
    return found if hasattr(found, "fesetenv") else ctypes.PyDLL("libm.so.6")

"""Make sure that there is memory for LLVM before it starts: where it gets none it ends the process.

The room is taken and given back at once, so that limits of the process (`ulimit -v`, `RLIMIT_DATA`) and of the system
count as they do for LLVM.
"""

from __future__ import annotations

import mmap

BEGIN = 24 << 20  # bytes that a compile needs beside what it needs for the text: measured 2 to 10 million
PER_CHARACTER = 48  # bytes for each character of its text: measured 18 to 25
START = 64 << 20  # bytes that LLVM needs to start, beside its library


def demand(size: int, what: str) -> None:
    """Raises `MemoryError` where there are not so many bytes."""
    try:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, MemoryError):
        raise MemoryError(f"{what} needs {size >> 20} MB of memory, which this process can't have") from None


def demand_for(text: str) -> None:
    """What LLVM needs for a module."""
    demand(BEGIN + PER_CHARACTER * len(text), "to compile a kernel LLVM")

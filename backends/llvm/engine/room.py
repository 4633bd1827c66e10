"""Check that there is enough memory before LLVM starts, because LLVM aborts the process if it runs out.

The memory is allocated and freed at once, so that limits of the process (`ulimit -v`, `RLIMIT_DATA`) and of the system
count as they would for LLVM.
"""

from __future__ import annotations

BEGIN = 24 << 20  # bytes that a compile needs in addition to those for the text: 2 to 10 million were measured
PER_CHARACTER = 48  # bytes for each character of the text: 18 to 25 were measured
START = 64 << 20  # bytes that LLVM needs to start, without its library


def demand(size: int, what: str) -> None:
    """Raises `MemoryError` if `size` bytes can't be allocated."""
    try:
        import mmap  # a shared library, which may itself not fit

        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, MemoryError, ImportError):
        raise MemoryError(f"{what} needs {size >> 20} MB of memory, which this process can't allocate") from None


def demand_for(text: str) -> None:
    """Checks for the memory that LLVM needs for a module."""
    demand(BEGIN + PER_CHARACTER * len(text), "to compile a kernel LLVM")

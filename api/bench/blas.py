"""Limit the threads of the BLAS that NumPy has loaded.

It reads its environment when NumPy is imported, which is before a benchmark knows the number, so it is told by a call.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

_SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def limit_blas(threads: int) -> None:
    """Where it is no OpenBLAS, or the system does not say what is loaded, nothing happens."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    except OSError:
        return
    for path in {line.split(maxsplit=5)[5] for line in maps.splitlines() if "openblas" in line}:
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            if (setter := getattr(library, name, None)) is not None:
                setter(ctypes.c_int(threads))
                break

"""Describe everything besides its source that code depends on: Weft's own files, llvmlite, LLVM and the CPU.

A file of Weft that changed after this process started may differ from the code that runs. Then there is no description,
and no cache.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from functools import cache
from importlib.machinery import PathFinder

import numpy as np

from ...backends.llvm.engine.caches import written_sizes
from .own_code import are_older, own_code, stamps_of

CPU = frozenset((
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part", "CPU revision", "Features",
))  # fmt: skip
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _began() -> float:
    """Return when this process started, in file time; the current time if the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return time.time()


BEGAN = _began()


@cache
def version() -> str | None:
    """Return the description, or None if it can't be determined."""
    from .cache import default_cache  # it checks here whether files have changed

    try:
        own = own_code(_ROOT, BEGAN, default_cache())
        parts = (own, llvm(), cpu(), platform.machine(), sys.version, np.__version__)
    except OSError:
        return None
    return None if own is None or not parts[1] or not parts[2] else "\n".join(map(str, parts))


def llvm() -> str:
    """Return llvmlite's version and the identity of its LLVM library, without loading it."""
    spec = PathFinder.find_spec("llvmlite")
    folder = (spec.submodule_search_locations or [""])[0] if spec is not None else ""
    if not folder:
        return ""
    with open(os.path.join(folder, "_version.py"), encoding="utf-8") as file:
        text = file.read()
    library = os.stat(os.path.join(folder, "binding", "libllvmlite.so"))
    return f"{text}{library.st_size} {library.st_mtime_ns}"


def cpu() -> str:
    """Return what the system says about the first CPU, as far as code depends on it."""
    with open("/proc/cpuinfo", "rb", buffering=0) as file:
        block = file.read(16384).decode("ascii", "replace").partition("\n\n")[0]
    lines = [line.partition(":") for line in block.splitlines()]
    found = [f"{name.strip()}: {value.strip()}" for name, _, value in lines if name.strip() in CPU]
    return "\n".join([*found, written_sizes()] if found else [])


def is_unchanged() -> bool:
    """Tell whether none of Weft's files changed since this process started: some are imported only now."""
    try:
        return are_older(stamps_of(_ROOT), BEGAN)
    except OSError:
        return False

"""What generated code depends on beside its source, as text: Weft's own code, llvmlite with its LLVM, and the CPU.

Weft's own code is the content of its files. A file that changed after this process began may differ from what the
process runs, so there is no answer then, and no cache.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder

import numpy as np

from .hashing import LENGTH, blake2b

LAYERS = ("ir", "frontend", "passes", "backends", "runtime")
ENDINGS = (".py", ".json", ".lark", ".weft")
CPU = frozenset((
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part", "CPU revision", "Features",
))  # fmt: skip
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _began() -> float:
    """When this process did, as files are dated; now, where the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return time.time()


BEGAN = _began()


@cache
def version() -> str | None:
    """All of it; None where it can't be told."""
    try:
        own = own_code(_ROOT, BEGAN)
        parts = (own, llvm(), cpu(), platform.machine(), sys.version, np.__version__)
    except OSError:
        return None
    return None if own is None or not parts[1] or not parts[2] else "\n".join(map(str, parts))


def own_code(root: str, began: float) -> str | None:
    """A digest of the files that make code; None if one is younger than this process."""
    found = blake2b(digest_size=LENGTH)
    for layer in LAYERS:
        for path in _files(os.path.join(root, layer)):
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                status = os.fstat(file)
                if status.st_mtime >= began or status.st_ctime >= began:
                    return None
                content = os.read(file, status.st_size + 1)
            finally:
                os.close(file)
            if len(content) != status.st_size:
                return None
            found.update(f"{path[len(root) :]} {len(content)}\n".encode())
            found.update(content)
    return found.hexdigest()


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        for entry in sorted(found, key=lambda e: e.name):
            if entry.is_dir():
                yield from _files(entry.path)
            elif entry.name.endswith(ENDINGS):
                yield entry.path


def llvm() -> str:
    """The version of llvmlite and the identity of the library that holds LLVM, without loading it."""
    spec = PathFinder.find_spec("llvmlite")
    folder = (spec.submodule_search_locations or [""])[0] if spec is not None else ""
    if not folder:
        return ""
    with open(os.path.join(folder, "_version.py"), encoding="utf-8") as file:
        text = file.read()
    library = os.stat(os.path.join(folder, "binding", "libllvmlite.so"))
    return f"{text}{library.st_size} {library.st_mtime_ns}"


def cpu() -> str:
    """What the system says about the first CPU, as far as code depends on it."""
    with open("/proc/cpuinfo", "rb", buffering=0) as file:
        block = file.read(16384).decode("ascii", "replace").partition("\n\n")[0]
    lines = [line.partition(":") for line in block.splitlines()]
    return "\n".join(f"{name.strip()}: {value.strip()}" for name, _, value in lines if name.strip() in CPU)


def is_unchanged() -> bool:
    """Whether no file of ours changed since this process began: parts of it may be imported only now."""
    try:
        return all(_is_older(path) for layer in LAYERS for path in _files(os.path.join(_ROOT, layer)))
    except OSError:
        return False


def _is_older(path: str) -> bool:
    status = os.stat(path)
    return status.st_mtime < BEGAN and status.st_ctime < BEGAN

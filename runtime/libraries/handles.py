"""Load shared libraries from checked bytes: equal bytes once, and no code is ever unloaded.

The bytes that were checked are the bytes that are loaded: they go into a sealed file in memory, or where there is
no such thing into a folder that only this user can enter. So a library may be rewritten while its old code runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from ...ir.errors import LibraryProblem, Span
from .elf import foreign_machine, is_cut_off

_EXECUTABLE = 0x10  # MFD_EXEC, which kernels from 6.3 on want to be told
_SEALS = 0xF  # no more seals, no shrinking, no growing, no writing
_ADD_SEALS = 1033


class Handles:
    """The libraries of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: dict[bytes, ctypes.CDLL] = {}

    def load(self, content: bytes, path: str, span: Span | None) -> ctypes.CDLL:
        """The library with these bytes; `path` is what it is called in errors."""
        digest = hashlib.sha256(content).digest()
        with self._lock:
            found = self._loaded.get(digest)
            if found is None:
                found = self._loaded[digest] = _load(content, path, span)
            return found


def _load(content: bytes, path: str, span: Span | None) -> ctypes.CDLL:
    failed = f"{path} can't be loaded as a shared library"
    if is_cut_off(content):
        raise LibraryProblem(f"{failed}: its end is missing", span, "build it again")
    if machine := foreign_machine(content):
        raise LibraryProblem(f"{failed}: it is for {machine}", span, "build it for this machine")
    copied = _in_memory if hasattr(os, "memfd_create") else _in_a_folder
    try:
        with copied(content, os.path.basename(path)) as place:
            return ctypes.CDLL(place, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        reason = str(error).rpartition("/proc/self/fd/")[2].partition(": ")[2]  # without the place of the copy
        raise LibraryProblem(f"{failed}: {reason or error}", span) from error


@contextmanager
def _in_memory(content: bytes, name: str) -> Iterator[str]:
    """A path to a file in memory. Of what was loaded it stays open: the loader knows
    libraries by path, and a number would come again."""
    import fcntl

    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create(name[:200], flags | _EXECUTABLE)
    except OSError:
        descriptor = os.memfd_create(name[:200], flags)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        fcntl.fcntl(descriptor, _ADD_SEALS, _SEALS)
        yield f"/proc/self/fd/{descriptor}"
    except BaseException:  # nothing was loaded
        os.close(descriptor)
        raise


@contextmanager
def _in_a_folder(content: bytes, name: str) -> Iterator[str]:
    """A path to a copy that is gone once it is loaded."""
    with TemporaryDirectory(prefix="weft-library-") as folder:
        place = os.path.join(folder, name)
        with open(place, "xb") as file:
            file.write(content)
        yield place

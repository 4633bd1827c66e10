"""Compute a digest of Weft's own files, or None if one is newer than this process.

A file that changed after the process started may differ from the code that runs. Reading all files takes longer than
loading a kernel, so the cache stores the digest under the files' names, sizes, inodes and change times, which nobody
can set back. Only a process that started after all of them stores it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .hashing import LENGTH, blake2b, digest_of

if TYPE_CHECKING:
    from .cache import Cache

LAYERS = ("ir", "frontend", "passes", "backends", "runtime")
ENDINGS = (".py", ".json", ".lark", ".weft", ".routine")
Stamp = tuple[str, int, int, int, int, int]


def own_code(root: str, began: float, memory: Cache | None) -> str | None:
    """Return the digest; `memory` is the cache that may know it."""
    stamps = stamps_of(root)
    if not are_older(stamps, began):
        return None
    key = digest_of(f"own code {root} {stamps}".encode())
    found = memory.read(key) if memory is not None else None
    if found is not None:
        return found.decode()
    made = _content(root, stamps)
    if made is not None and memory is not None:
        memory.write(key, made.encode())
    return made


def stamps_of(root: str) -> list[Stamp]:
    """Return the paths, sizes, inodes, devices and times of all files that affect generated code."""
    stamps: list[Stamp] = []
    folders = [f"{root}/{layer}" for layer in LAYERS]
    for folder in folders:  # grows meanwhile
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(ENDINGS):
                    found, path = entry.stat(), f"{folder}/{name}"[len(root) :]
                    times = (found.st_mtime_ns, found.st_ctime_ns)
                    stamps.append((path, found.st_size, found.st_ino, found.st_dev, *times))
                elif name != "__pycache__" and entry.is_dir():
                    folders.append(f"{folder}/{name}")
    stamps.sort()
    return stamps


def are_older(stamps: list[Stamp], began: float) -> bool:
    """Tell whether all files are older than a process."""
    limit = int(began * 1e9) - 1000  # a float is accurate to less than a microsecond
    return all(stamp[4] < limit and stamp[5] < limit for stamp in stamps)


def _content(root: str, stamps: list[Stamp]) -> str | None:
    found = blake2b(digest_size=LENGTH)
    for path, size, *_ in stamps:
        file = os.open(root + path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = os.read(file, size + 1)
        finally:
            os.close(file)
        if len(content) != size:
            return None
        found.update(f"{path} {size}\n".encode())
        found.update(content)
    return found.hexdigest() if stamps_of(root) == stamps else None

"""Compute a digest of Weft's own files, or None if one is newer than this process.

A file that changed after the process started may differ from the code that runs. Reading all files takes longer than
loading a kernel, so the cache stores the digest under the files' names, sizes, inodes and change times, which nobody
can set back. Only a process that started after all of them stores it.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from ...ir.tuples import NamedTuple
from .hashing import LENGTH, blake2b, digest_of

if TYPE_CHECKING:
    from .cache import Cache

LAYERS = ("ir", "frontend", "passes", "backends", "runtime")
ENDINGS = (".py", ".json", ".lark", ".weft", ".routine")


class Stamps(NamedTuple):
    """The paths of files, and five numbers for each: its size, inode and device, and the times of its last changes."""

    paths: list[str]
    numbers: list[int]


def own_code(root: str, began: float, memory: Cache | None) -> str | None:
    """Return the digest; `memory` is the cache that may know it."""
    stamps = stamps_of(root)
    if not are_older(stamps, began):
        return None
    key = digest_of(
        f"own code {root} {stamps.paths}".encode() + struct.pack(f"<{len(stamps.numbers)}Q", *stamps.numbers)
    )
    found = memory.read(key) if memory is not None else None
    if found is not None:
        return found.decode()
    made = _content(root, stamps)
    if made is not None and memory is not None:
        memory.write(key, made.encode())
    return made


def stamps_of(root: str) -> Stamps:
    """Return a key that changes if one of the files that affect generated code has changed."""
    paths: list[str] = []
    numbers: list[int] = []
    folders = [f"/{layer}" for layer in LAYERS]
    for folder in folders:  # grows meanwhile
        try:
            opened = os.open(root + folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except NotADirectoryError:
            continue
        try:
            for name in sorted(os.listdir(opened)):
                if name.endswith(ENDINGS):
                    found = os.stat(name, dir_fd=opened)  # the system does not walk down the whole path again
                    paths.append(f"{folder}/{name}")
                    numbers += found.st_size, found.st_ino, found.st_dev, found.st_mtime_ns, found.st_ctime_ns
                elif "." not in name and name != "__pycache__":
                    folders.append(f"{folder}/{name}")
        finally:
            os.close(opened)
    return Stamps(paths, numbers)


def are_older(stamps: Stamps, began: float) -> bool:
    """Tell whether all files are older than a process."""
    limit = int(began * 1e9) - 1000  # a float is accurate to less than a microsecond
    return max(*stamps.numbers[3::5], *stamps.numbers[4::5]) < limit


def _content(root: str, stamps: Stamps) -> str | None:
    found = blake2b(digest_size=LENGTH)
    for path, size in zip(stamps.paths, stamps.numbers[::5], strict=True):
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

"""A directory of entries and a limit in, at most so many bytes in it out: those that were not used for longest go."""

from __future__ import annotations

import os
import time
from contextlib import suppress

ABANDONED = 3600  # seconds after which a file that was never finished is nobody's
KEPT = 0.8  # of the limit, so that not every write deletes something


def evict(folder: int, limit: int) -> int:
    """Deletes what is too much and gives how many bytes are left; another process may do the same at once."""
    found: list[tuple[float, int, str]] = []
    now = time.time()
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if name.endswith(".part") and status.st_mtime < now - ABANDONED:
                    os.unlink(name, dir_fd=folder)
                elif name.endswith(".entry"):
                    found.append((status.st_mtime, status.st_size, name))
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return total
    for _, size, name in sorted(found):
        if total <= KEPT * limit:
            break
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
            total -= size
    return total

"""Keep a directory of entries within a limit of bytes by deleting the least recently used.

Unfinished files count too. One whose process was killed is deleted: a live writer holds a lock on its file.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from ...ir.support.files import PART, is_being_written
from .store import ENDING

ABANDONED = 3600  # seconds after which an unfinished file is abandoned, if locks don't work
KEPT = 0.8  # of the limit, so that not every write has to delete


def evict(folder: int, limit: int, coming: int) -> int:
    """Make room for some bytes and return the bytes left; another process may do the same at once."""
    found: list[tuple[float, int, str]] = []
    total, now = 0, time.time()
    with suppress(OSError):
        for name in os.listdir(folder):
            if not name.endswith((ENDING, PART)):
                continue
            with suppress(OSError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if name.endswith(PART) and (status.st_mtime < now - ABANDONED or not is_being_written(name, folder)):
                    os.unlink(name, dir_fd=folder)
                    continue
                total += status.st_size
                if name.endswith(ENDING):  # a time in the future comes from a wrong clock
                    found.append((status.st_mtime if status.st_mtime <= now + ABANDONED else 0.0, status.st_size, name))
    if total + coming <= limit:
        return total
    for _, size, name in sorted(found):
        if total + coming <= KEPT * limit:
            break
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
            total -= size
    return total

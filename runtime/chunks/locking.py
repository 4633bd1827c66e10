"""Let one process of a host compile a shipped kernel while the others wait and then load it from disk.

Workers of a cluster start at the same moment with the same kernels. The lock is on a file in the folder of the cache;
when a process dies, the system releases it. Without a usable cache there is nothing to share, and no lock.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from ..disk.cache import default_cache
from ..disk.store import Unusable

LOCKS = 64  # files; two kernels that share one only wait for each other


@contextmanager
def compiling_once(text: str) -> Iterator[None]:
    """Hold the lock of a text. What was compiled meanwhile is on disk before the lock is released."""
    cache = default_cache()
    file = None
    if cache is not None:
        number = blake2b(text.encode(), digest_size=2).digest()[0] % LOCKS
        try:
            folder = cache.store.prepare()
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            file = os.open(f"shipped-{number:02}.lock", flags, 0o600, dir_fd=folder)
            fcntl.flock(file, fcntl.LOCK_EX)
        except (OSError, Unusable):
            pass  # compiling twice is only slower
    try:
        yield
        if cache is not None and file is not None:
            cache.flush()
    finally:
        if file is not None:
            os.close(file)

"""Look compiled kernels up on disk: a hit, or a miss, and never an error.

Entries are written by a thread of its own, a moment later: waiting for the disk takes longer than a compile, and the
first calls of a program are better left alone. What is still to be written when the interpreter ends is written then.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from functools import cache

from ...ir.errors import ValueProblem
from ...ir.forking import event, lock
from .secret import configuration
from .store import Store, Unusable
from .version import is_unchanged

LIMIT = 512 << 20
DELAY = 0.3  # seconds between a compile and the write


class CacheWarning(RuntimeWarning):
    """The cache on disk can't be used, and compiled kernels last as long as the process."""


class Cache:
    """A store that is given up, with one warning, when something is wrong with it as a whole.

    One that can't be written is read all the same.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.hits = self.misses = 0
        self._reads = self._writes = True
        self._problem: str | None = None  # that the writer met, until it is told
        self._is_told = False
        self._waiting: dict[bytes, bytes] = {}  # until it is written
        self._lock = lock()
        self._hurry = event()
        self._writer: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._forget_writer)

    def read(self, key: bytes | None) -> bytes | None:
        """What is stored under a key, if there is a key and something under it."""
        self._tell(self._problem)
        if key is None or not self._reads:
            return None
        try:
            found = self._waiting.get(key) or self.store.read(key)
        except Unusable as error:
            self._reads = self._writes = False
            self._tell(error)
            return None
        self.hits += found is not None
        self.misses += found is None
        return found

    def write(self, key: bytes | None, content: bytes) -> None:
        """Stores something, soon."""
        self._tell(self._problem)
        if key is None or not self._writes:
            return
        try:
            self.store.prepare()  # here, so that what is wrong is told at once
        except Unusable as error:
            self._writes = False
            self._tell(error)
            return
        with self._lock:
            self._waiting[key] = content
            if self._writer is not None:
                return
            self._writer = threading.Thread(target=self._write_soon, name="weft cache", daemon=True)
            try:
                self._writer.start()
            except RuntimeError:  # the interpreter ends, or there are too many threads
                self._writer = None
                self._waiting.clear()

    def flush(self) -> None:
        """Waits until all is written."""
        self._hurry.set()
        while (writer := self._writer) is not None:
            writer.join()
        self._hurry.clear()

    def _write_soon(self) -> None:
        self._hurry.wait(DELAY)
        while True:
            with self._lock:
                if not self._waiting:
                    self._writer = None
                    return
                key, content = next(iter(self._waiting.items()))
            try:
                if self._writes and is_unchanged():
                    self.store.write(key, content)
            except Unusable as error:
                self._writes, self._problem = False, str(error)
            with self._lock:
                if self._waiting.get(key) is content:
                    del self._waiting[key]

    def _tell(self, problem: object) -> None:
        """Warns of a problem, if there is one and none was told before."""
        if problem is None or self._is_told:
            return
        self._is_told = True
        warnings.warn(
            f"compiled kernels are not kept on disk: {problem} (WEFT_CACHE_DIR names another directory, WEFT_CACHE=0 "
            "switches this off)",
            CacheWarning,
            stacklevel=3,
        )

    def _forget_writer(self) -> None:
        """In a forked child the thread is gone; its parent writes what waits."""
        self._hurry.clear()
        self._writer = None
        self._waiting.clear()


@cache
def default_cache() -> Cache | None:
    """The user's cache: `WEFT_CACHE_DIR`, else in the user's directory for caches; None with `WEFT_CACHE=0`."""
    if os.environ.get("WEFT_CACHE", "").strip() == "0":
        return None
    made = Cache(Store(cache_folder(), configuration(), cache_limit()))
    atexit.register(made.flush)
    return made


def cache_folder() -> str:
    """Where entries lie."""
    general = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("WEFT_CACHE_DIR") or os.path.join(general, "weft")


def cache_limit() -> int:
    """How many bytes of entries are kept: `WEFT_CACHE_LIMIT`, else 512 MB."""
    given = os.environ.get("WEFT_CACHE_LIMIT", "").strip()
    if not given:
        return LIMIT
    if not given.isascii() or not given.isdigit():
        raise ValueProblem(f"WEFT_CACHE_LIMIT must be a number of bytes, not {given!r}")
    return int(given)

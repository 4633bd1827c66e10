"""Look up compiled kernels on disk. A lookup is a hit or a miss, never an error.

A background thread writes entries a moment later: waiting for the disk takes longer than compiling, and the first calls
of a program should not be slowed down. Pending entries are written when the interpreter exits.
"""

from __future__ import annotations

import atexit
import os
import warnings
from functools import cache
from typing import TYPE_CHECKING

from ...ir.errors import ValueProblem
from ...ir.support.forking import event, lock
from .secret import configuration
from .store import Store, Unusable
from .version import is_unchanged

if TYPE_CHECKING:
    from threading import Event, Thread

LIMIT = 512 << 20
DELAY = 0.3  # seconds between a compile and the write


class CacheWarning(RuntimeWarning):
    """Warn that the cache on disk can't be used, so compiled kernels last only as long as the process."""


class Cache:
    """A store that is abandoned with one warning if it is unusable as a whole.

    A store that can't be written is still read.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.hits = self.misses = 0
        self._reads = self._writes = True
        self._problem: str | None = None  # problems that the writer found, until they are reported
        self._is_told = False
        self._waiting: dict[bytes, bytes] = {}  # entries that are still to be written
        self._lock = lock()
        self._hurry: Event | None = None  # there is one if there was ever a writer
        self._writer: Thread | None = None
        os.register_at_fork(after_in_child=self._forget_writer)

    def read(self, key: bytes | None) -> bytes | None:
        """Return the entry of a key, or None."""
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
        """Store an entry soon."""
        self._tell(self._problem)
        if key is None or not self._writes:
            return
        try:
            self.store.prepare()  # now, so that problems are reported at once
        except Unusable as error:
            self._writes = False
            self._tell(error)
            return
        with self._lock:
            self._waiting[key] = content
            if self._writer is not None:
                return
            from threading import Thread  # most processes find all that they need, and write nothing

            self._hurry = self._hurry or event()
            self._writer = Thread(target=self._write_soon, args=(self._hurry,), name="weft cache", daemon=True)
            try:
                self._writer.start()
            except RuntimeError:  # the interpreter is exiting, or there are too many threads
                self._writer = None
                self._waiting.clear()

    def flush(self) -> None:
        """Wait until all entries are written."""
        if self._hurry is None:
            return
        self._hurry.set()
        while (writer := self._writer) is not None:
            writer.join()
        self._hurry.clear()

    def _write_soon(self, hurry: Event) -> None:
        hurry.wait(DELAY)
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
        """Warn about a problem, if none was reported before."""
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
        """Drop pending entries in a forked child, which has no writer; the parent writes them."""
        if self._hurry is not None:
            self._hurry.clear()
        self._writer = None
        self._waiting.clear()


@cache
def default_cache() -> Cache | None:
    """Return the user's cache, in `WEFT_CACHE_DIR` or the user's cache directory; None if `WEFT_CACHE=0`."""
    if os.environ.get("WEFT_CACHE", "").strip() == "0":
        return None
    made = Cache(Store(cache_folder(), configuration(), cache_limit()))
    atexit.register(made.flush)
    return made


def cache_folder() -> str:
    """Return the folder of the entries."""
    general = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("WEFT_CACHE_DIR") or os.path.join(general, "weft")


def data_directory() -> str:
    """Return the folder for what is measured and for the user's kernels; a tilde may stand for the home directory."""
    return os.path.join(os.environ.get("XDG_DATA_HOME", "").strip() or os.path.join("~", ".local", "share"), "weft")


def cache_limit() -> int:
    """Return how many bytes of entries to keep: `WEFT_CACHE_LIMIT`, or 512 MB."""
    given = os.environ.get("WEFT_CACHE_LIMIT", "").strip()
    if not given:
        return LIMIT
    if not given.isascii() or not given.isdigit():
        raise ValueProblem(f"WEFT_CACHE_LIMIT must be a number of bytes, not {given!r}")
    return int(given)

"""Let Python's garbage collector run less often during a compile.

A compile makes many objects that live until its end, so the collector walks them again and again and finds nothing.
That took a quarter of the time of a long compile. It is not switched off, because other threads may make garbage
meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from .forking import lock

OBJECTS = 100_000  # made and not freed between two collections of a compile; Python's own number is 700 or 2,000


class RareCollections:
    """Raises the collector's threshold while at least one thread is inside."""

    def __init__(self) -> None:
        self._lock, self._inside = lock(), 0
        self._before: tuple[int, int, int] | None = None

    @contextmanager
    def during(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            self._inside += 1
            usual = gc.get_threshold()
            if self._inside == 1 and 0 < usual[0] < OBJECTS:  # 0 means that the user switched it off
                self._before = usual
                gc.set_threshold(OBJECTS, *usual[1:])

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside or self._before is None:
                return
            if gc.get_threshold() == (OBJECTS, *self._before[1:]):  # else the user has set another one meanwhile
                gc.set_threshold(*self._before)
            self._before = None


rare_collections = RareCollections()

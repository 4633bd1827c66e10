"""Keep compiled graphs by signature, bounded, evicting the least recently used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from ..ir.support.forking import lock

T = TypeVar("T")

LIMIT = 256


class SignatureCache(Generic[T]):
    """Compiled graphs by signature. Graphs with one signature differ in their guards on sizes, which `fits` checks."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.found = 0
        self.served: Callable[[], int] = lambda: 0  # calls that were served without a lookup here
        self.misses = 0
        self._entries: OrderedDict[Hashable, tuple[T, ...]] = OrderedDict()
        self._lock = lock()

    @property
    def hits(self) -> int:
        return self.found + self.served()

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._entries.values()))

    def __repr__(self) -> str:
        return f"<signature cache: {len(self)} compiled graphs, {self.hits} hits, {self.misses} misses>"

    def find(self, key: Hashable, fits: Callable[[T], bool]) -> T | None:
        """Find the graph with this signature whose guards fit the call."""
        entries = self._entries.get(key, ())
        for entry in entries:
            if fits(entry):
                with self._lock:
                    self.found += 1
                    now = self._entries.get(key, ())
                    if entry in now:
                        self._entries[key] = (entry, *(e for e in now if e is not entry))
                    if key in self._entries:
                        self._entries.move_to_end(key)
                return entry
        return None

    def add(self, key: Hashable, entry: T) -> None:
        """Add a graph after a miss, and evict the least recently used ones.

        Calls that are running keep theirs alive.
        """
        with self._lock:
            self.misses += 1
            self._entries[key] = (entry, *self._entries.pop(key, ()))
            while sum(map(len, self._entries.values())) > self.limit:
                oldest, graphs = self._entries.popitem(last=False)
                if len(graphs) > 1:
                    self._entries[oldest] = graphs[:-1]
                    self._entries.move_to_end(oldest, last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

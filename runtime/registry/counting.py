"""Counts by many threads without a lock: each thread has numbers of its own, which are added up when asked for."""

from __future__ import annotations

import threading


class Counts:
    """How many lookups found their answer in the cache, and how many did not."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[list[int]] = []

    def count(self, is_hit: bool) -> None:
        numbers: list[int] | None = getattr(self._own, "numbers", None)
        if numbers is None:
            numbers = self._own.numbers = [0, 0]
            self._all.append(numbers)
        numbers[is_hit] += 1

    @property
    def hits(self) -> int:
        return sum(numbers[True] for numbers in list(self._all))

    @property
    def misses(self) -> int:
        return sum(numbers[False] for numbers in list(self._all))

"""Rank implementations for a query, and remember the ranking for as long as it is valid."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .state import State

if TYPE_CHECKING:
    from ...ir.dtypes import DType
    from .implementation import Implementation, Query
    from .scores import Ranking

MAX_RANKINGS = 4096  # rankings to remember


class Rankings:
    """Cache rankings. `inline` holds the ops that the backend has code for; `counts` counts hits and misses."""

    def __init__(self, inline: frozenset[str]) -> None:
        self.inline, self.counts = inline, Counts()

    def find(
        self, state: State, query: Query, result: DType | None, inside: frozenset[Implementation], machine: object
    ) -> Ranking:
        """Find a ranking by op, dtypes, size class, and everything else that a user's implementation may look at."""
        from .bundled import bundled
        from .scores import rank

        users = state.user.get(query.op, ())
        size_class = state.size_class(query.op, query.size)
        key = (query.op, query.dtypes, result, size_class, query.ranks if users else None, inside, machine)
        found = state.rankings.get(key)
        self.counts.count(found is not None)
        if found is None:
            if len(state.rankings) >= MAX_RANKINGS:
                state.rankings.clear()
            known = (*users, *bundled(query.op, query.dtypes, result, self.inline))
            found = state.rankings[key] = rank((i for i in known if i not in inside), query)
        return found


class Counts:
    """Count the lookups that the cache answered, and those it did not.

    There is no lock: each thread has its own numbers, and reading adds them up.
    """

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

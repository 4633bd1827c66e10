"""The registry's tables at one moment: never changed, replaced as a whole, so that readers need no lock."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...ir.opdef import OpDef

if TYPE_CHECKING:
    from .implementation import Implementation
    from .results import Lookup
    from .scores import Ranking

Key = tuple[Any, ...]  # the name of an op first


class Answers:
    """What a lookup found for each class of sizes, between the limits at which the choice may change."""

    def __init__(self, limits: tuple[int, ...]) -> None:
        self._limits = limits
        self._found: dict[int | None, Lookup] = {}

    def get(self, size: int | None) -> Lookup | None:
        return self._found.get(None if size is None else bisect_right(self._limits, size))

    def put(self, size: int | None, found: Lookup) -> None:
        self._found[None if size is None else bisect_right(self._limits, size)] = found


class State:
    """The user's implementations by op, the oldest first, and the ops that they make.

    `rankings` and `answers` are caches; two threads that fill them at once write the same.
    """

    def __init__(
        self,
        generation: int = 0,
        user: Mapping[str, tuple[Implementation, ...]] | None = None,
        ops: Mapping[str, OpDef] | None = None,
        rankings: dict[Key, Ranking] | None = None,
    ) -> None:
        self.generation = generation
        self.user: Mapping[str, tuple[Implementation, ...]] = user or {}
        self.ops: Mapping[str, OpDef] = ops or {}
        self.rankings: dict[Key, Ranking] = rankings or {}
        self.answers: dict[Key, Answers] = {}
        self._limits: dict[str, tuple[int, ...]] = {}

    def thresholds(self, op: str) -> tuple[int, ...]:
        """The sizes at which the choice for an op may change."""
        from .scores import thresholds

        found = self._limits.get(op)
        if found is None:
            found = self._limits[op] = thresholds(self.user.get(op, ()))
        return found

    def size_class(self, op: str, size: int | None) -> int | None:
        """All sizes of a class have the same ranking."""
        return None if size is None else bisect_right(self.thresholds(op), size)

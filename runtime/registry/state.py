"""Hold the registry's tables at one moment. They are replaced as a whole, so readers need no lock."""

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
    """The answers of a lookup for each size class; the limits are the sizes at which the choice may change."""

    def __init__(self, limits: tuple[int, ...]) -> None:
        self._limits = limits
        self._found: dict[int | None, Lookup] = {}

    def get(self, size: int | None) -> Lookup | None:
        return self._found.get(None if size is None else bisect_right(self._limits, size))

    def put(self, size: int | None, found: Lookup) -> None:
        self._found[None if size is None else bisect_right(self._limits, size)] = found


class State:
    """The users' implementations by op, the oldest first, and the ops they define.

    `rankings` and `answers` are caches; threads that fill them at the same time write the same.
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
        """Return the sizes at which the choice for an op may change."""
        from .scores import thresholds

        found = self._limits.get(op)
        if found is None:
            found = self._limits[op] = thresholds(self.user.get(op, ()))
        return found

    def size_class(self, op: str, size: int | None) -> int | None:
        """Return the class of a size; all sizes of a class have the same ranking."""
        return None if size is None else bisect_right(self.thresholds(op), size)

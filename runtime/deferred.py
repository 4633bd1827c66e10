"""Stand in for the registry and the tuner until they are needed: importing them takes a while.

A kernel that comes from the disk runs before either is: nothing is registered then, and one call is no choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..ir.forking import lock
from .selection.turn import Turn

if TYPE_CHECKING:
    from .compiler import Lowered
    from .native.dispatch import Chain
    from .registry import Registry
    from .selection.tuner import Tuner


class DeferredRegistry:
    """What kernels ask of a registry. While there is none, nothing was ever registered."""

    def __init__(self, make: Callable[[], Registry]) -> None:
        self._make = make
        self._lock = lock()
        self._made: Registry | None = None
        self._watchers: WeakSet[Any] = WeakSet()

    @property
    def made(self) -> Registry:
        """The registry itself."""
        with self._lock:
            if self._made is None:
                made = self._make()
                if self._made is None:  # as it is, unless a signal's handler has made one meanwhile
                    for watcher in list(self._watchers):
                        made.watch(watcher)
                    self._made = made
            return self._made

    @property
    def generation(self) -> int:
        return 0 if self._made is None else self._made.generation

    @property
    def has_user_kernels(self) -> bool:
        return self._made is not None and self._made.has_user_kernels

    def watch(self, watcher: Any) -> None:
        with self._lock:
            if self._made is None:
                self._watchers.add(watcher)
            else:
                self._made.watch(watcher)

    def is_current(self, uses: Any) -> bool:
        return self._made is None or self._made.is_current(uses)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)


class DeferredTuner:
    """What kernels ask of a tuner. A graph's first call runs it as it was compiled; with the second there is one."""

    def __init__(self, make: Callable[[], Tuner]) -> None:
        self._make = make
        self._lock = lock()
        self._made: Tuner | None = None

    @property
    def made(self) -> Tuner:
        """The tuner itself."""
        with self._lock:
            if self._made is None:
                made = self._make()
                self._made = self._made or made  # a signal's handler may have made one meanwhile
            return self._made

    def turn(self, lowered: Lowered, env: Mapping[str, int], lookup: Any, is_sample: bool) -> Turn:
        if self._made is None and "first run" not in lowered.seconds:
            return Turn(lowered)
        return self.made.turn(lowered, env, lookup, is_sample)

    def took(self, turn: Turn, seconds: float) -> None:
        if self._made is not None:
            self._made.took(turn, seconds)

    def ask_again(self, chain: Chain, turn: Turn) -> None:
        if self._made is not None:
            self._made.ask_again(chain, turn)

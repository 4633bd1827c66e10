"""Stand in for the registry and the tuner until they are needed, because importing them takes a while.

A kernel loaded from disk needs neither: nothing is registered yet, and the first call chooses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from time import sleep
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..ir import dims
from ..ir.support.forking import lock
from ..ir.tuples import NamedTuple
from ..ir.types import integer, sizes

if TYPE_CHECKING:
    from threading import Thread

    from ..ir.support.pickles import Place
    from .compiler import Lowered
    from .native.dispatch import Chain
    from .registry import Registry
    from .selection.tuner import Tuner
    from .selection.workload import Workload

DEFAULT = "default"
LONG = 50_000_000  # estimated picoseconds from which a call is worth exploring
PARTS = ("settings", "workload", "model", "knowledge", "history", "candidates", "choosing", "plan", "compiling")
PAUSE = 0.001  # seconds between two steps in the background
SOON = 7  # native calls of a long kernel after which Python is asked


class Turn(NamedTuple):
    """What a call runs.

    With `load` its time is to be recorded; `is_open` means that the best variant is not settled.
    """

    lowered: Lowered
    variant: str = DEFAULT
    load: Workload | None = None
    is_open: bool = False


class DeferredRegistry:
    """Stand in for the registry. Until one is made, nothing is registered. Pickles find it at its `place`."""

    def __init__(self, make: Callable[[], Registry], place: Place | None = None) -> None:
        self._make, self._place = make, place
        self._lock = lock()
        self._made: Registry | None = None
        self._watchers: WeakSet[Any] = WeakSet()

    @property
    def made(self) -> Registry:
        """The registry, made when it is first needed."""
        with self._lock:
            if self._made is None:
                made = self._make()
                if self._made is None:  # otherwise a signal handler has made one meanwhile
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

    def __reduce__(self) -> Any:
        from ..ir.support.pickles import reference

        return reference(self._place, "a registry")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made, name)


class DeferredTuner:
    """Stand in for the tuner until there is something to choose: a long call, or a history.

    A graph's first call runs as it was compiled. If the graph is called so often that Python is asked again, a thread
    reads the history. A process that calls a kernel once is not held up by it.
    """

    def __init__(self, make: Callable[[], Tuner], has_history: Callable[[], bool], place: Place | None = None) -> None:
        self._make, self._has_history, self._place = make, has_history, place
        self._lock = lock()
        self._made: Tuner | None = None
        self._reading: Thread | None = None

    @property
    def made(self) -> Tuner:
        """The tuner, made when it is first needed."""
        with self._lock:
            if self._made is None:
                made = self._make()
                self._made = self._made or made  # a signal handler may have made one meanwhile
            return self._made

    def __reduce__(self) -> Any:
        from ..ir.support.pickles import reference

        return reference(self._place, "a tuner")

    def turn(self, lowered: Lowered, env: Mapping[str, int], lookup: Any, is_sample: bool) -> Turn:
        is_long = self._made is None and estimated_work(lowered, env) >= LONG
        is_first = "first run" not in lowered.seconds
        if self._made is None and (is_first or not is_long):
            if not is_first and self._reading is None and self._has_history():
                from threading import Thread

                self._reading = Thread(target=self._read, args=(lowered,), name="weft history", daemon=True)
                self._reading.start()
            return Turn(lowered, is_open=is_long)
        return self.made.turn(lowered, env, lookup, is_sample)

    def _limit(self, chain: Chain, turn: Turn) -> None:
        """Set when Python is asked again: soon after a long call, or only after another long one if nothing is
        known.
        """
        if turn.is_open:
            chain.limit(turn.lowered, SOON)
        elif self._has_history():
            chain.limit(turn.lowered, 0)
        else:
            chain.limit_long(turn.lowered)

    def _read(self, lowered: Lowered) -> None:
        """Do in the background what a later call of the graph needs.

        Calls may have to wait while a step runs, so the steps are short.
        """
        for name in ("json", "pathlib", "urllib.parse", *(f"{__package__}.selection.{part}" for part in PARTS)):
            import_module(name)
            sleep(PAUSE)
        self.made.history.families(), lowered.family

    def took(self, turn: Turn, seconds: float) -> None:
        if self._made is not None:
            self._made.took(turn, seconds)

    def ask_again(self, chain: Chain, turn: Turn) -> None:
        if self._made is not None:
            self._made.ask_again(chain, turn)
        else:
            self._limit(chain, turn)


def estimated_work(lowered: Lowered, env: Mapping[str, int]) -> int:
    """Estimate the picoseconds of a call."""
    costs = [(integer(r.attrs, "cost"), dims.product(sizes(r.attrs, "space"))) for r in lowered.kernels]
    known = [(cost, space) for cost, space in costs if dims.symbols(space) <= env.keys()]
    return sum(cost * dims.evaluate(space, env) for cost, space in known)

"""Time a few calls of a plan: how much of the time is native, and how much is Python's.

The second and third call of a plan run in a copy of it whose pieces are timed; later calls cost nothing more. A call in
which something was compiled does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns
from types import CellType, FunctionType
from typing import Any

from ..ir.records import record
from .pieces import MISS

TIMED_CALLS = 2


@record
class TimeShares:
    """How the time of some calls was spent, in nanoseconds. `pieces` has the native time of each piece, by name."""

    calls: int
    total: int
    pieces: Mapping[str, int]

    @property
    def native(self) -> float:
        """The share of native code, from 0 to 1."""
        return min(1.0, sum(self.pieces.values()) / self.total) if self.total else 0.0

    def __str__(self) -> str:
        timed = "1 call" if self.calls == 1 else f"{self.calls} calls"
        return f"{self.native:.0%} of the time native, {1 - self.native:.0%} in Python ({timed} timed)"


class PlanTimes:
    """Times the first calls of a plan. `compiles` counts what has been compiled so far."""

    def __init__(self, plan: FunctionType, pieces: Mapping[str, Any], compiles: Callable[[], int]) -> None:
        self._pieces, self._compiles = pieces, compiles
        self._plan, self._open = plan, 0
        self._spent: dict[str, int] = {}
        self.seen = 0  # calls, the first of which compiles
        self.shares = TimeShares(0, 0, {})

    @property
    def is_done(self) -> bool:
        return self.seen > TIMED_CALLS

    def run(self, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """Run a call of the plan, and take its time."""
        self.seen += 1
        if self.seen == 1 or self._open:  # it compiles; or the plan has called itself
            return self._plan(*args, **kwargs)
        self._spent = dict.fromkeys(self._pieces, 0)
        before, timed = self._compiles(), self._timed()
        self._open += 1
        start = perf_counter_ns()
        try:
            return timed(*args, **kwargs)
        finally:
            total = perf_counter_ns() - start
            self._open -= 1
            if self._compiles() == before:
                self._add(total)

    def _add(self, total: int) -> None:
        old = self.shares
        pieces = {name: old.pieces.get(name, 0) + spent for name, spent in self._spent.items()}
        self.shares = TimeShares(old.calls + 1, old.total + total, pieces)

    def _timed(self) -> FunctionType:
        """The plan with pieces that are timed."""
        plan = self._plan
        cells = dict(zip(plan.__code__.co_freevars, plan.__closure__ or (), strict=True))
        cells |= {name: CellType(self._measured(name, piece)) for name, piece in self._pieces.items() if name in cells}
        closure = tuple(cells[name] for name in plan.__code__.co_freevars)
        made = FunctionType(plan.__code__, plan.__globals__, plan.__name__, plan.__defaults__, closure)
        made.__kwdefaults__ = plan.__kwdefaults__
        return made

    def _measured(self, name: str, piece: Any) -> Any:
        def call(*args: Any) -> Any:
            start = perf_counter_ns()
            result = piece(*args)
            if result is not MISS:
                self._spent[name] += perf_counter_ns() - start
            return result

        call.timed_piece = piece  # type: ignore[attr-defined]
        return call

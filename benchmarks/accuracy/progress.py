"""Show one line of progress: points done, the rate, and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

# A point of f64 takes about so many times the work of another, for long double is slow.
WORK_OF_F64 = 12
SILENT = 20.0  # seconds between lines where the output is not a screen


class Meter:
    """Show the progress of several measurements at once."""

    def __init__(self, totals: Mapping[Any, int]) -> None:
        self._totals = dict(totals)
        self._done = dict.fromkeys(totals, 0)
        self._began = self._shown = time.monotonic()

    def total(self, task: Any) -> int:
        planned: int = self._totals[task]
        return planned

    def update(self, task: Any, done: int) -> None:
        """Note that this many points of a task are done; hard points are counted on top of the planned ones."""
        self._done[task] = min(done, self._totals[task])
        now = time.monotonic()
        if now - self._shown < (0.2 if sys.stderr.isatty() else SILENT):
            return
        self._shown = now
        self._show(f"{task[0]} {task[1]} {100 * self._done[task] // self._totals[task]:3} %", now - self._began)

    def _show(self, current: str, seconds: float) -> None:
        rate = sum(self._done.values()) / seconds
        done, total = _work(self._done), _work(self._totals)
        minutes, rest = divmod(int(seconds * (total - done) / max(done, 1)), 60)
        line = f"{current}, {rate / 1e6:.1f} million points a second, {minutes}:{rest:02} left of everything"
        screen = sys.stderr.isatty()
        print(f"\r\x1b[K{line}" if screen else line, file=sys.stderr, end="" if screen else "\n")


def _work(counts: Mapping[Any, int]) -> int:
    return sum(count * (WORK_OF_F64 if task[1] == "f64" else 1) for task, count in counts.items())

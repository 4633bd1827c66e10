"""Measure the calls of compiled functions, kernels and pieces while a profile runs.

Recipes serve calls without Python, so they are dropped and none are made while a profile runs. Then each call goes
through the method `called`, which is replaced by one that measures the time. At other times nothing is added to calls.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..ir.records import record
from ..ir.support.files import write_file
from .native.dispatch import paused

Describe = Callable[[Any], "Timed | None"]


@record
class Timed:
    """Something that is timed: its name, its place in a file, and whether its own time is native code or Python."""

    name: str
    file: str
    lines: tuple[int, int]
    is_native: bool

    @property
    def place(self) -> str:
        first, last = self.lines
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        return f"{os.path.basename(self.file)}, {where}" if first else os.path.basename(self.file)


@record
class ProfiledCall:
    """One call: when it started, how long it took, and how much of that was in calls inside it, in nanoseconds."""

    of: Timed
    thread: int
    start: int
    duration: int
    inside: int


class Profile:
    """The calls that were measured. `print` shows the time of each function, kernel and piece."""

    def __init__(self) -> None:
        self.events: list[ProfiledCall] = []
        self.duration = 0  # of the whole profile, in nanoseconds
        self._open = threading.local()

    def measured(self, of: Timed, run: Callable[[], Any]) -> Any:
        """Run a call and take its time."""
        around: list[int] = self._open.__dict__.setdefault("inside", [])
        around.append(0)
        start = time.perf_counter_ns()
        try:
            return run()
        finally:
            duration = time.perf_counter_ns() - start
            inside = around.pop()
            if around:
                around[-1] += duration
            self.events.append(ProfiledCall(of, threading.get_ident(), start, duration, inside))

    @property
    def rows(self) -> list[tuple[Timed, int, int]]:
        """What was called, how often, and its own time in nanoseconds, the longest first."""
        found: dict[Timed, tuple[int, int]] = {}
        for event in list(self.events):
            calls, own = found.get(event.of, (0, 0))
            found[event.of] = calls + 1, own + event.duration - event.inside
        return sorted(((of, calls, own) for of, (calls, own) in found.items()), key=lambda row: -row[2])

    def __str__(self) -> str:
        rows = self.rows
        native, python = (sum(own for of, _, own in rows if of.is_native is kind) for kind in (True, False))
        whole = max(1, self.duration)
        lines = [f"{'own time':>12}  {'share':>5}  {'calls':>7}  what"]
        for of, calls, own in rows:
            how = "native" if of.is_native else "Python"
            lines.append(
                f"{_spoken(own):>12}  {own / whole:5.0%}  {calls:7}  {of.name} ({how}){of.place and ', '}{of.place}"
            )
        outside = max(0, whole - native - python)
        lines.append(
            f"native {native / whole:.0%}, Python inside jitted functions {python / whole:.0%}, "
            f"outside {outside / whole:.0%} of {_spoken(whole)}"
        )
        return "\n".join(lines)

    def trace(self) -> str:
        """Return the calls in the Chrome trace format, which browsers' trace viewers read."""
        events = [
            {
                "name": e.of.name, "cat": "native" if e.of.is_native else "Python", "ph": "X", "ts": e.start / 1000,
                "dur": e.duration / 1000, "pid": os.getpid(), "tid": e.thread, "args": {"place": e.of.place},
            }
            for e in list(self.events)
        ]  # fmt: skip
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})

    def save(self, path: str) -> None:
        """Write the trace to a file."""
        write_file(path, self.trace().encode())


@contextmanager
def measuring(profile: Profile, kinds: Sequence[tuple[type, Describe]]) -> Iterator[None]:
    """Measure the calls of objects of these classes, each described by its function."""
    before = [(kind, vars(kind)["called"]) for kind, _ in kinds]
    with paused():
        start = time.perf_counter_ns()
        try:
            for (kind, describe), (_, call) in zip(kinds, before, strict=True):
                setattr(kind, "called", _timed(profile, describe, call))  # noqa: B010 - one of many classes
            yield
        finally:
            for kind, call in before:
                setattr(kind, "called", call)  # noqa: B010
            profile.duration += time.perf_counter_ns() - start


def _timed(profile: Profile, describe: Describe, call: Callable[..., Any]) -> Callable[..., Any]:
    def timed(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        of = describe(self)
        return call(self, *args, **kwargs) if of is None else profile.measured(of, lambda: call(self, *args, **kwargs))

    return timed


def _spoken(nanoseconds: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds} ns"

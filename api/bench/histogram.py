"""Time single calls of ten small kernels, and print how many took how long.

The mean of many calls hides the one that waits: for code, for a thread, for memory. Here each call is timed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..compiling import jit
from .row import normal
from .suites.calls import ROWS

CALLS = 10_000
SIZE = 100
LIMITS = (500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000)  # nanoseconds


def kernels(rng: Any) -> dict[str, tuple[Callable[..., Any], Sequence[Any]]]:
    """Return the functions and their arguments: most rows of the suite, and three more."""
    found: dict[str, tuple[Callable[..., Any], Sequence[Any]]] = {
        row.name: (row.make(np), row.inputs(rng, SIZE, "f32")) for row in ROWS if row.into is None
    }
    found["clip(x, -1, 1)"] = (lambda x: np.clip(x, -1.0, 1.0), normal()(rng, SIZE, "f32"))
    found["exp(x)"] = (lambda x: np.exp(x), normal()(rng, SIZE, "f32"))
    found["a dict and a list"] = (lambda a, b: {"sum": a + b, "rest": [a - b, a * b]}, normal(2)(rng, SIZE, "f32"))
    return found


def times_of(function: Callable[..., Any], args: Sequence[Any], calls: int = CALLS) -> list[int]:
    """Return the nanoseconds of each call, as the clock shows them."""
    kernel, times = jit(function), []
    for _ in range(calls):
        start = perf_counter_ns()
        kernel(*args)
        times.append(perf_counter_ns() - start)
    return times


def line(name: str, times: Sequence[int]) -> str:
    """Return a row of the table: the first and second call, the median, and the number of later calls in each range."""
    later = sorted(times[1:])
    starts, ends = (0, *LIMITS), (*LIMITS, 1 << 62)
    counts = [sum(a <= t < b for t in later) for a, b in zip(starts, ends, strict=True)]
    shown = "".join(f"{n:>9}" if n else f"{'.':>9}" for n in counts)
    return f"{name:<26}{times[0] / 1e6:>9.1f}{times[1] / 1e3:>9.2f}{median(later) / 1e3:>9.2f}{shown}"


def show() -> None:
    """Measure all kernels and print the table."""
    names = ["0.5 µs", "1 µs", "2 µs", "5 µs", "10 µs", "100 µs", "1 ms"]
    heads = "".join(f"{'< ' + name:>9}" for name in names)
    print(f"\n{CALLS} single calls, {SIZE} elements: how many took how long")
    print(f"{'':<26}{'1st, ms':>9}{'2nd, µs':>9}{'median':>9}{heads}{'more':>9}")
    for name, (function, args) in kernels(np.random.default_rng(0)).items():
        print(line(name, times_of(function, args)), flush=True)

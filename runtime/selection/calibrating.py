"""A kernel and arguments in, the times of all its variants on them out; they go into the history, and a choice is made.

Variants are timed as users call them, one batch of each after another, so that what disturbs the machine meets all.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...ir.errors import TypeProblem, WeftError
from .candidates import variants_of, workload_of

if TYPE_CHECKING:
    from ...ir.kernels import KernelLookup
    from ..compiler import Lowered, Variant
    from .tuner import Tuner

BATCHES = 9
LEARNING = 3  # calls until native code serves them
Progress = Callable[[str, int, int], object]


class Callee(Protocol):
    """A kernel or a jitted function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def sized(self, *args: Any, **kwargs: Any) -> tuple[Lowered, dict[str, int]]: ...
    def in_variant(self, variant: Variant) -> Callee: ...


@dataclass(frozen=True)
class Timing:
    """One variant: seconds a call (mean, least, most, standard deviation), calls and bytes a second."""

    variant: str
    mean: float
    least: float
    most: float
    deviation: float
    throughput: float
    bandwidth: float
    is_chosen: bool


def calibrate(
    tuner: Tuner,
    lookup: KernelLookup,
    kernel: Callee,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    progress: Progress = lambda name, done, total: None,
) -> list[Timing]:
    """Times every variant, the fastest first. The settings' time limit is for all of them together."""
    lowered, env = kernel.sized(*args, **kwargs)
    if not lowered.kernels:
        raise TypeProblem(f"{lowered.graph.name} has no native kernel, so it has no variants")
    plan = tuner.plan(lowered, env)
    load = workload_of(plan.base, env)
    ready: dict[str, Callee] = {}
    for name, variant in variants_of(plan.base, load).items():
        callee = kernel.in_variant(variant)
        with suppress(WeftError):  # a variant that this machine can't have is none
            for _ in range(LEARNING):
                callee(*args, **kwargs)
            ready[name] = callee
    limit = tuner.settings.time_limit / (BATCHES * len(ready))
    samples: dict[str, list[float]] = {name: [] for name in ready}
    for batch in range(BATCHES):
        for k, (name, callee) in enumerate(ready.items()):
            samples[name].append(_seconds(callee, args, kwargs, limit))
            progress(name, batch * len(ready) + k + 1, BATCHES * len(ready))
    for name, times in samples.items():
        for seconds in times:
            tuner.history.add(load, name, seconds)
    tuner.make(plan, load, list(ready), lookup)
    tuner.decide(plan, load, is_final=True)
    chosen = plan.name_at(load.size)
    return sorted((_timing(n, t, load.bytes, n == chosen) for n, t in samples.items()), key=lambda t: t.least)


def _seconds(callee: Callee, args: Sequence[Any], kwargs: Mapping[str, Any], limit: float) -> float:
    """The time of one call, by so many calls as fit a time limit: one at least."""
    start = time.perf_counter()
    callee(*args, **kwargs)
    once = time.perf_counter() - start
    calls = max(1, min(100_000, math.floor(limit / max(once, 1e-7))))
    start = time.perf_counter()
    for _ in range(calls):
        callee(*args, **kwargs)
    return (time.perf_counter() - start) / calls


def _timing(name: str, times: Sequence[float], bytes: int, is_chosen: bool) -> Timing:
    mean, least = statistics.mean(times), min(times)
    return Timing(name, mean, least, max(times), statistics.stdev(times), 1 / mean, bytes / mean, is_chosen)

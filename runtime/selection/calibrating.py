"""Time all variants of a kernel on given arguments, record the times and choose.

Variants are timed as users call them, in turns and in random order, so that a disturbance of the machine, or the
caches left by another variant, affects all of them.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from ...ir.errors import TypeProblem, WeftError
from ...ir.records import record
from .candidates import variants_of, workload_of

if TYPE_CHECKING:
    from ...ir.kernels import KernelLookup
    from ..compiler import Lowered, Variant
    from .tuner import Tuner

SAMPLES = 9  # samples of each variant
TURNS = 6  # turns of which a sample is the best: a disturbance lasts longer than one turn
SHORTEST = 2e-5  # seconds that a turn takes at least, unless it is one call
LEARNING = 3  # calls until native code serves them
Progress = Callable[[str, int, int], object]


class Calibrated(Protocol):
    """A kernel or a jitted function, which can also be called."""

    def sized(self, *args: Any, **kwargs: Any) -> tuple[Lowered, dict[str, int]]: ...
    def in_variant(self, variant: Variant) -> Callable[..., Any]: ...


@record
class Timing:
    """The times of one variant: seconds per call (mean, least, most, deviation), calls and bytes per second."""

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
    kernel: Calibrated,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    progress: Progress = lambda name, done, total: None,
) -> list[Timing]:
    """Time every variant and sort them, the fastest first.

    The time limit of the settings covers all of them together.
    """
    lowered, env = kernel.sized(*args, **kwargs)
    if not lowered.kernels:
        raise TypeProblem(f"{lowered.graph.name} has no native kernel, so there is nothing to choose from")
    cast("Callable[..., Any]", kernel)(*args, **kwargs)  # an error here would occur in every variant
    plan = tuner.plan(lowered, env)
    load = workload_of(plan.base, env)
    ready: dict[str, Callable[..., Any]] = {}
    for name, variant in variants_of(plan.base, load).items():
        callee = kernel.in_variant(variant)
        with suppress(WeftError):  # this machine can't run the variant
            for _ in range(LEARNING):
                callee(*args, **kwargs)
            ready[name] = callee
    once = min(_seconds(callee, args, kwargs, 1) for callee in ready.values() for _ in range(LEARNING))
    share = tuner.settings.time_limit / (SAMPLES * len(ready))
    turns = min(TURNS, max(1, math.floor(share / max(once, SHORTEST))))
    calls = max(1, math.floor(share / turns / once) - 1)
    samples: dict[str, list[float]] = {name: [] for name in ready}
    for k in range(SAMPLES):
        best = dict.fromkeys(ready, math.inf)
        for _ in range(turns):
            for name, callee in random.sample(list(ready.items()), len(ready)):
                best[name] = min(best[name], _seconds(callee, args, kwargs, calls))
        for j, (name, seconds) in enumerate(best.items()):
            samples[name].append(seconds)
            progress(name, k * len(ready) + j + 1, SAMPLES * len(ready))
    for name, times in samples.items():
        for seconds in times:
            tuner.history.add(load, name, seconds)
    tuner.make(plan, load, list(ready), lookup)
    tuner.decide(plan, load, is_final=True)
    chosen = plan.name_at(load.size)
    return sorted((_timing(n, t, load.bytes, n == chosen) for n, t in samples.items()), key=lambda t: t.least)


def _seconds(callee: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], calls: int) -> float:
    """Time one of several calls, after an untimed one that sets up the caches."""
    callee(*args, **kwargs)
    start = time.perf_counter()
    for _ in range(calls):
        callee(*args, **kwargs)
    return (time.perf_counter() - start) / calls


def _timing(name: str, times: Sequence[float], bytes: int, is_chosen: bool) -> Timing:
    mean, least = statistics.mean(times), min(times)
    return Timing(name, mean, least, max(times), statistics.stdev(times), 1 / mean, bytes / mean, is_chosen)

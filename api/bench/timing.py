"""Calls of several libraries in, the shortest time of one call of each out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

from .library import Call

WARM_SECONDS, ROUND_SECONDS = 2e-4, 3e-4
MIN_ROUNDS, MAX_ROUNDS, LOST_AFTER, LOST = 7, 200, 3, 4.0


def best_times(calls: Mapping[str, Sequence[Call]], seconds: float) -> dict[str, float]:
    """Seconds for one call, by library; the best of its calls counts.

    The libraries take turns in short rounds, for about `seconds` each, so that a disturbance of the machine meets all
    of them. Before each round a library is called without a clock: the one before may have left threads that still
    wait in a loop, and other data in the caches. What is four times slower than the best after three rounds is out.
    """
    if not calls:
        return {}
    runners = {(name, k): call.run for name, found in calls.items() for k, call in enumerate(found)}
    best = {key: _first(run) for key, run in runners.items()}
    counts = {key: max(1, int(ROUND_SECONDS / t)) for key, t in best.items()}
    warm = {key: max(1, int(WARM_SECONDS / t)) for key, t in best.items()}
    start, rounds = perf_counter(), 0
    while rounds < MIN_ROUNDS or (rounds < MAX_ROUNDS and perf_counter() - start < seconds * len(runners)):
        for key, run in runners.items():
            run(warm[key])
            best[key] = min(best[key], run(counts[key]) / counts[key])
        rounds += 1
        if rounds == LOST_AFTER:
            limit = LOST * min(best.values())
            runners = {key: run for key, run in runners.items() if best[key] <= limit}
    return {name: min(best[name, k] for k in range(len(found))) for name, found in calls.items()}


def _first(run: object) -> float:
    """About the time of one call. The first calls compile, and native entries are made after that."""
    assert callable(run)
    run(3)
    count, spent = 1, float(run(1))
    while spent < WARM_SECONDS:
        count *= 4
        spent = float(run(count))
    return spent / count

"""Find the shortest time of one call for several libraries, measured in turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

from .library import TimedCall

WARM_SECONDS, ROUND_SECONDS = 1e-3, 5e-4
MIN_ROUNDS, LOST_AFTER, LOST = 7, 3, 4.0
QUIET_ROUNDS, GAIN, PATIENCE = 12, 0.98, 5


def best_times(
    calls: Mapping[str, Sequence[TimedCall]], seconds: float, pause: float = WARM_SECONDS
) -> dict[str, float]:
    """Seconds for one call, by library; the best of its calls counts.

    The libraries take turns in short rounds, so that a disturbance of the machine meets all of them. Before each round
    a library is called untimed for `pause` seconds, because the one before may have left threads that still wait in a
    loop, and other data in the caches. The order rotates, so that no library always follows the same one. After three
    rounds, calls that are four times slower than the best are dropped. Measuring ends after about `seconds` for each
    library. On a busy machine it ends later: when no best time has improved for a dozen rounds, or after five times
    `seconds`.
    """
    if not calls:
        return {}
    runners = {(name, k): call.run for name, found in calls.items() for k, call in enumerate(found)}
    best = {key: _first(run) for key, run in runners.items()}
    counts = {key: max(1, int(ROUND_SECONDS / t)) for key, t in best.items()}
    warm = {key: max(1, int(pause / t)) for key, t in best.items()}
    start, rounds, improved = perf_counter(), 0, 0
    while rounds < MIN_ROUNDS or _goes_on(perf_counter() - start, seconds * len(runners), rounds - improved):
        for key in list(runners) if rounds % 2 else reversed(runners):
            runners[key](warm[key])
            spent = runners[key](counts[key]) / counts[key]
            improved = rounds if spent < GAIN * best[key] else improved
            best[key] = min(best[key], spent)
        rounds += 1
        if rounds % LOST_AFTER == 0:
            limit = LOST * min(best.values())
            runners = {key: run for key, run in runners.items() if best[key] <= limit}
    return {name: min(best[name, k] for k in range(len(found))) for name, found in calls.items()}


def _goes_on(spent: float, planned: float, unchanged: int) -> bool:
    return spent < planned or (unchanged < QUIET_ROUNDS and spent < PATIENCE * planned)


def _first(run: object) -> float:
    """Estimate the time of one call. The first calls compile, and native entries are made after that."""
    assert callable(run)
    run(3)
    count, best = 1, float(run(1))
    while best * count < WARM_SECONDS:
        count *= 4
        best = min(best, float(run(count)) / count)
    return best

"""Check whether choosing variants by measurement pays, at sizes from 10 to 10^7.

    python -m benchmarks.adaptive            needs an installed weft; takes about two minutes

Each size is calibrated first. Then all variants, and the kernel that chooses among them, are timed in turns several
times; the best time counts. The last lines tell how far the choice is from the best variant of each size, and how much
longer each single variant takes for all sizes together, with equal weights. The difference between two copies of one
variant is shown too: smaller differences mean nothing.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import weft
from weft.runtime.deferred import DEFAULT
from weft.runtime.selection.candidates import variants_of, workload_of

SIZES = [10 ** (k / 2) for k in range(2, 15)]
ROUNDS = 150
SECONDS = 0.001
AGAIN = "default again"
KERNEL = "kernel f(x: f32[n], y: f32[n]) -> f32[n] { return x * y + exp(x - y) }"


def main() -> None:
    """Print the table."""
    weft.selection.configure(explore=0, time_limit=2)
    adaptive = weft.compile(KERNEL).f
    data = {int(size): arrays(int(size)) for size in SIZES}
    for args in data.values():
        weft.selection.calibrate(adaptive, *args)
    names: dict[str, Any] = {}
    for args in data.values():
        names |= variants_of(adaptive.lower(*args), workload_of(*adaptive.sized(*args)))
    callees: dict[str, Callable[..., Any]] = {name: adaptive.in_variant(variant) for name, variant in names.items()}
    callees |= {"adaptive": adaptive, AGAIN: adaptive.in_variant(())}
    best = {(name, size): t for size, args in data.items() for name, t in measured(callees, args).items()}
    print(f"{'elements':>10}" + "".join(f"{name:>18}" for name in callees) + "   (us)")
    for size in data:
        print(f"{size:>10}" + "".join(f"{best[name, size] * 1e6:>18.3f}" for name in callees))
    fixed = [name for name in callees if name not in ("adaptive", AGAIN)]
    apart = max(abs(math.log(best[DEFAULT, size] / best[AGAIN, size])) for size in data)
    print(f"two copies of {DEFAULT} are at most {math.exp(apart):.2f} times apart")
    worst = max(best["adaptive", size] / min(best[name, size] for name in fixed) for size in data)
    print(f"adaptive is at most {worst:.2f} times the best variant of a size")
    for name in fixed:
        ratio = math.exp(sum(math.log(best[name, s] / best["adaptive", s]) for s in data) / len(data))
        print(f"{name:>18}: {ratio:.3f} times the time of adaptive over the mix")


def arrays(size: int) -> tuple[Any, Any]:
    """Make data without NaN, overflow or other rare cases."""
    rng = np.random.default_rng(size)
    return rng.random(size, np.float32), rng.random(size, np.float32)


def measured(callees: dict[str, Callable[..., Any]], args: tuple[Any, ...]) -> dict[str, float]:
    """Return the best time of each, measured in turns."""
    best = dict.fromkeys(callees, math.inf)
    for callee in callees.values():
        timed(callee, args, 4)
    calls = max(1, min(10_000, int(SECONDS / timed(callees["adaptive"], args, 4))))
    for _ in range(ROUNDS):
        for name, callee in random.sample(list(callees.items()), len(callees)):
            best[name] = min(best[name], timed(callee, args, calls))
    return best


def timed(callee: Callable[..., Any], args: tuple[Any, ...], calls: int) -> float:
    """Return the seconds per call, averaged over several; a call before them warms the caches."""
    callee(*args)
    start = time.perf_counter()
    for _ in range(calls):
        callee(*args)
    return (time.perf_counter() - start) / calls


if __name__ == "__main__":
    main()

"""Compare kernels on dask arrays with dask's own NumPy and with Numba by hand, in the same run.

    python -m benchmarks.scale [--chunks 20] [--repeat 5] [--rows chain,softmax] [--engines numpy,split]

Two worker processes of one thread hold the data, in chunks of 41 MB. Engines take turns, and a row shows the best time
of each: the seconds that passed, and those of CPU that the workers spent, which a busy machine disturbs less. A task
hands over a copy of one element of its result, so that no row measures how fast results travel, and the block is gone
when the task is done, as it is after a write or a sum.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
import weft
from dask.distributed import Client, LocalCluster, wait

from benchmarks.scale_by_hand import BY_HAND

Array = Any
Function = Callable[[Any], Any]


def chain(x: Array) -> Array:
    return np.sqrt(np.sin(x) ** 2 + 1.0) * 0.5 + np.sin(np.sqrt(np.abs(x)))


def polynomial(x: Array) -> Array:
    return ((((0.1 * x + 0.2) * x - 0.3) * x + 0.4) * x - 0.5) * x + 0.6


def options(x: Array) -> Array:
    """Black-Scholes with a logistic function in place of the normal distribution."""
    price, strike, rate, spread = np.exp(0.1 * x) * 100.0, 95.0, 0.03, 0.2
    d1 = (np.log(price / strike) + (rate + 0.5 * spread**2)) / spread
    d2 = d1 - spread
    return price / (1.0 + np.exp(-1.702 * d1)) - strike * np.exp(-rate) / (1.0 + np.exp(-1.702 * d2))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def deviations(x: Array) -> Array:
    return x.std(axis=0)


def moments(x: Array) -> Array:
    return x.mean(), x.std()


ROWS: dict[str, tuple[Function, str]] = {
    "chain": (chain, "rows"),
    "polynomial": (polynomial, "rows"),
    "options": (options, "rows"),
    "softmax": (softmax, "rows"),
    "softmax of cut rows": (softmax, "columns"),
    "std over axis 0": (deviations, "rows"),
    "mean and std over all": (moments, "rows"),
}
KERNELS = {row: weft.jit(function) for row, (function, _) in ROWS.items()}


def engines(row: str) -> dict[str, Function]:
    """The ways to compute a row."""
    kernel, (function, _) = KERNELS[row], ROWS[row]
    found: dict[str, Function] = {"numpy": function, "split": kernel}
    found["free"] = lambda x: weft.dask.apply(kernel, x, bits="free")
    if row in BY_HAND:
        found["numba"] = BY_HAND[row]
    if hasattr(weft.dask, "fuse"):
        found["fuse()"] = function
    return found


def first_element(block: Array) -> Array:
    return block[(slice(0, 1),) * block.ndim].copy()


def sink(result: Any) -> tuple[Any, ...]:
    """What is computed of a result: one element of each chunk."""
    arrays = result if isinstance(result, tuple) else (result,)
    return tuple(
        a.map_blocks(first_element, dtype=a.dtype, chunks=tuple((1,) * len(c) for c in a.chunks)) if a.ndim > 1 else a
        for a in arrays
    )


def seconds(engine: str, function: Function, x: Array, client: Client) -> tuple[float, float]:
    """The time that passed and the CPU time of the workers."""
    before, start = sum(client.run(time.process_time).values()), time.perf_counter()
    if engine == "fuse()":
        with weft.dask.fuse():
            lazy = dask.optimize(*sink(function(x)))
        dask.compute(*lazy)
    else:
        dask.compute(*sink(function(x)))
    return time.perf_counter() - start, sum(client.run(time.process_time).values()) - before


def data(shape: Sequence[int], chunk: Sequence[int]) -> Array:
    return da.random.default_rng(0).normal(size=tuple(shape), chunks=tuple(chunk))


def arrays(chunks: int) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
    """Arrays cut along rows and along columns, at multiples of 16,384 elements."""
    return {
        "rows": ((4992 * chunks, 1024), (4992, 1024)),
        "columns": ((312, 16384 * chunks), (312, 16384)),
    }


def measure(rows: Sequence[str], chosen: Sequence[str], chunks: int, repeat: int, client: Client) -> None:
    print(f"{chunks} chunks of 41 MB, best of {repeat}; seconds passed and of CPU, then speed over NumPy by both\n")
    for kind, (shape, chunk) in arrays(chunks).items():
        wanted = [r for r in rows if ROWS[r][1] == kind]
        if not wanted:
            continue
        x = data(shape, chunk).persist()
        wait(x)
        for row in wanted:
            ways = {engine: f for engine, f in engines(row).items() if engine in chosen or not chosen}
            taken: dict[str, list[tuple[float, float]]] = {engine: [] for engine in ways}
            for turn in range(repeat + 1):
                for engine, function in ways.items():
                    found = seconds(engine, function, x, client)
                    if turn:  # the first one compiles
                        taken[engine].append(found)
            print(f"{row} ({weft.dask.explain(KERNELS[row], x).splitlines()[-1].strip()})")
            best = {engine: [min(part) for part in zip(*times, strict=True)] for engine, times in taken.items()}
            slowest = best["numpy" if "numpy" in best else next(iter(best))]
            for engine, times in best.items():
                ratios = [n / t for n, t in zip(slowest, times, strict=True)]
                print(f"    {engine:8}{times[0]:8.3f}{times[1]:8.3f}   {ratios[0]:6.2f}{ratios[1]:6.2f}", flush=True)
        del x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--engines", default="", help="some of numpy,split,free,numba,fuse(); the first is the measure")
    given = parser.parse_args()
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="4GB", dashboard_address=None)
    with cluster, Client(cluster) as client:
        measure(given.rows.split(","), list(filter(None, given.engines.split(","))), given.chunks, given.repeat, client)


if __name__ == "__main__":
    main()

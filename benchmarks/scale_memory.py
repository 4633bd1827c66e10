"""Send 6 GB through two workers of 1 GB and report what they spilled and the most memory that they held.

    python -m benchmarks.scale_memory [GIGABYTES]

The data is generated on the fly, in chunks of 41 MB. A chunk in flight is read, computed and handed over: its input and
its result are in memory. The base is what a worker has after a run on one chunk.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import dask.array as da
import weft
from dask.distributed import Client, LocalCluster

from benchmarks.scale import chain, first_element, softmax

KERNELS = {"chain": weft.jit(chain), "softmax": weft.jit(softmax)}
CHUNK = (4992, 1024)


def most_memory() -> int:
    """The most bytes that this process had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def spilled(dask_worker: Any) -> int:
    return (
        int(getattr(dask_worker.data, "spilled_total", (0, 0))[1]) if hasattr(dask_worker.data, "spilled_total") else 0
    )


def run(kernel: Any, chunks: int) -> float:
    x = da.random.default_rng(0).normal(size=(CHUNK[0] * chunks, CHUNK[1]), chunks=CHUNK)
    y = kernel(x).map_blocks(first_element, dtype=x.dtype, chunks=((1,) * chunks, (1,)))
    start = time.perf_counter()
    y.sum().compute()
    return time.perf_counter() - start


def main(gigabytes: float) -> None:
    size = CHUNK[0] * CHUNK[1] * 8
    chunks = round(gigabytes * 1e9 / size)
    for name, kernel in KERNELS.items():
        options: dict[str, Any] = {"memory_limit": "1GB", "dashboard_address": None}
        with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
            run(kernel, 2)
            before = client.run(most_memory)
            seconds = run(kernel, chunks)
            after, spills = client.run(most_memory), client.run(spilled)
            grown = max(after[w] - before[w] for w in after)
            print(
                f"{name}: {chunks * size / 1e9:.1f} GB in {seconds:.1f} s, {sum(spills.values())} bytes spilled; "
                f"a worker held at most {max(after.values()) / 1e6:.0f} MB, {grown / 1e6:.0f} MB more than after one "
                f"chunk of {size / 1e6:.0f} MB ({grown / (2 * size):.2f} of a chunk and its result)",
                flush=True,
            )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 6.0)

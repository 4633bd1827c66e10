"""Take the softmax of the rows of 2 GB in two workers of 512 MB; the data is generated on the fly.

python examples/scale/softmax.py [GIGABYTES]
"""

from __future__ import annotations

import sys
import time

import dask.array as da
import weft
from dask.distributed import Client, LocalCluster

COLUMNS = 1000


def main(gigabytes: float) -> None:
    rows = int(gigabytes * 1e9 / 4 / COLUMNS) // 5000 * 5000
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="512MB") as cluster, Client(cluster):
        x = da.random.default_rng(0).normal(size=(rows, COLUMNS), chunks=(5000, COLUMNS)).astype("f4")
        print(weft.dask.explain(weft.kernels.softmax, x))
        start = time.perf_counter()
        sums = weft.kernels.softmax(x).sum(axis=1)
        low, high = da.compute(sums.min(), sums.max())
        print(f"{x.nbytes / 1e9:.1f} GB in {time.perf_counter() - start:.1f} s: rows add up to {low:.6f} to {high:.6f}")
        assert 0.9999 < low <= high < 1.0001


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)

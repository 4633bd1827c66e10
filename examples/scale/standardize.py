"""Standardize the columns of 2 GB in two workers of 512 MB; the data is generated on the fly.

python examples/scale/standardize.py [GIGABYTES]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import dask.array as da
import numpy as np
import weft
from dask.distributed import Client, LocalCluster

COLUMNS = 512


@weft.jit
def standardize(x: Any) -> Any:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def main(gigabytes: float) -> None:
    rows = int(gigabytes * 1e9 / 8 / COLUMNS) // 4096 * 4096
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="512MB") as cluster, Client(cluster):
        x = da.random.default_rng(0).normal(3, 2, size=(rows, COLUMNS), chunks=(4096, COLUMNS))
        print(weft.dask.explain(standardize, x))
        y = weft.dask.apply(standardize, x, reload=True, bits="require")
        start = time.perf_counter()
        mean, most = da.compute(y.mean(), abs(y).max())
        print(f"{x.nbytes / 1e9:.1f} GB in {time.perf_counter() - start:.1f} s: mean {mean:.1e}, largest {most:.2f}")
        assert abs(mean) < 1e-6 and np.isfinite(most)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)

"""Predict how kernels on dask arrays scale to 1,000 workers, from costs that are measured here.

    python -m benchmarks.scale_model [--check] [--network 1e9]

A kernel is described as `weft.dask.explain` does: stages with one task for each chunk, merges of `split_every` states
each, and a finish. Costs are measured on two local workers, in CPU seconds: a task in the scheduler and in a worker, a
byte of a chunk, and the merge of a state. The network is given. Tasks are handed out by one scheduler, chunks are
computed by all workers, and merges form a tree whose levels follow one another. `--check` compares predictions with
runs on 1, 2 and 4 local workers.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any, NamedTuple

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


class Costs(NamedTuple):
    """Seconds: for a task in the scheduler and in a worker, for a byte of a chunk, a state to merge, a byte to send."""

    scheduler: float = 250e-6
    task: float = 1.0e-3
    byte: float = 1 / 8e9
    merge: float = 60e-6
    sent: float = 1 / 1e9


class Work(NamedTuple):
    """A kernel on data: `stages` passes that end in merges of states of `state` bytes, and maybe a finish."""

    name: str
    chunks: int
    chunk: float
    stages: int
    state: float
    has_finish: bool
    split_every: int = 16


class Prediction(NamedTuple):
    """What a run takes: tasks, bytes between workers, and seconds of each part."""

    tasks: int
    sent: float
    compute: float
    scheduler: float
    merging: float

    @property
    def seconds(self) -> float:
        """The scheduler works while workers compute; merges come when a stage is done."""
        return max(self.compute, self.scheduler) + self.merging

    @property
    def bottleneck(self) -> str:
        parts = {"computing": self.compute, "scheduling": self.scheduler, "merging": self.merging}
        return max(parts, key=lambda name: parts[name])


def levels(work: Work) -> list[int]:
    """How many merges each level of a tree has."""
    found, left = [], work.chunks
    while left > 1:
        left = -(-left // work.split_every)
        found.append(left)
    return found


def predict(work: Work, workers: int, costs: Costs, cores: int | None = None) -> Prediction:
    """Predict one run; workers share so many cores, or each has its own."""
    passes, tree = work.stages + work.has_finish, levels(work)
    tasks = passes * work.chunks + work.stages * sum(tree)
    share = (workers - 1) / workers
    sent = share * work.stages * (work.chunks + sum(tree[:-1])) * work.state
    sent += share * work.has_finish * work.stages * min(workers, work.chunks) * work.state
    at_once = workers if cores is None else min(workers, cores)
    rounds = -(-work.chunks // at_once)
    compute = passes * rounds * (costs.task + work.chunk * costs.byte)
    each = costs.task + work.split_every * (costs.merge + work.state * (costs.byte + share * costs.sent))
    merging = work.stages * sum(-(-count // at_once) * each for count in tree)
    return Prediction(tasks, sent, compute, tasks * costs.scheduler, merging)


def table(work: Work, costs: Costs) -> str:
    """The curve of a kernel as a table in Markdown."""
    lines = [
        "| workers | tasks | sent between workers | seconds | speed-up | bound by |",
        "| --: | --: | --: | --: | --: | --- |",
    ]
    alone = predict(work, 1, costs).seconds
    for workers in WORKERS:
        p = predict(work, workers, costs)
        row = (
            workers,
            f"{p.tasks:,}",
            f"{p.sent / 1e9:.2f} GB",
            f"{p.seconds:,.1f}",
            f"{alone / p.seconds:.0f}",
            p.bottleneck,
        )
        lines.append("| " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines)


KERNELS = (
    Work("softmax of whole rows", 10_000, 128e6, 0, 0, True),
    Work("standardize: moments of 1,000 columns, then a finish", 10_000, 128e6, 1, 160e3, True),
    Work("std over axis 0 of 1,000,000 columns", 10_000, 128e6, 1, 32e6, False),
)


def measured(network: float) -> Costs:
    """Measure the costs on two local workers; how many bytes a second a network sends is given."""
    import dask.array as da
    import numpy as np
    import weft
    from dask.distributed import Client, LocalCluster, wait
    from weft.passes.split_chunks import TREE, ChunkPartial
    from weft.runtime.chunks.states import merged, packed, unpacked

    total: Any = weft.jit(lambda x: x.sum(axis=0))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:

        def cost(chunk: tuple[int, int], count: int) -> tuple[float, float]:
            x = da.ones((chunk[0] * count, chunk[1]), chunks=chunk).persist()
            wait(x)
            best = [float("inf")] * 2
            for _ in range(3):
                before, start = sum(client.run(time.process_time).values()), time.process_time()
                total(x).compute()
                best[1] = min(best[1], time.process_time() - start)
                best[0] = min(best[0], sum(client.run(time.process_time).values()) - before)
            return best[0] / count, best[1] / count

        small, scheduler = cost((16, 16), 200)
        large, _ = cost((4096, 1024), 12)
        byte = max(1e-11, (large - small) / (4096 * 1024 * 8))
    partials = (ChunkPartial(0, "sum", TREE, (0,), False),)
    states = [packed({(0, level, k): (np.ones(1000),) for level in (6, 7, 8)}) for k in range(160)]
    taken = []
    for _ in range(5):
        start = time.process_time()
        merged(map(unpacked, states), partials)
        taken.append((time.process_time() - start) / len(states))
    merge = min(taken)
    return Costs(scheduler, small, byte, merge, 1 / network)


def check(costs: Costs) -> None:
    """Compare predictions with runs on 1, 2 and 4 local workers."""
    import dask.array as da
    import weft
    from dask.distributed import Client, LocalCluster, wait

    kernel: Any = weft.jit(lambda x: x.std(axis=0))
    cores = len(os.sched_getaffinity(0))
    chunk, count = (4096, 512), 32
    work = Work("std", count, chunk[0] * chunk[1] * 8, 1, chunk[1] * 8 * 4, False)
    for workers in (1, 2, 4):
        options: dict[str, Any] = {"memory_limit": "2GB", "dashboard_address": None}
        with LocalCluster(n_workers=workers, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
            x = da.ones((chunk[0] * count, chunk[1]), chunks=chunk).persist()
            wait(x)
            lazy = kernel(x)
            tasks = len(
                dict(client.get_versions() and lazy.__dask_optimize__(lazy.__dask_graph__(), lazy.__dask_keys__()))
            )
            best, spent = float("inf"), float("inf")
            for _ in range(4):
                before, start = sum(client.run(time.process_time).values()), time.perf_counter()
                lazy.compute()
                best = min(best, time.perf_counter() - start)
                spent = min(spent, sum(client.run(time.process_time).values()) - before)
            p = predict(work, workers, costs, cores)
            cpu = work.stages * count * (costs.task + work.chunk * costs.byte)
            print(
                f"{workers} workers: {p.tasks} tasks predicted, {tasks} run; {p.seconds:.3f} s predicted "
                f"on {cores} cores, {best:.3f} s; CPU of workers {cpu:.3f} s predicted, {spent:.3f} s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--network", type=float, default=1e9, help="bytes a second between workers")
    given = parser.parse_args()
    costs = measured(given.network)
    print(costs)
    if given.check:
        check(costs)
    for work in KERNELS:
        print(f"\n{work.name}, {work.chunks:,} chunks of {work.chunk / 1e6:.0f} MB\n\n{table(work, costs)}")


if __name__ == "__main__":
    main()

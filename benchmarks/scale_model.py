"""Predict how kernels on dask arrays scale to 1,000 workers, from costs that are measured here.

    python -m benchmarks.scale_model [--check] [--network 1e9]

A kernel is described as `weft.dask.explain` does: stages with one task for each chunk, merges of `split_every` states
each, and a finish. Costs are measured on two local workers: what a call takes that computes hardly anything, and in CPU
seconds a task in the scheduler and in a worker, the merge of a state, and a byte of a chunk in each kernel. The network
is given. Tasks are handed out by one scheduler, chunks are computed by all workers, and merges form a tree whose levels
follow one another. `--check` compares predictions with runs on 1, 2 and 4 local workers.

Left out: memory that workers of one machine share, workers that wait for a state of another one, workers that are not
equally fast, and reading from a disk or a network.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import weft
from dask.distributed import Client, LocalCluster, wait

from benchmarks.scale import KERNELS, sink

STD = weft.jit(lambda x: x.std(axis=0))
STANDARDIZE = weft.jit(lambda x: (x - x.mean(axis=0)) / x.std(axis=0))
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


class Costs(NamedTuple):
    """Seconds: for a call, a task in the scheduler and in a worker, a state to merge, a byte to merge and to send."""

    call: float
    scheduler: float
    task: float
    merge: float
    byte: float
    sent: float


class Work(NamedTuple):
    """A kernel on data: `stages` passes that end in merges of states of `state` bytes, and maybe a finish.

    A byte of a chunk takes so many seconds in all passes together.
    """

    name: str
    chunks: int
    chunk: float
    stages: int
    state: float
    has_finish: bool
    byte: float = 0.0
    split_every: int = 16


class Prediction(NamedTuple):
    """What a run takes: tasks, bytes between workers, and seconds of each part."""

    tasks: int
    sent: float
    compute: float
    scheduler: float
    merging: float
    call: float

    @property
    def seconds(self) -> float:
        """The scheduler works while workers compute; merges come when a stage is done."""
        return self.call + max(self.compute, self.scheduler) + self.merging

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
    """Predict one run; workers and the scheduler share so many cores, or each has its own."""
    passes, tree = work.stages + work.has_finish, levels(work)
    tasks = passes * work.chunks + work.stages * sum(tree) + (not work.has_finish)
    share = (workers - 1) / workers
    sent = share * work.stages * (work.chunks + sum(tree[:-1])) * work.state
    sent += share * work.has_finish * work.stages * min(workers, work.chunks) * work.state
    at_once = workers if cores is None else min(workers, cores)
    rounds = -(-work.chunks // at_once)
    compute = rounds * (passes * costs.task + work.chunk * work.byte)
    scheduler = tasks * costs.scheduler
    if cores is not None:
        everything = work.chunks * (passes * costs.task + work.chunk * work.byte) + scheduler
        compute = max(compute, everything / cores)
    each = costs.task + work.split_every * (costs.merge + work.state * (costs.byte + share * costs.sent))
    merging = work.stages * sum(-(-count // at_once) * each for count in tree)
    return Prediction(tasks, sent, compute, scheduler, merging, costs.call)


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


CHUNK, COUNT = (4096, 512), 32


def works(bytes: dict[str, float]) -> tuple[Work, ...]:
    """The kernels of the tables, with what a byte costs in each."""
    return (
        Work("softmax of whole rows", 10_000, 128e6, 0, 0, True, bytes["softmax"]),
        Work(
            "standardize: moments of 1,000 columns, then a finish", 10_000, 128e6, 1, 160e3, True, bytes["standardize"]
        ),
        Work("std over axis 0 of 1,000,000 columns", 10_000, 128e6, 1, 32e6, False, bytes["std"]),
    )


def timed(make: Callable[[], Any], client: Any) -> tuple[float, float, float]:
    """The seconds of a call, of the workers' CPU and of the CPU of this process, which has the scheduler."""
    found = []
    for _ in range(5):
        spent = sum(client.run(time.process_time).values())
        start, own = time.perf_counter(), time.process_time()
        make().compute()
        passed, own = time.perf_counter() - start, time.process_time() - own
        found.append((passed, sum(client.run(time.process_time).values()) - spent, own))
    passed, spent, own = (min(part) for part in zip(*found, strict=True))
    return passed, spent, own


def measured(network: float) -> tuple[Costs, dict[str, float]]:
    """Measure the costs on two local workers; how many bytes a second a network sends is given."""
    from weft.passes.split_chunks import TREE, ChunkPartial
    from weft.runtime.chunks.states import merged, packed, unpacked

    total: Any = weft.jit(lambda x: x.sum(axis=0))
    kernels = {"sum": total, "std": STD, "softmax": KERNELS["softmax"], "standardize": STANDARDIZE}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:

        def cost(kernel: Any, chunk: tuple[int, int], count: int) -> tuple[float, ...]:
            x = da.ones((chunk[0] * count, chunk[1]), chunks=chunk).persist()
            wait(x)
            return timed(lambda: sink(kernel(x))[0], client)

        call, _, _ = cost(total, (16, 16), 1)
        _, small, scheduler = (part / 200 for part in cost(total, (16, 16), 200))
        bytes = dict[str, float]()
        for name, kernel in kernels.items():
            _, spent, _ = cost(kernel, CHUNK, COUNT)
            passes = 2 if name == "standardize" else 1
            bytes[name] = max(1e-11, (spent / COUNT - passes * small) / (CHUNK[0] * CHUNK[1] * 8))
    partials = (ChunkPartial(0, "sum", TREE, (0,), False),)
    states = [packed({(0, level, k): (np.ones(1000),) for level in (6, 7, 8)}) for k in range(160)]
    taken = []
    for _ in range(5):
        start = time.process_time()
        merged(map(unpacked, states), partials)
        taken.append((time.process_time() - start) / len(states))
    return Costs(call, scheduler, small, min(taken), bytes["sum"], 1 / network), bytes


def check(costs: Costs, bytes: dict[str, float]) -> None:
    """Compare predictions with runs on 1, 2 and 4 local workers."""
    cores, size = len(os.sched_getaffinity(0)), CHUNK[0] * CHUNK[1] * 8
    kernels = {
        "std": (STD, Work("std", COUNT, size, 1, CHUNK[1] * 8 * 4, False, bytes["std"])),
        "softmax": (KERNELS["softmax"], Work("softmax", COUNT, size, 0, 0, True, bytes["softmax"])),
        "standardize": (
            STANDARDIZE,
            Work("standardize", COUNT, size, 1, CHUNK[1] * 8 * 4, True, bytes["standardize"]),
        ),
    }
    for workers in (1, 2, 4):
        options: dict[str, Any] = {"memory_limit": "2GB", "dashboard_address": None}
        with LocalCluster(n_workers=workers, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
            x = da.ones((CHUNK[0] * COUNT, CHUNK[1]), chunks=CHUNK).persist()
            wait(x)
            held = set(dask.core.flatten(x.__dask_keys__()))
            for name, (kernel, work) in kernels.items():
                lazy = sink(kernel(x))[0]
                tasks = len(set(dict(dask.optimize(lazy)[0].__dask_graph__())) - held)
                passed, spent, _ = timed(lambda lazy=lazy: lazy, client)
                p = predict(work, workers, costs, cores)
                passes = work.stages + work.has_finish
                cpu = work.chunks * (passes * costs.task + work.chunk * work.byte)
                print(
                    f"{name} on {workers} workers: {p.tasks} tasks predicted, {tasks} run; {p.seconds:.3f} s predicted "
                    f"on {cores} cores, {passed:.3f} s; CPU of workers {cpu:.3f} s predicted, {spent:.3f} s",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--network", type=float, default=1e9, help="bytes a second between workers")
    given = parser.parse_args()
    costs, bytes = measured(given.network)
    print(costs, bytes)
    if given.check:
        check(costs, bytes)
    for work in works(bytes):
        print(f"\n{work.name}, {work.chunks:,} chunks of {work.chunk / 1e6:.0f} MB\n\n{table(work, costs)}")


if __name__ == "__main__":
    main()

"""Run many random programs in worker processes, so that a crash or a hang is found too.

Each worker takes numbers of programs in small batches and reports which one it runs. A worker that dies or hangs is
replaced, and its program is tried again alone, in separate processes, to be shrunk.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from .checking import Failure, Oracle
from .drawing import draw
from .program import Program
from .shrinking import shrink
from .trying import failure, widths_for
from .writing import as_test

BATCH = 50
MAX_SECONDS = 120.0  # that one program may take
_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Settings:
    """What to run. `keep` goes on after a failure."""

    seed: int
    count: int
    first: int = 0
    jobs: int = 2
    keep: bool = False
    shrink_seconds: float = 120.0


@dataclass(frozen=True)
class Finding:
    """A program that failed, and its shrunk form."""

    seed: int
    number: int
    link: str
    message: str
    test: str

    def __str__(self) -> str:
        head = f"seed {self.seed}, graph {self.number}: {self.link}: {self.message}"
        return f"{head}\n\n{self.test}"


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    batch: range
    at: int
    since: float


def hunt(settings: Settings, progress: Callable[[int, int], None]) -> Iterator[Finding]:
    """Yield findings as they come; `progress` gets the numbers of tried and failed programs."""
    numbers = iter(range(settings.first, settings.first + settings.count, BATCH))
    end = settings.first + settings.count
    workers: list[_Worker] = []
    done = failed = 0

    def begin(batch: range) -> None:
        if batch:
            workers.append(_start(settings, batch))

    def refill() -> None:
        while len(workers) < settings.jobs and (start := next(numbers, None)) is not None:
            begin(range(start, min(start + BATCH, end)))

    try:
        refill()
        while workers:
            wait([w.pipe for w in workers], timeout=1)
            for worker in list(workers):
                finding, finished, ended = _heard(settings, worker)
                done += finished
                if ended:
                    workers.remove(worker)
                    if finding is not None:  # the worker died of it: another one takes the rest
                        begin(range(worker.at + 1, worker.batch.stop))
                if finding is not None:
                    failed += 1
                    progress(done, failed)
                    yield finding
                    if not settings.keep:
                        return
            progress(done, failed)
            refill()
    finally:
        for worker in workers:
            worker.process.kill()


def _start(settings: Settings, batch: range) -> _Worker:
    ours, theirs = _fork.Pipe()
    process = _fork.Process(target=_work, args=(settings, batch, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, batch, batch.start, time.monotonic())


def _work(settings: Settings, batch: range, pipe: Connection) -> None:
    """Work in the worker: report each number before it is tried, and send what was found."""
    oracle = Oracle()
    for number in batch:
        pipe.send(number)
        program, widths = draw(settings.seed, number), widths_for(number)
        found = failure(program, oracle, widths)
        if found is not None:
            pipe.send("shrinking")
            small, last = shrink(program, found, lambda p, w=widths: failure(p, oracle, w), settings.shrink_seconds)
            pipe.send(_finding(settings.seed, number, small, last))
    pipe.send(None)


def _heard(settings: Settings, worker: _Worker) -> tuple[Finding | None, int, bool]:
    """Return a worker's report: a finding, how many programs it has finished, and whether it has ended."""
    finished = 0
    while worker.pipe.poll():
        try:
            said = worker.pipe.recv()
        except EOFError:
            return _died(settings, worker), finished + 1, True
        worker.since = time.monotonic()
        if said is None:
            worker.process.join()
            return None, finished + 1, True
        if isinstance(said, Finding):
            return said, finished, False
        if said == "shrinking":
            worker.since += settings.shrink_seconds
        else:
            finished += said != worker.batch.start
            worker.at = said
    if time.monotonic() - worker.since > MAX_SECONDS:
        worker.process.kill()
        return _died(settings, worker), finished + 1, True
    return None, finished, False


def _died(settings: Settings, worker: _Worker) -> Finding:
    worker.process.join()
    program, widths = draw(settings.seed, worker.at), widths_for(worker.at)
    first = Failure("crash", f"the process ended with status {worker.process.exitcode}")
    small, last = shrink(program, first, lambda p: _alone(p, widths), settings.shrink_seconds)
    return _finding(settings.seed, worker.at, small, last)


def _alone(program: Program, widths: Sequence[int]) -> Failure | None:
    """Tell whether a program kills its process or never ends."""
    process = _fork.Process(target=lambda: failure(program, Oracle(), widths), daemon=True)
    process.start()
    process.join(MAX_SECONDS / 4)
    if process.is_alive():
        process.kill()
        process.join()
    return Failure("crash", f"the process ended with status {process.exitcode}") if process.exitcode else None


def _finding(seed: int, number: int, program: Program, found: Failure) -> Finding:
    title = f"seed_{seed}_graph_{number}"
    return Finding(seed, number, found.link, found.message, as_test(program, title, found.message))

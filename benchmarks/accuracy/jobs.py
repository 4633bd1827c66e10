"""Run measurements in separate processes, several at a time.

    python -m benchmarks.accuracy.jobs LIBRARY FUNCTION DTYPE POINTS [quick]

runs one measurement. It prints one line of JSON for each report of progress, and the measurement last.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .formats import FORMATS
from .measure import measure
from .native import Library
from .plan import planned_points
from .progress import Meter
from .store import Record
from .table import find

ROOT = Path(__file__).resolve().parents[2]
REPORT_EVERY = 0.2  # seconds


class Task(NamedTuple):
    function: str
    dtype: str
    points: int
    quick: bool

    @property
    def total(self) -> int:
        return planned_points(find(self.function, self.dtype), FORMATS[self.dtype], self.points, self.quick)


def run(tasks: list[Task], library: Path, jobs: int) -> Iterator[tuple[Task, Record]]:
    """Yield measurements as they finish, or the reason of a failure, while a line shows the progress."""
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    reports: queue.SimpleQueue[tuple[Task, Record]] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    meter = Meter({task: task.total for task in tasks})
    for _ in range(min(jobs, len(tasks))):
        threading.Thread(target=_work, args=(waiting, reports, library), daemon=True).start()
    left = len(tasks)
    while left:
        task, report = reports.get()
        if "done" in report:
            meter.update(task, report["done"])
            continue
        meter.update(task, meter.total(task))
        left -= 1
        yield task, report


def _work(waiting: queue.SimpleQueue[Task], reports: queue.SimpleQueue[tuple[Task, Record]], library: Path) -> None:
    while True:
        try:
            task = waiting.get_nowait()
        except queue.Empty:
            return
        command = [sys.executable, "-m", __name__, str(library), task.function, task.dtype, str(task.points)]
        command += ["quick"] * task.quick
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
            assert process.stdout and process.stderr
            for line in process.stdout:
                reports.put((task, json.loads(line)))
            problem = process.stderr.read()
        if process.returncode:
            reports.put((task, {"failed": problem.strip() or f"ended by signal {-process.returncode}"}))


def _measure(library: str, function: str, dtype: str, points: str, *quick: str) -> None:
    shown = 0.0

    def progress(done: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > REPORT_EVERY:
            shown = time.monotonic()
            print(json.dumps({"done": done}), flush=True)

    task = Task(function, dtype, int(points), bool(quick))
    record = measure(Library(Path(library)), find(function, dtype), FORMATS[dtype], task.total, progress)
    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    _measure(*sys.argv[1:])

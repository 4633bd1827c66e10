"""Measure functions and write docs/accuracy.md: the command behind `make accuracy`.

    python -m benchmarks.accuracy exp log --points 100000000 --jobs 2

A function is measured only if there is no measurement of its current code. If nothing is left to measure, the page is
written from stored measurements. The exit status is 1 if an error exceeds the bound or a measurement failed. `--quick`
takes few points, prints the table and stores nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from weft.ir.support.files import write_file

from .formats import FORMATS
from .jobs import ROOT, Task, run
from .native import NoReference, compile_reference
from .report import Row, is_within, render, table
from .store import Store
from .subjects import kernel
from .table import NAMES, find, rows

QUICK_POINTS = 1 << 22


def arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="what to measure (all)")
    parser.add_argument("--dtypes", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--points", type=int, default=10**8, help="points where there are too many for all")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_POINTS:,} points, to the screen")
    parser.add_argument("--again", action="store_true", help="measure what is measured already")
    chosen = parser.parse_args(given)
    unknown = sorted(set(chosen.functions) - set(NAMES))
    if unknown:
        parser.error(f"unknown function {', '.join(unknown)}; there are {', '.join(NAMES)}")
    chosen.functions = chosen.functions or list(NAMES)
    return chosen


def main(given: Sequence[str]) -> int:
    chosen = arguments(given)
    store = Store(ROOT / "build" / "accuracy")
    points = QUICK_POINTS if chosen.quick else chosen.points
    asked = [(f, t) for f, t in rows() if f.name in chosen.functions and t.name in chosen.dtypes]
    asked.sort(key=lambda row: chosen.functions.index(row[0].name))
    fresh = chosen.quick or chosen.again
    wanted = [(f, t) for f, t in asked if (fresh or not store.is_measured(f, t, points)) and kernel(f, t)]
    measured: list[Row] = []
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = compile_reference(Path(folder)) if wanted else Path(folder)
        except NoReference as problem:
            print(problem, file=sys.stderr)
            return 2
        tasks = [Task(function.name, format.name, points, chosen.quick) for function, format in wanted]
        for task, record in run(tasks, library, chosen.jobs):
            if "failed" in record:
                failures += 1
                print(f"{task.function} {task.dtype}: {record['failed']}", file=sys.stderr)
                continue
            row = find(task.function, task.dtype), FORMATS[task.dtype], record
            measured.append(row)
            print(table([row]), flush=True)
            if not chosen.quick:
                store.write(*row)
    if not chosen.quick:
        measured = [(function, format, store.read(function, format)) for function, format in rows()]
        write_file(str(ROOT / "docs" / "accuracy.md"), render(measured).encode())
    return 0 if not failures and all(is_within(record) for _, _, record in measured if record) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

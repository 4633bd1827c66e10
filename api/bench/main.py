"""Run `weft bench`: print a table and write files."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from ..ir.errors import FileProblem, UnknownName, nearest
from ..ir.support.files import write_file
from . import histogram, markdown, plot, table
from .peers import installed
from .results import OURS, BenchResults, Outcome, from_json, joined
from .run import BenchPlan, run, usable_cores
from .suites import SUITES

BAR = 24


def main(args: argparse.Namespace) -> None:
    """Measure, or read earlier results, and show them."""
    for suite in args.suite:
        if suite not in SUITES:
            raise UnknownName(
                f"unknown suite '{suite}'", hint=nearest(suite, list(SUITES)) or f"there are {', '.join(SUITES)}"
            )
    for path in filter(None, (args.json, args.markdown, args.plot)):
        if not Path(path).parent.is_dir():  # check now, not after an hour of measuring
            raise FileProblem(f"there is no folder for {path}", hint=f"mkdir -p {Path(path).parent}")
    results = joined([_read(path) for path in args.read]) if args.read else [_measured(args)]
    for found in results:
        if args.read:
            _show(found)
        print(table.summary(found))
    if "calls" in args.suite and not args.read and not args.only:
        histogram.show()
    if args.json and not args.read:
        write_file(args.json, results[0].to_json().encode())
    if args.markdown:
        markdown.write(args.markdown, results)
    if args.plot:
        write_file(args.plot, plot.svg(results).encode())


def _measured(args: argparse.Namespace) -> BenchResults:
    names = installed() if args.peers else ["NumPy"]
    if args.peer:
        names = [_peer(name) for name in args.peer]
    threads = args.threads or usable_cores()
    os.environ["WEFT_CACHE"] = "0"  # Weft compiles what it measures, as its peers do
    plan = BenchPlan(args.suite or SUITES, names, threads, args.seconds, args.sizes, args.only)
    screen = _Screen([OURS, *names], threads)
    return run(plan, screen.report)


def _peer(name: str) -> str:
    known = installed()
    found = [peer for peer in known if peer.lower() == name.lower()]
    if not found:
        raise UnknownName(f"there is no peer '{name}' here", hint=f"installed are {', '.join(known)}")
    return found[0]


def _read(path: str) -> BenchResults:
    return from_json(Path(path).read_text(encoding="utf-8"), path)


def _show(results: BenchResults) -> None:
    for suite in results.suites:
        print(table.heading(suite, results.libraries, results.threads))
        for outcome in results.of(suite):
            print(table.line(outcome, results.libraries))


class _Screen:
    """Print rows on stdout as they come, with a progress bar on stderr if that is a terminal."""

    def __init__(self, libraries: list[str], threads: int) -> None:
        self._libraries, self._threads, self._suite = libraries, threads, ""
        self._bar = sys.stderr is not None and sys.stderr.isatty()

    def report(self, done: int, total: int, what: str, outcome: Outcome | None) -> None:
        self._erase()
        if outcome is not None:
            if outcome.suite != self._suite:
                self._suite = outcome.suite
                print(table.heading(outcome.suite, self._libraries, self._threads))
            print(table.line(outcome, self._libraries), flush=True)
        if self._bar and done < total:
            full, width = BAR * done // total, shutil.get_terminal_size().columns
            sys.stderr.write(f"[{'#' * full}{'.' * (BAR - full)}] {done}/{total} {what}"[: width - 1])
            sys.stderr.flush()

    def _erase(self) -> None:
        if self._bar:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

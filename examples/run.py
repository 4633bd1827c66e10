"""Compile and run each example kernel, check it against NumPy, time both, and print a table.

Then run the scripts of `library/`, which show kernels of the library in use and check themselves.

python examples/run.py [--pictures FOLDER] [WORD ...]    only kernels whose file or name has one of the words in it
"""

from __future__ import annotations

import argparse
import os
import platform
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import functions
import numpy as np
import weft
from cases import CASES, Case, Data

HERE = Path(__file__).parent
LIBRARY = HERE / "library"
SCRIPTS = ("attention", "cities", "classifier", "edges", "heat", "life", "mandelbrot", "options", "orbit", "solver")
COUNT = 1_000_000
LEAST_RUNS, ENOUGH_SECONDS = 3, 0.1


class Mismatch(Exception):
    """Raised when a kernel and NumPy do not agree."""


def kernel_of(case: Case) -> Any:
    """Return the kernel of a `.weft` file, or a jitted function of `functions.py`; nothing is compiled yet."""
    if case.file.endswith(".weft"):
        return weft.load(HERE / case.file)[case.kernel]
    return getattr(functions, case.kernel)


def reference_of(case: Case, kernel: Any) -> Callable[..., Any]:
    return case.reference or kernel.__wrapped__


def check(case: Case, got: Any, expected: Any) -> float:
    """Return the largest distance in ULP; raise `Mismatch` if type, dtype, shape or a value differs from NumPy's."""
    pairs = list(zip(_flat(got), _flat(expected), strict=True))
    return max(_distance(case, a, b) for a, b in pairs)


def _flat(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple) else [result]


def _distance(case: Case, got: Any, expected: Any) -> float:
    found, wanted = (f"{type(x).__name__} of {x.dtype}{list(x.shape)}" for x in (got, expected))
    if found != wanted:
        raise Mismatch(f"{case.kernel}: got {found}, NumPy gives {wanted}")
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind != "f":
        if not np.array_equal(got, expected):
            raise Mismatch(f"{case.kernel}: {np.count_nonzero(got != expected)} elements differ from NumPy's")
        return 0.0
    unit = np.spacing(np.maximum(np.abs(expected), expected.dtype.type(case.scale)))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        ulps = np.where(same, 0.0, np.abs(np.subtract(got, expected, dtype="f8")) / unit)
    worst = float(np.max(ulps))
    if not worst <= case.ulps:
        at = np.unravel_index(np.argmax(ulps), ulps.shape)
        values = f"{np.asarray(got)[at]!r}, NumPy gives {np.asarray(expected)[at]!r}"
        raise Mismatch(
            f"{case.kernel}: {worst:.1f} ULP apart at {[int(i) for i in at]}, allowed {case.ulps:g}: {values}"
        )
    return worst


@dataclass(frozen=True)
class Row:
    """The result of one kernel."""

    case: Case
    ops: int
    kernels: int
    fallbacks: int
    compile_seconds: float
    seconds: float
    numpy_seconds: float
    ulps: float


def measure(case: Case, count: int = COUNT) -> Row:
    """Compile, check and time one kernel."""
    args = case.make(Data(count))
    kernel = kernel_of(case)
    reference = reference_of(case, kernel)
    start = time.perf_counter()
    got = kernel(*args)
    first = time.perf_counter() - start
    ulps = check(case, got, reference(*args))
    seconds = best(lambda: kernel(*args))
    low = kernel.lower(*args)
    ops = sum(node.op.name not in ("constant", "size") for node in low.built.graph)
    numpy_seconds = best(lambda: reference(*args))
    return Row(case, ops, len(low.kernels), len(low.fallbacks), max(0.0, first - seconds), seconds, numpy_seconds, ulps)


def best(run: Callable[[], Any]) -> float:
    """Return the shortest of several runs."""
    times: list[float] = []
    while len(times) < LEAST_RUNS or sum(times) < ENOUGH_SECONDS:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> str:
    """Return the processor's name, as the system tells it."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} CPUs, {platform.system()} {platform.machine()}"


HEADER = (
    f"{'kernel':<34}{'ops':>5}{'kernels':>9}{'compile ms':>12}{'call ms':>10}{'NumPy ms':>10}{'speed-up':>10}{'ULP':>7}"
)


def line(row: Row) -> str:
    name = f"{row.case.file}: {row.case.kernel}"
    times = f"{1e3 * row.compile_seconds:>12.1f}{1e3 * row.seconds:>10.3f}{1e3 * row.numpy_seconds:>10.3f}"
    return f"{name:<34}{row.ops:>5}{row.kernels:>9}{times}{row.numpy_seconds / row.seconds:>9.1f}x{row.ulps:>7.1f}"


def run_script(name: str, folder: str) -> None:
    """Run a script of `library/` as from the command line; pictures go to the folder."""
    path, given = list(sys.path), list(sys.argv)
    script = str(LIBRARY / f"{name}.py")
    sys.path.insert(0, str(LIBRARY))
    sys.argv = [script, folder]
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sys.path, sys.argv = path, given


def library(chosen: Iterable[str], folder: str) -> list[str]:
    """Run the scripts and return the names of those that failed."""
    failed = []
    for name in chosen:
        print(f"\nlibrary/{name}.py", flush=True)
        try:
            run_script(name, folder)
        except (AssertionError, weft.errors.WeftError) as problem:
            failed.append(name)
            print(f"FAILED\n  {problem}", flush=True)
    return failed


def main(argv: Iterable[str] = ()) -> int:
    parser = argparse.ArgumentParser(description="Compile, run and check the examples.")
    parser.add_argument("--pictures", metavar="FOLDER", help="where pictures go (default: nowhere that stays)")
    parser.add_argument("words", metavar="WORD", nargs="*", help="a part of the names of kernels and scripts")
    args = parser.parse_args(list(argv))
    chosen = [c for c in CASES if not args.words or any(w in f"{c.file}: {c.kernel}" for w in args.words)]
    scripts = [s for s in SCRIPTS if not args.words or any(w in f"library/{s}.py" for w in args.words)]
    start = time.perf_counter()
    failed = table(chosen) if chosen else []
    with tempfile.TemporaryDirectory() as temporary:
        failed += library(scripts, args.pictures or temporary)
    wrong = f", {len(failed)} failed" if failed else ""
    ran = f"{len(chosen)} kernels and {len(scripts)} scripts"
    print(f"\n{ran}{wrong or ': all agree with NumPy'}. {time.perf_counter() - start:.1f} s")
    return 1 if failed or not chosen + scripts else 0


def table(chosen: Iterable[Case]) -> list[str]:
    """Compile, check and time kernels, and print a line for each; return the names of those that failed."""
    start = time.perf_counter()
    weft.compile("kernel start(x: f32[n]) = x + 1").start(np.ones(2, np.float32))
    started = time.perf_counter() - start
    print(f"Weft {weft.__version__}, NumPy {np.__version__}, Python {platform.python_version()}; {machine()}")
    threads = f"{weft.get_threads()} thread{'s' * (weft.get_threads() != 1)}"
    print(f"about {COUNT:,} elements, {threads}, best of {LEAST_RUNS} or more; first compile {1e3 * started:.0f} ms\n")
    print(HEADER)
    failed = []
    for case in chosen:
        try:
            print(line(measure(case)), flush=True)
        except (Mismatch, weft.errors.WeftError) as problem:
            failed.append(case.kernel)
            print(f"{case.file}: {case.kernel}: FAILED\n  {problem}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

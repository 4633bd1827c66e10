"""Run tests and measurements that stand elsewhere, as figures of the scoreboard."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .figures import Figure, Tick

ROOT = Path(__file__).parents[2]


def _pytest(*paths: str) -> Callable[[int, Tick], list[str]]:
    def run(count: int, tick: Tick) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-q", *(f"tests/{path}" for path in paths)]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        tick(count)
        return (
            [] if found.returncode == 0 else [line for line in found.stdout.splitlines() if line.startswith("FAILED")]
        )

    return run


def _accuracy(count: int, tick: Tick) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.accuracy", "--points", str(count)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    tick(count)
    return [] if found.returncode == 0 else [found.stderr[-500:]]


SECURITY = (
    "frontend/test_limits.py", "runtime/test_disk_store.py", "runtime/test_disk.py", "user_kernels",
    "runtime/selection",
)  # fmt: skip
FIGURES = (
    Figure(2, "faults put in on purpose are found", "runs of the tests", 1, 0, _pytest("fuzz/test_faults.py")),
    Figure(3, "rewrites keep every bit", "runs of the tests", 1, 0, _pytest("passes")),
    Figure(4, "mathematical functions within 1 ULP", "points each", 100_000_000, 0, _accuracy),
    Figure(
        6, "special values as NumPy's", "runs of the tests", 1, 0, _pytest("differential/test_elementwise_special.py")
    ),
    Figure(7, "errors of sums", "runs of the tests", 1, 0, _pytest("differential/test_reductions_accuracy.py")),
    Figure(10, "every layout of arguments", "runs of the tests", 1, 0, _pytest("differential/test_layouts.py")),
    Figure(18, "entries of other versions and CPUs", "runs of the tests", 1, 0, _pytest("runtime/test_disk.py")),
    Figure(23, "the control word", "runs of the tests", 1, 0, _pytest("runtime/test_control_word.py")),
    Figure(25, "the threats of the table", "runs of the tests", 1, 0, _pytest(*SECURITY)),
    Figure(
        29, "a full disk in every place that writes", "runs of the tests", 1, 0, _pytest("command/test_full_disk.py")
    ),
    Figure(30, "every type of error has a test", "runs of the tests", 1, 0, _pytest("ir/test_error_types.py")),
)

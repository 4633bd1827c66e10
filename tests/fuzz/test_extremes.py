"""Test that extreme numbers are computed or refused like in NumPy, without killing the process."""

from __future__ import annotations

import subprocess
import sys

SEED, COUNT = 20, 220
SECONDS = 240


def test_extreme_numbers() -> None:
    wrong: list[str] = []
    first = 0
    while True:
        run = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.extremes", str(SEED), str(COUNT), str(first)],
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        lines = run.stdout.splitlines()
        wrong += [line for line in lines if line.startswith("wrong ")]
        if lines and lines[-1] == "done":
            break
        started = [line for line in lines if line.startswith("case ")]
        assert started, run.stderr
        wrong.append(f"{started[-1]} ended the process with {run.returncode}")
        first = int(started[-1].split()[1]) + 1
    assert not wrong, "\n".join(wrong)

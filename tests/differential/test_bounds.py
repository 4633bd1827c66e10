"""Test that nothing outside of an array is read or written, for every tail size and every layout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("guarded.py")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_nothing_outside_is_touched() -> None:
    found = run("--touch")
    assert found.returncode < 0 and "done" not in found.stdout, "the fence lets a read through"
    found = run()
    assert found.returncode == 0, found.stderr
    assert found.stdout == "done\n"

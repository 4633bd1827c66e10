"""Two thousand random nests: the interpreter, lockstep and machine code agree, and nothing outside is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FAULTS = {  # what is done wrong on purpose, and the first nest that shows it
    "a hoisted load of a written buffer": 184,
    "a dropped mask at the end": 8,
    "a dropped mask of a walk": 250,
    "a dropped mask of a branch": 8,
}


def run(first: int, end: int, *fault: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, str(FOLDER / "random_runs.py"), str(first), str(end), *fault],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize("first", range(0, 2000, 500))
def test_every_way_to_run_a_nest_gives_the_same(first: int) -> None:
    found = run(first, first + 500)
    assert found.returncode == 0, found.stderr
    accepted, _, refused = found.stdout.partition(", ")
    assert int(accepted.split()[0]) > 100 and int(refused.split()[0]) > 100, found.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str) -> None:
    found = run(FAULTS[fault], FAULTS[fault] + 1, fault)
    assert found.returncode != 0 and "not the interpreter's bits" in found.stderr

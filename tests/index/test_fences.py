"""Test that nothing outside of an array is read or written, for proved and for checked accesses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def test_nothing_outside_is_touched() -> None:
    paths = os.pathsep.join([str(FOLDER.parent / "differential"), *(p for p in sys.path if p)])
    found = subprocess.run(
        [sys.executable, str(FOLDER / "fenced.py")],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout == "done\n"

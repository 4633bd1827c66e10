"""No read and no write outside of an array: what is proved in range is, and what is checked is checked."""

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

"""Products touch nothing outside of their arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_nothing_outside_is_touched() -> None:
    script = Path(__file__).with_name("fenced.py")
    paths = os.pathsep.join((str(script.parents[1] / "differential"), *(p for p in sys.path if p)))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "done\n", (done.returncode, done.stdout, done.stderr)

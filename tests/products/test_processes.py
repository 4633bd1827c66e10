"""Test in separate processes: products on fenced arrays touch nothing outside, and products by BLAS are right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ("fenced.py", "by_blas.py"))
def test_in_a_process(name: str) -> None:
    script = Path(__file__).with_name(name)
    paths = os.pathsep.join((str(script.parents[1] / "differential"), *(p for p in sys.path if p)))
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "done\n", (done.returncode, done.stdout, done.stderr)

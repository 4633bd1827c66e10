"""Test that random edits of dumps neither crash nor read outside of arrays; `edits.py` runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

COUNT = 60  # as many as are quick: `python tests/printed/edits.py 0 500` runs more


def test_random_edits() -> None:
    script, first, seen = Path(__file__).with_name("edits.py"), 0, list[str]()
    environment = {**os.environ, "WEFT_CACHE": "0", "WEFT_HISTORY": "0"}
    while first < COUNT:
        run = subprocess.run(
            [sys.executable, str(script), str(first), str(COUNT - first)],
            env=environment, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        lines = run.stdout.splitlines()
        seen += [line.split()[1] for line in lines if len(line.split()) == 2]
        assert run.returncode in (0, -signal.SIGALRM), f"{lines[-1:]}: {run.returncode}\n{run.stderr[-2000:]}"
        first = int(lines[-1].split()[0]) + 1  # one that never ended is skipped: a loop may have lost its end
    assert set(seen) == {"refused", "same", "other"}

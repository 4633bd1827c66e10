"""Try native code under valgrind: no read or write outside of arrays, no use of bytes that nobody wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..arm.kernels import FUNCTIONS
from ..kernels.cases import CASES
from .figures import Figure, Tick

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).parent / "python.supp"


def checked(count: int, tick: Tick) -> list[str]:
    """Kernels in f32 and f64, called three times each, and two threads; each error of valgrind's is a failure."""
    if shutil.which("valgrind") is None:
        return ["valgrind is not installed"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        options = ["-q", "--smc-check=all-non-file", f"--suppressions={KNOWN}", f"--log-file={log}"]
        program = [sys.executable, "-m", "tests.reliability.checked_memory", str(count)]
        environment = {**os.environ, "PYTHONMALLOC": "malloc", "WEFT_CACHE": "0", "WEFT_HISTORY": "0"}
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        found = subprocess.run(
            ["valgrind", *options, *program], env=environment, cwd=ROOT, capture_output=True, text=True
        )
        errors = [block.strip() for block in log.read_text().split("== \n") if " at 0x" in block]
    tick(count)
    if not found.stdout.endswith("done\n"):
        errors.append(f"ended with {found.returncode} after {found.stdout[-30:]!r}: {found.stderr[-300:]}")
    return errors


FIGURES = (Figure(24, "valgrind on code for AVX2", "kernels", len(CASES) + len(FUNCTIONS), 0, checked),)

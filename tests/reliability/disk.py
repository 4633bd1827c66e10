"""Try the disk cache: killed writers, damaged entries, many processes, entries for other machines."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from weft.runtime.disk.secret import make_secret
from weft.runtime.disk.store import Store

from .figures import Figure, Tick

KEY = bytes(range(32))
ROOT = Path(__file__).parents[2]


class _Folder:
    """A cache of its own."""

    def __init__(self, stack: str) -> None:
        self.cache, self.configuration = os.path.join(stack, "cache"), os.path.join(stack, "configuration")
        make_secret(self.configuration)

    def store(self) -> Store:
        return Store(self.cache, self.configuration, 1 << 30)

    def entry(self) -> Path:
        (found,) = Path(self.cache).iterdir()
        return found


def killed(count: int, tick: Tick) -> list[str]:
    """Writers are killed at random moments; what is read afterwards is complete or missing."""
    program = str(ROOT / "tests" / "runtime" / "killed_writers.py")
    with tempfile.TemporaryDirectory() as stack:
        command = [sys.executable, program, f"{stack}/cache", f"{stack}/configuration", str(count)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        found = subprocess.run(command, env=environment, capture_output=True, text=True)
    tick(count)
    return [] if found.stdout == "done\n" else [found.stderr[-300:]]


def damaged(count: int, tick: Tick) -> list[str]:
    """Entries with flipped bytes or cut ends are misses."""
    wrong, rng = [], random.Random(16)
    with tempfile.TemporaryDirectory() as stack:
        folder = _Folder(stack)
        folder.store().write(KEY, rng.randbytes(3000))
        entry = folder.entry()
        whole = entry.read_bytes()
        for number in range(count):
            at = rng.randrange(len(whole))
            flipped = whole[:at] + bytes((whole[at] ^ rng.randrange(1, 256),)) + whole[at + 1 :]
            entry.write_bytes(rng.choice([flipped, flipped, whole[:at], whole + flipped[at : at + 9]]))
            if folder.store().read(KEY) is not None:
                wrong.append(f"damage {number} at byte {at} was read")
            entry.write_bytes(whole)
            tick(number)
    return wrong


WORKER = """
import sys, numpy as np, weft
keys = int(sys.argv[1])
x = np.linspace(0, 1, 50)
for k in range(keys):
    kernel = weft.compile(f"kernel k(x: f64[n]) = exp(x * {k}.5) + {k}").k
    assert np.allclose(kernel(x), np.exp(x * (k + 0.5)) + k), k
print("done")
"""


def shared(count: int, tick: Tick) -> list[str]:
    """Processes that start together on an empty cache, with a hundred kernels each, all get right results."""
    with tempfile.TemporaryDirectory() as stack:
        environment = {**os.environ, "WEFT_CACHE_DIR": f"{stack}/cache", "XDG_CONFIG_HOME": f"{stack}/configuration"}
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        environment.pop("WEFT_CACHE", None)
        command = [sys.executable, "-c", WORKER, "100" if count > 8 else "3"]
        running = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        found = [process.communicate() for process in running]
    tick(count)
    return [f"process {k}: {err[-300:]}" for k, (out, err) in enumerate(found) if out != "done\n"]


FIGURES = (
    Figure(15, "SIGKILL while entries are written: none is read in part", "kills", 1000, 0, killed),
    Figure(16, "damaged entries are misses", "entries", 100_000, 100, damaged),
    Figure(17, "processes that share an empty cache", "processes", 64, 2, shared),
)

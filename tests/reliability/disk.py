"""Try the disk cache and the history: killed writers, damaged entries, many processes, other versions, wrong clocks."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import weft
from weft.runtime.disk.secret import make_secret
from weft.runtime.disk.store import Store
from weft.runtime.selection.history import History
from weft.runtime.selection.workload import Workload

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


def killed(what: str) -> Callable[[int, Tick], list[str]]:
    """Writers are killed at random moments; what is read afterwards is complete or missing."""

    def run(count: int, tick: Tick) -> list[str]:
        program = str(ROOT / "tests" / "runtime" / "killed_writers.py")
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, program, what, folder, str(count)]
            found = subprocess.run(command, env=_environment(), capture_output=True, text=True)
        tick(count)
        return [] if found.stdout == "done\n" else [found.stderr[-300:]]

    return run


def _environment(stack: str = "", *first: str) -> dict[str, str]:
    """Return an environment in which children find this Weft, and a cache of their own in a folder if one is given."""
    own = {"WEFT_CACHE_DIR": f"{stack}/cache", "XDG_CONFIG_HOME": f"{stack}/configuration"} if stack else {}
    found = {**os.environ, **own, "PYTHONPATH": os.pathsep.join((*first, *(p for p in sys.path if p)))}
    found.pop("WEFT_CACHE", None)
    return found


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
        command = [sys.executable, "-c", WORKER, "100" if count > 8 else "3"]
        running = [
            subprocess.Popen(
                command, env=_environment(stack), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(count)
        ]
        found = [process.communicate() for process in running]
    tick(count)
    return [f"process {k}: {err[-300:]}" for k, (out, err) in enumerate(found) if out != "done\n"]


OTHER_CPU = """
import weft.runtime.disk.version as version
from weft.backends.llvm.engine import target
version.cpu = lambda: "another CPU"
target.host = lambda: target.x86(3)
"""


def versions(count: int, tick: Tick) -> list[str]:
    """Two versions of Weft and two CPUs take turns on one cache: right results, and none reads another's entries."""
    wrong, keys = [], 4
    with tempfile.TemporaryDirectory() as stack:
        copied = Path(stack, "second", "weft")
        shutil.copytree(Path(weft.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
        with (copied / "backends" / "llvm" / "compile.py").open("a") as file:
            file.write("# another version\n")
        programs = {"this": WORKER, "another version": WORKER, "another CPU": OTHER_CPU + WORKER}
        entries: list[int] = []
        for number in range(count):
            for name, program in programs.items():
                first = (str(copied.parent),) if name == "another version" else ()
                command = [sys.executable, "-c", program, str(keys)]
                found = subprocess.run(command, env=_environment(stack, *first), capture_output=True, text=True)
                if found.stdout != "done\n":
                    wrong.append(f"round {number}, {name}: {found.stderr[-300:]}")
                entries.append(sum(1 for _ in Path(stack, "cache").iterdir()))
            tick(number)
    if not entries[0] < entries[1] < entries[2] == entries[-1]:
        wrong.append(f"entries after each process: {entries}")
    return wrong


def clocks(count: int, tick: Tick) -> list[str]:
    """The clock jumps by years while entries are written, read and evicted, and while a history is kept."""
    wrong, rng = [], random.Random(26)
    load = Workload("graph", "k", 1000, 8000, 3000, 1, 0, 1)
    with tempfile.TemporaryDirectory() as stack:
        folder = _Folder(stack)
        store = Store(folder.cache, folder.configuration, 40_000)
        for number in range(count):
            now = rng.choice([0.0, 1e9, 1.7e9, 4e9]) + rng.random() * 1e8
            key = bytes((number % 20,)) * 32
            with mock.patch("time.time", lambda now=now: now):
                found = store.read(key)
                if found not in (None, key * 100):
                    wrong.append(f"jump {number}: a wrong entry")
                store.write(key, key * 100)
                if store.read(key) != key * 100 or sum(size for _, size in store.entries()) > 40_000:
                    wrong.append(f"jump {number}: the entry is lost, or the cache is too large")
                history = History(Path(stack) / "history.json", clock=lambda now=now: now)
                history.add(load, "a", 1e-6)
                history.save()
                if (kept := history.find(load, "a")) is None or not 1 <= kept.weight <= number + 1:
                    wrong.append(f"jump {number}: the record is lost or has a wrong weight")
            tick(number)
    return wrong


FIGURES = (
    Figure(15, "SIGKILL while entries are written: none is read in part", "kills", 1000, 0, killed("store")),
    Figure(16, "damaged entries are misses", "entries", 100_000, 100, damaged),
    Figure(17, "processes that share an empty cache", "processes", 64, 2, shared),
    Figure(26, "SIGKILL while the history is written: no record is lost", "kills", 1000, 0, killed("history")),
    Figure(27, "two versions and two CPUs share a cache", "rounds", 20, 0, versions),
    Figure(28, "the clock jumps by years", "jumps", 100_000, 30, clocks),
)

"""Run the requested suites, and report each outcome as soon as it is known."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..ir.errors import UnknownName
from ..ir.records import record
from .library import BenchLibrary, Weft
from .measure import measure
from .memory import MemoryLoop
from .peers import MODULES, peers
from .results import OURS, BenchResults, Outcome
from .row import SIZES, Row, case, cases
from .suites import ROWS, SUITES, compiles, startup


@record
class BenchPlan:
    """The suites and peers by name, and how long each library is timed in each case."""

    suites: Sequence[str] = SUITES
    peers: Sequence[str] = ("NumPy",)
    threads: int = 1
    seconds: float = 0.1
    sizes: Sequence[int] = SIZES
    only: str = ""  # rows whose names contain this


Report = Callable[[int, int, str, Outcome | None], None]
"""How many steps are done, of how many, what comes next, and the outcome that is new."""


def run(plan: BenchPlan, report: Report) -> BenchResults:
    """Measure everything in the plan."""
    _set_threads(plan.threads)
    libraries: list[BenchLibrary] = [Weft(), *peers(plan.peers, plan.threads)]
    steps = [(suite, row) for suite in plan.suites for row in _rows(suite) if plan.only in _name(row)]
    if not steps:
        raise UnknownName(f"no row of {', '.join(plan.suites)} has '{plan.only}' in its name")
    outcomes: list[Outcome] = []
    total, done = sum(_count(row, plan.sizes) for _, row in steps), 0
    with MemoryLoop(plan.threads) as memory:
        for suite, row in steps:
            report(done, total, f"{suite}: {_name(row)}", None)
            for outcome in _measured(suite, row, libraries, memory, plan):
                outcomes.append(outcome)
                done += 1
                report(done, total, f"{suite}: {_name(row)}", outcome)
    names = (OURS, *plan.peers)
    return BenchResults(machine(names), plan.threads, names, tuple(outcomes))


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine(libraries: Sequence[str]) -> dict[str, str]:
    """Describe the machine and the versions, without anything that identifies this machine."""
    found = {"cpu": _cpu(), "cores": str(usable_cores()), "system": platform.system()}
    found["python"] = platform.python_version()
    modules = {OURS: "weft", "NumPy": "numpy", **MODULES}
    return found | {name: _version(modules[name]) for name in libraries}


def _version(module: str) -> str:
    try:
        return version(module)
    except PackageNotFoundError:
        return str(import_module(module).__version__)


def _cpu() -> str:
    """Return the model of the CPU and its vector width."""
    model = platform.machine()
    if sys.platform == "linux" and (info := Path("/proc/cpuinfo")).exists():
        lines = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model n")]
        model = lines[0] if lines else model
    from ..backends.llvm.engine import target

    return f"{model}, vectors of {8 * target.host().vector_bytes} bits"


def _rows(suite: str) -> Sequence[Any]:
    if suite == startup.SUITE:
        return tuple(startup.ROWS)
    return compiles.ROWS if suite == compiles.SUITE else ROWS[suite]


def _name(row: Row | str) -> str:
    return row if isinstance(row, str) else row.name


def _count(row: Row | str, sizes: Sequence[int]) -> int:
    if isinstance(row, str):
        return 1
    return len(compiles.STEPS) if row in compiles.ROWS else len(cases(row, sizes))


def _measured(
    suite: str, row: Any, libraries: Sequence[BenchLibrary], memory: MemoryLoop, plan: BenchPlan
) -> Iterator[Outcome]:
    if suite == startup.SUITE:
        yield from startup.measure(row, [library.name for library in libraries])
    elif suite == compiles.SUITE:
        yield from compiles.measure(row, libraries)
    else:
        for size, dtype in cases(row, plan.sizes):
            yield measure(suite, case(row, size, dtype), libraries, memory, plan.seconds)


def _set_threads(threads: int) -> None:
    """Set Weft's threads. A version without `set_threads` has one thread and ignores the environment."""
    os.environ["WEFT_NUM_THREADS"] = str(threads)
    setter = getattr(import_module("weft"), "set_threads", None)
    if setter is not None:
        setter(threads)

"""Try random programs, overlapping results, guard pages, huge arrays, and memory that runs out."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from weft.function import tracing

from ..fuzz.running import Settings, hunt
from .figures import Figure, Tick

ROOT = Path(__file__).parents[2]


def random_programs(count: int, tick: Tick) -> list[str]:
    """Random graphs on AVX2, AVX-512 and narrow vectors against NumPy, as `make fuzz` does."""
    seed = random.SystemRandom().randrange(10**6)
    settings = Settings(seed, count, jobs=os.cpu_count() or 1, keep=True)
    return [str(finding).splitlines()[0] for finding in hunt(settings, lambda done, failed: tick(done))]


def _overlap(rng: np.random.Generator, memory: Any) -> tuple[Any, Any]:
    """Two views of the same length and random steps into one memory."""
    n = int(rng.integers(1, 40))

    def view() -> Any:
        step = int(rng.choice([1, 1, 2, 3, -1, -2]))
        first = int(rng.integers(0, memory.size - abs(step) * (n - 1)))
        found = memory[first : first + abs(step) * (n - 1) + 1 : abs(step)]
        return found[::-1] if step < 0 else found

    return view(), view()


def overlaps(count: int, tick: Tick) -> list[str]:
    """A result that is written over its argument in any way is what NumPy computes from a copy."""
    functions = [lambda x: x * 2 + 1, lambda x: x[::-1] - x, lambda x: x - x.sum(), lambda x: np.cumsum(x)]
    kernels = [tracing(function) for function in functions]
    rng, wrong = np.random.default_rng(12), []
    for number in range(count):
        memory = rng.integers(-9, 9, 160).astype(["f8", "i4", "f4", "i8"][number % 4])
        x, out = _overlap(rng, memory)
        which = int(rng.integers(len(functions)))
        wanted = functions[which](x.copy())
        if wanted.dtype != out.dtype:
            continue
        kernels[which](x, out=out)
        if not (out == wanted).all():
            wrong.append(f"case {number}: function {which} of {x.dtype}, strides {x.strides} and {out.strides}")
        tick(number)
    return wrong


def guarded(count: int, tick: Tick) -> list[str]:
    """Kernels on arrays at both ends of pages that can't be touched."""
    wrong = []
    for number in range(count):
        paths = os.pathsep.join(p for p in sys.path if p)
        found = subprocess.run(
            [sys.executable, str(ROOT / "tests" / "differential" / "guarded.py")],
            env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
        )  # fmt: skip
        if found.stdout != "done\n":
            wrong.append(f"run {number}: {found.returncode} {found.stderr[-300:]}")
        tick(number)
    return wrong


def huge(count: int, tick: Tick) -> list[str]:
    """Arrays of more than 2^31 bytes: a byte at the very end takes part."""
    wrong = []
    size = count + 7
    x = np.zeros(size, np.int8)
    x[-1] = 5
    for name, kernel, wanted in (
        ("sum", tracing(lambda x: x.sum()), 5),
        ("argmax", tracing(lambda x: x.argmax()), size - 1),
        ("last", tracing(lambda x: (x + 1)[-1]), 6),
    ):
        if kernel(x) != wanted:
            wrong.append(f"{name} of {size} bytes")
        tick(1)
    return wrong


EXHAUSTED = textwrap.dedent("""
    import resource, sys
    import numpy as np, weft
    from weft.function import tracing
    weft.set_threads(1)
    kernel, x = tracing(lambda x: np.exp(x) + x.sum()), np.ones(4_000_000)
    kernel(x[:100])
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    for k in range(int(sys.argv[1])):
        resource.setrlimit(resource.RLIMIT_AS, (used + (k * 7919) % (30 << 20), resource.RLIM_INFINITY))
        try:
            kernel(x)
            outcome = "result"
        except MemoryError:
            outcome = "MemoryError"
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(outcome if kernel(x[:100]).shape == (100,) else "wrong", flush=True)
""")


def exhausted(count: int, tick: Tick) -> list[str]:
    """Calls under a limit on memory: a MemoryError, and the next call works."""
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft != resource.RLIM_INFINITY:
        return [f"the limit on memory of this process is {soft} already"]
    found = subprocess.run([sys.executable, "-c", EXHAUSTED, str(count)], capture_output=True, text=True)
    lines = found.stdout.split()
    wrong = [f"case {k}: {line}" for k, line in enumerate(lines) if line not in ("MemoryError", "result")]
    if len(lines) < count or "MemoryError" not in lines:
        wrong.append(f"{len(lines)} of {count} cases: {found.stderr[-300:]}")
    tick(count)
    return wrong


FIGURES = (
    Figure(1, "random graphs against NumPy", "graphs", 1_000_000, 0, random_programs),
    Figure(11, "arrays between guard pages", "rounds", 20, 0, guarded),
    Figure(12, "out= that overlaps an argument", "cases", 100_000, 300, overlaps),
    Figure(13, "more than 2^31 elements", "bytes", 1 << 31, 1 << 16, huge),
    Figure(14, "memory that runs out is a MemoryError", "calls", 1000, 20, exhausted),
)

"""Describe the thread pool, whose code (`pool.routine`) runs one kernel on several threads.

The pool is memory that all threads see. A caller takes it by setting `busy`. It stores the address of its job, opens
the gate, and increments `posted`, which wakes workers. The gate counts the threads that have come through it and may
read the job. They and the caller take pieces of the job until none is left. Then the caller shuts the gate and waits
until the count is 0. A worker that finds the gate shut goes back to waiting, so no job is read after its call has
ended. A caller that finds the pool busy runs its pieces alone.

A job is a grid of pieces over a kernel's two outer loops. The cuts depend only on sizes and the kernel's estimated
time, and it does not matter which thread runs which piece. Every thread starts with its own range of pieces, the same
in each call, because its caches may still hold data of the last call. Then it helps the others.

A short job is done before a sleeping worker wakes, so only workers that are awake take part. Workers stay awake while
one call follows another. Now and then a short job wakes them, so that they are awake for the next.
"""

from __future__ import annotations

import os

from ...backends.llvm.functions import STOPPED

LINE = 128  # fields that threads write at the same time have cache lines of their own
_SHARED = ("posted", "gate", "busy", "sleepers")
_PLAIN = (
    "job", "threads", "started", "named", "short", "syscall", "call", "starter", "drop", "clock", "save", "restore",
    "signals", "ensure", "release", "fetch", "stopped", "raised", "value", "trace", "gave", "long",
)  # fmt: skip
_NUMBERS = ("threads", "started", "named", "short", "gave", "long")
FIELDS = {name: LINE * k for k, name in enumerate(_SHARED)}
FIELDS |= {name: LINE * len(_SHARED) + 8 * k for k, name in enumerate(_PLAIN)}
SIZE = max(FIELDS.values()) + 8
# A job, in its caller's stack.
_JOB = ("function", "frame", "extent0", "extent1", "piece0", "piece1", "columns", "count", "workers", "ranges")
RANGES = 16  # of pieces, at most, each with a line for the number of its next one
_JOB_FIELDS = {name: 8 * k for k, name in enumerate(_JOB)} | {"tickets": LINE, "status": LINE + 8, "next": 2 * LINE}
_JOB_SIZE = (2 + RANGES) * LINE

INTERRUPTED = 1 << 30  # in a status: a signal's handler raised
OPEN = 1 << 30
LONG = 16_000_000  # picoseconds, as estimated, of a job that is worth waking workers for, unless that is measured
SHORT_CALLS = 16  # short jobs that find all workers asleep, until one of them wakes these
PIECES = 4  # of a job, at least, if they are no shorter than
SMALLEST = 1_000_000  # picoseconds
PIECE = 8_000_000  # picoseconds that a piece takes, as estimated: long against taking it, short against waiting for it
SOME = 64_000_000  # picoseconds of pieces, as estimated, until a caller looks at the clock: they may take far longer
PATIENCE = 16_000_000  # nanoseconds until it looks for signals
COARSE = 6  # the clock that is read in a few nanoseconds and ticks every few milliseconds
SPINS = 2000  # some tens of microseconds: longer than the pause between two calls in a loop, too short to be seen
POLITE = 1023  # turns until a worker offers its core to others, which may keep it; a power of two less one
# The system calls `futex` and `sched_yield`, and the instruction that eases waiting, on each kind of Linux.
_SYSTEMS = {"x86_64": (202, 24, "@llvm.x86.sse2.pause()"), "aarch64": (98, 124, "@llvm.aarch64.hint(i32 1)")}
WAIT, WAKE = 128, 129  # operations of `futex` within one process


def text(machine: str) -> str:
    """Return the module. `worker()` never returns; `launch` runs a kernel from a thread that holds the interpreter's
    lock."""
    from ...backends.llvm.code.routine_types import Layout
    from ...backends.llvm.code.routines import Routines

    futex, give_way, pause = _SYSTEMS[machine]
    numbers: dict[str, int | str] = {
        "OPEN": OPEN, "SHUT": ~OPEN, "SPINS": SPINS, "FUTEX": futex, "YIELD": give_way, "PAUSE": pause, "WAIT": WAIT,
        "WAKE": WAKE, "PIECE": PIECE, "PATIENCE": PATIENCE, "INTERRUPTED": INTERRUPTED, "JOB": _JOB_SIZE, "LINE": LINE,
        "SHORT_CALLS": SHORT_CALLS, "PIECES": PIECES, "SMALLEST": SMALLEST, "SOME": SOME,
        "COARSE": COARSE, "STOPPED": STOPPED, "RANGES": RANGES, "POLITE": POLITE, "MOST": (1 << 63) - 1,
    }  # fmt: skip
    types = dict.fromkeys(FIELDS, "ptr") | dict.fromkeys(_SHARED, "i32") | dict.fromkeys(_NUMBERS, "i64")
    job_types = dict.fromkeys(_JOB_FIELDS, "i64") | {"function": "ptr", "frame": "ptr", "status": "i32"}
    structures = {
        "Pool": Layout({name: (at, {"job": "Job"}.get(name, types[name])) for name, at in FIELDS.items()}, SIZE),
        "Job": Layout({name: (at, job_types[name]) for name, at in _JOB_FIELDS.items()}, _JOB_SIZE),
    }
    with open(os.path.join(os.path.dirname(__file__), "pool.routine"), encoding="utf-8") as file:
        return Routines(file.read(), structures, numbers, {"pool": "Pool"}).llvm()

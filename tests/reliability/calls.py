"""Try calls under load: forks, threads, interrupts, growth, and the floating-point control word."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import weft
from weft.function import tracing

from ..fuzz.drawing import draw, quiet
from ..runtime.forked import compile_something, compiling_threads, succeeds_in_a_child
from .figures import Figure, Tick

PAGE = os.sysconf("SC_PAGESIZE")


def _bits(found: Any) -> bytes:
    return b"".join(np.asarray(x).tobytes() for x in (found if isinstance(found, (tuple, list)) else (found,)))


def determinism(count: int, tick: Tick) -> list[str]:
    """Random programs give the same bits on 1, 2, 3 and 8 threads."""
    wrong = []
    threads = weft.get_threads()
    for number in range(count):
        program = draw(81, number)
        kernel, found = tracing(program.function), set()
        with quiet():
            for several in (1, 2, 3, 8):
                weft.set_threads(several)
                try:
                    found.add(_bits(kernel(*program.arguments())))
                except Exception as error:
                    found.add(f"{type(error).__name__}".encode())
        weft.set_threads(threads)
        if len(found) > 1:
            wrong.append(f"seed 81, graph {number}: other bits on other numbers of threads")
        tick(number)
    return wrong


def forks(count: int, tick: Tick) -> list[str]:
    """Children that are forked while two threads compile can compile too, within 30 seconds."""
    wrong = []
    with compiling_threads():
        for number in range(count):
            if not succeeds_in_a_child(compile_something, 30):
                wrong.append(f"child {number} hung or failed")
            tick(number)
    return wrong


def shared_calls(count: int, tick: Tick) -> list[str]:
    """32 threads call one kernel; every result is right."""
    kernel, x = tracing(lambda x: np.sin(x) * x + x.sum()), np.linspace(0, 1, 100)
    wanted, wrong = kernel(x).tobytes(), []

    def work() -> None:
        for _ in range(count):
            if kernel(x).tobytes() != wanted:
                wrong.append("another result")

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tick(count)
    return wrong


INTERRUPTED = textwrap.dedent("""
    import os, signal, sys, threading, time
    import numpy as np, weft
    from weft.function import tracing
    signal.signal(signal.SIGINT, signal.default_int_handler)
    x = np.lib.stride_tricks.as_strided(np.linspace(0, 1, 4_000_000), (4000, 4_000_000), (0, 8))
    kernel = tracing(lambda a: (np.sin(a) * np.exp(a) % 3).sum(axis=1))
    wanted = kernel(x[:1, :9])
    def other():
        started.wait()
        threading.Event().wait(0.02)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    for _ in range(int(sys.argv[1])):
        started, sent = threading.Event(), []
        thread = threading.Thread(target=other)
        thread.start()
        try:
            started.set()
            kernel(x)
        except KeyboardInterrupt:
            print(time.perf_counter() - sent[0] if (kernel(x[:1, :9]) == wanted).all() else "wrong", flush=True)
        thread.join()
""")


def interrupts(count: int, tick: Tick) -> list[str]:
    """Ctrl-C ends a long call on the pool, which can be used again; a full run looks at the time."""
    found = subprocess.run([sys.executable, "-c", INTERRUPTED, str(count)], capture_output=True, text=True)
    lines = found.stdout.split()
    wrong = [f"interrupt {k}: a wrong result afterwards" for k, line in enumerate(lines) if line == "wrong"]
    if len(lines) < count:
        wrong.append(f"{len(lines)} of {count} calls were interrupted: {found.stderr[-300:]}")
    if count >= 100:  # a full run, on a machine that has nothing else to do
        wrong += [
            f"interrupt {k} took {line} s" for k, line in enumerate(lines) if line != "wrong" and float(line) > 0.1
        ]
    tick(count)
    return wrong


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


def growth(count: int, tick: Tick) -> list[str]:
    """Cached calls leave memory as it was, within 64 KiB."""
    kernel, x = tracing(lambda x, y: (x + y, x.sum())), np.linspace(0, 1, 100)
    for _ in range(20_000):
        kernel(x, x)
    before = _resident()
    for k in range(count):
        kernel(x, x)
        if k % 50_000 == 0:
            tick(k)
    grown = _resident() - before
    return [f"{grown} bytes more after {count} calls"] if grown > 64 << 10 else []


HELD = ("bytes", "files", "threads")


def flat(count: int, tick: Tick) -> list[str]:
    """Random programs in one process: memory, open files and threads are at the end what they were halfway."""
    halfway: tuple[int, int, int] | None = None
    for number in range(count):
        program = draw(31, number)
        kernel = tracing(program.function)
        with quiet(), suppress(Exception):  # others look at results and errors
            for _ in range(3):
                kernel(*program.arguments())
        if number == count // 2:
            halfway = _held()
        tick(number)
    assert halfway is not None
    return [
        f"{what}: {before} halfway, {after} at the end"
        for what, before, after, more in zip(HELD, halfway, _held(), (64 << 20, 0, 0), strict=True)
        if after > before + more
    ]


def _held() -> tuple[int, int, int]:
    gc.collect()
    return _resident(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


FIGURES = (
    Figure(8, "same bits on 1, 2, 3 and 8 threads", "random graphs", 500, 12, determinism),
    Figure(20, "forks beside compiling threads: none hangs", "forks", 1000, 0, forks),
    Figure(20, "32 threads on one kernel", "calls each", 10_000, 200, shared_calls),
    Figure(21, "Ctrl-C within 100 ms, pool usable again", "interrupts", 200, 1, interrupts),
    Figure(22, "memory after cached calls: at most 64 KiB more", "calls", 1_000_000, 0, growth),
    Figure(31, "memory, files and threads stay flat over an hour", "random programs", 20_000, 0, flat),
)

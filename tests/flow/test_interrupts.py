"""Test that Ctrl-C ends an endless loop: on one thread and on several, in ctypes calls and in native ones."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import weft
from weft.ir import dims
from weft.ir.flow import COSTLY, step_cost
from weft.ir.ops import EACH, WHILE

ARRAYS = """
import os, signal, sys, threading
import numpy as np, weft
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background ignores it
weft.set_threads(int(sys.argv[1]))
loop = weft.compile('''
kernel f(x: f64[n], steps: i64) -> f64[n] {
    var y = x
    var k = 0
    while k != steps {
        y = y / 2 + roll(y, 1)
        k += 1
    }
    return y
}
''').f
x = np.ones(int(sys.argv[2]))
wanted, out = loop(x, 3), np.full_like(x, 7)
for _ in range(3):
    assert (loop(x, 3, out=out) == wanted).all()
def other():
    started.wait()
    for _ in range(10):
        threading.Event().wait(0.001)
    os.kill(os.getpid(), signal.SIGINT)
for _ in range(2):
    out[:] = 7
    started = threading.Event()
    threading.Thread(target=other).start()
    try:
        started.set()
        loop(x, -1, out=out)
    except KeyboardInterrupt:
        assert (out == 7).all(), out
        assert (loop(x, 3, out=out) == wanted).all()
        print('stopped')
"""
SCRIPT = """
import os, signal, sys, threading, time
import numpy as np, weft
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background ignores it
weft.set_threads(int(sys.argv[1]))
spin = weft.compile('''
fn spin(x) {
    var y = x
    while y < 10 { y = y if y < 5 else y + 1 }
    return y
}
kernel f(x: f64[n]) -> f64[n] = spin(x)
''').f
ends = np.full(int(sys.argv[2]), 6.0)
for _ in range(4):
    assert (spin(ends) == 10).all()
never = ends.copy()
never[-1] = 1.0
untouched = np.full_like(ends, 7)
for out in (None, untouched):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        spin(never) if out is None else spin(never, out=out)
    except KeyboardInterrupt:
        assert (spin(ends) == 10).all() and (untouched == 7).all()
        print('stopped')
"""


ALONE, SHARED = ("1", "3"), ("2", "200000")


@pytest.mark.parametrize(
    ("script", "threads", "size", "native"),
    [(SCRIPT, *size, native) for size in (ALONE, SHARED) for native in "01"]
    + [(ARRAYS, *size, "1") for size in (ALONE, SHARED)],
    ids=["ctypes", "native", "shared-ctypes", "shared-native", "arrays", "shared-arrays"],
)
def test_ctrl_c_ends_a_loop(script: str, threads: str, size: str, native: str) -> None:
    env = {**os.environ, "WEFT_NATIVE_CALLS": native}
    done = subprocess.run(
        [sys.executable, "-c", script, threads, size], capture_output=True, text=True, env=env, timeout=50
    )
    assert done.stdout.split() == ["stopped"] * 2, done.stderr


def test_what_can_t_be_cut_into_short_pieces_asks() -> None:
    """One iteration of a kernel's two outer loops is short for all sizes, or the kernel asks whether to stop."""
    kernels = {
        "scan": (lambda x: np.cumsum(x.ravel()), True),
        "scans of rows": (lambda x: np.maximum.accumulate(x, axis=0), True),
        "elementwise": (lambda x: np.exp(x) * 2, False),
        "total": (lambda x: (x * x).sum(), False),
        "columns": (lambda x: x.sum(axis=0), False),
        "place": (lambda x: x.argmax(), False),
        "product": (lambda x: x @ x.T, False),
    }
    x = np.ones((1500, 1500))
    for name, (function, asks) in kernels.items():
        lowered = weft.jit(function).lower(x)
        sizes = {str(s): 1 << 14 for v in lowered.graph.inputs for s in v.type.shape}
        for code in lowered.program.functions:
            parts = code.chunks or code.whole
            longest = max(dims.evaluate(part.unit, sizes) * part.grains[0] * part.grains[1] for part in parts)
            assert code.asks == asks, name
            assert asks or longest < 60e9, (name, longest)  # picoseconds


def test_steps_count_by_what_they_cost() -> None:
    """A loop of expensive functions asks as often as a plain one, because its steps count more."""
    text = "fn f(x) {{ var y = x; while y < 9 {{ y = {} }}; return y }}; kernel k(x: f64[n]) = f(x)"
    costs = []
    for step in ("y + 1", "sin(y) + exp(y) + 1"):
        lowered = weft.compile(text.format(step)).k.lower(np.ones(5))
        (each,) = (n for region in lowered.kernels for n in region.body or () if n.op is EACH)
        (loop,) = (n for n in each.body if n.op is WHILE)
        costs.append(step_cost(loop.body))
    assert costs[0] < 10 and costs[1] > costs[0] + 2 * COSTLY - 2

"""Ctrl-C ends a loop that does not end by itself: on one thread and on several, in ctypes calls and in native ones."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ARRAYS = """
import os, signal, sys, threading
import numpy as np, weft
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
turns = []
def other():
    for _ in range(20):
        turns.append(0)
        threading.Event().wait(0.01)
for _ in range(2):
    out[:] = 7
    threading.Thread(target=other).start()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        loop(x, -1, out=out)
    except KeyboardInterrupt:
        assert (out == 7).all() and len(turns) > 10
        assert (loop(x, 3, out=out) == wanted).all()
        print('stopped')
"""
SCRIPT = """
import os, signal, sys, threading, time
import numpy as np, weft
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
for _ in range(2):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        spin(never)
    except KeyboardInterrupt:
        assert (spin(ends) == 10).all()
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

"""Ctrl-C ends a loop that does not end by itself: on one thread and on several, in ctypes calls and in native ones."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("native", "01")
@pytest.mark.parametrize(("threads", "size"), [("1", "3"), ("2", "200000")])
def test_ctrl_c_ends_a_loop(threads: str, size: str, native: str) -> None:
    env = {**os.environ, "WEFT_NATIVE_CALLS": native}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, threads, size], capture_output=True, text=True, env=env, timeout=50
    )
    assert done.stdout.split() == ["stopped"] * 2, done.stderr

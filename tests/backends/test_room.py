"""Test compiles with little memory: they raise `MemoryError` or succeed, and never end the process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from weft.backends.llvm.engine import room

CODE = """
import resource, sys
import numpy as np
from weft.function import tracing

if sys.argv[1] == "started":
    tracing(lambda x: x - 1)(np.ones(3))

def size():
    return 4096 * int(open("/proc/self/statm").read().split()[0])

def limit(room):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY if room is None else size() + room, -1))

def work(k):
    x = np.linspace(0, 1, 12).reshape(3, 4)
    def f(x):
        for j in range(2):
            x = np.sin(x) * np.exp(-x) + np.arctan2(x, k + 1.5)
        return x
    return np.allclose(tracing(f)(x), f(x), rtol=1e-12)

outcomes = []
for k, megabytes in enumerate((1, 20, 30, 60, 400)):
    limit(megabytes << 20)
    try:
        outcomes.append(work(k))
    except MemoryError:
        outcomes.append(None)
limit(None)
outcomes.append(work(5))
assert False not in outcomes and outcomes[0] is None and outcomes[-1], outcomes
print("survived")
"""


@pytest.mark.parametrize("state", ["started", "new"])
def test_memory_that_runs_out(state: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, state], capture_output=True, text=True, env={**os.environ, "WEFT_CACHE": "0"}
    )
    assert done.stdout == "survived\n", (done.returncode, done.stderr[-2000:])


def test_what_there_is_not() -> None:
    room.demand(1 << 20, "this")
    with pytest.raises(MemoryError, match="this needs 1099511627776 MB of memory"):
        room.demand(1 << 60, "this")

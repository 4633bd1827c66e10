"""Print throughput against NumPy and the time to a first result, for a few basic kernels.

    python benchmarks/basics.py

Ratios are of best times in one run, on one thread. A first result is timed in new processes, imports included.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import weft

SOFTMAX = """
kernel softmax{k}(x: float[..., m]) -> float[..., m] {{
    let e = exp(x - max(x, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}}
"""
FIRST = f'''
import time
start = time.perf_counter()
import numpy as np
import weft
x = np.ones((64, 512), np.float32)
weft.compile("""{SOFTMAX.format(k="")}""").softmax(x)
print(time.perf_counter() - start)
'''


def best(run: Callable[[], Any], repeats: int = 9) -> float:
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def throughput() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(4_000_000).astype(np.float32) for _ in range(3))
    rows = rng.standard_normal((8000, 500)).astype(np.float32)
    cases: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
        ("a*b + c*a - b, 4,000,000 f32", lambda a, b, c: a * b + c * a - b, (a, b, c)),
        ("tanh-gelu, 4,000,000 f32", gelu, (a,)),
        ("(a*b).sum(), 4,000,000 f32", lambda a, b: (a * b).sum(), (a, b)),
        ("softmax over rows of 500, 8,000 rows f32", softmax, (rows,)),
    ]
    for name, function, args in cases:
        kernel = weft.jit(function)
        kernel(*args)
        numpy_time, weft_time = best(lambda f=function, x=args: f(*x)), best(lambda f=kernel, x=args: f(*x))
        times = f"NumPy {1e3 * numpy_time:7.2f} ms  Weft {1e3 * weft_time:7.2f} ms  {numpy_time / weft_time:4.1f} x"
        print(f"{name:44} {times}")


def first_results() -> None:
    x = np.ones((64, 512), np.float32)
    weft.compile(SOFTMAX.format(k="_warm")).softmax_warm(x)
    warm = min(best(lambda k=k: weft.compile(SOFTMAX.format(k=k))[f"softmax{k}"](x), 1) for k in range(9))
    runs = [subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True) for _ in range(5)]
    new = min(float(run.stdout) for run in runs)
    print(
        f"softmax, text to first result: {1e3 * warm:.0f} ms after another compile, {1e3 * new:.0f} ms in a new process"
    )


if __name__ == "__main__":
    throughput()
    first_results()

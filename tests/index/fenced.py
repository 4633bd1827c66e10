"""Run definitions on arrays that end right before, or begin right after, a page that must not be touched.

A read or write outside of an array kills the process, so `test_fences.py` runs this file in a separate process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import weft
from guarded import Fence, put

TEXT = """
kernel line(x: float[n]) -> float[n] {
    let y[i in 1..n-2] = x[i-1] - 2*x[i] + x[i+2] - x[0] else x[i] - x[n - 1]
    return y
}
kernel plane(x: float[n, m]) -> float[n, m] {
    let y[i in 1..n-1, j in 1..m-1] = x[i-1, j] + x[i+1, j] + x[i, j-1] + x[i, j+1] else x[i, j]
    return y
}
kernel conv(x: float[n, m]) -> float[n - 1, m - 2] {
    let y[i in 0..n-1, j in 0..m-2] = sum[p in 0..2, q in 0..3](2 * x[i + p, j + q])
    return y
}
kernel pool(x: float[n, m]) -> float[n // 2, m // 2] {
    let y[i in 0..n//2, j in 0..m//2] = max[p in 0..2, q in 0..2](x[2*i + p, 2*j + 1 - q])
    return y
}
kernel diagonal(x: float[n, m]) -> float[n, n] {
    let c[i, k] = sum[p](x[i, p] * x[k, p])
    let d[i, k] = c[i, i] + c[k, n - 1 - k]
    return d
}
kernel taken(x: float[n, m], idx: i64[k]) -> float[k, m] {
    let y[i, j in 0..m] = x[idx[i], m - 1 - j]
    return y
}
"""
KERNELS = weft.compile(TEXT)


def line(x: Any) -> Any:
    y = x - x[-1:]
    if len(x) > 3:
        y[1:-2] = x[:-3] - 2 * x[1:-2] + x[3:] - x[0]
    return y


def plane(x: Any) -> Any:
    y = x.copy()
    if min(x.shape) > 2:
        y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return y


def conv(x: Any) -> Any:
    n, m = x.shape
    parts = [2 * x[p : n - 1 + p, q : max(0, m - 2) + q] for p in range(2) for q in range(3)]
    return np.sum(parts, axis=0) if n > 1 and m > 2 else np.zeros((max(0, n - 1), max(0, m - 2)), x.dtype)


def pool(x: Any) -> Any:
    n, m = x.shape[0] // 2, x.shape[1] // 2
    return x[: 2 * n, : 2 * m].reshape(n, 2, m, 2).max((1, 3))


def diagonal(x: Any) -> Any:
    c = x @ x.T
    return np.diagonal(c)[:, None] + np.diagonal(c[:, ::-1])


def run(name: str, meaning: Callable[..., Any], fences: list[Fence], x: Any, *more: Any) -> None:
    want = meaning(x, *more)
    for how in ("C", "strided") if name in ("line", "plane") else ("C",):
        for at_end in (False, True):
            out = put(fences[1], np.zeros(want.shape, x.dtype), "C", at_end)
            getattr(KERNELS, name)(put(fences[0], x, how, at_end), *more, out=out)
            np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-5)


def main() -> None:
    rng = np.random.default_rng(0)
    fences = [Fence() for _ in range(2)]
    for n in (*range(6), 8, 15, 16, 17, 18, 19, 33, 66):
        run("line", line, fences, rng.integers(0, 9, n).astype("f4"))
    for n, m in [(0, 4), (2, 0), *((n, m) for n in (1, 2, 5) for m in (1, 3, 17, 35))]:
        x = rng.integers(0, 9, (n, m)).astype("f8")
        run("plane", plane, fences, x)
        run("conv", conv, fences, x.astype("f4"))
        run("pool", pool, fences, x)
        run("diagonal", diagonal, fences, x)
        if n:
            run("taken", lambda x, k: x[k, ::-1], fences, x, rng.integers(0, n, 5))
    x = put(fences[0], np.ones((4, 40)), "C", True)
    for at, far in [(at, far) for at in (0, 3, 16) for far in (4, -1, 10**9, -(10**12))]:
        places = np.zeros(17, np.int64)
        places[at] = far
        try:
            KERNELS.taken(x, places)
        except IndexError as error:
            assert f"'idx[i]' is {far}, outside of axis 0 of 'x', which has size 4" in str(error)
            continue
        raise AssertionError(f"index {far} at {at} was taken")
    print("done")


if __name__ == "__main__":
    main()

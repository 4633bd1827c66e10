"""Write kernels of the library as the loops of a Numba user; `loops.py` says what these functions are."""

from __future__ import annotations

from typing import Any


def ema(np: Any, prange: Any) -> Any:
    def f(x: Any, alpha: Any) -> Any:
        y = np.empty_like(x)
        y[0] = x[0]
        for i in range(1, x.size):
            y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
        return y

    return f


def iir(np: Any, prange: Any) -> Any:
    def f(b: Any, a: Any, x: Any) -> Any:
        y = np.empty_like(x)
        for i in range(x.size):
            total = b[0] * x[i]
            for k in range(1, min(b.size, i + 1)):
                total += b[k] * x[i - k]
            for k in range(1, min(a.size, i + 1)):
                total -= a[k] * y[i - k]
            y[i] = total / a[0]
        return y

    return f


def min_plus(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        c = np.full((a.shape[0], b.shape[1]), np.inf, a.dtype)
        for i in prange(a.shape[0]):
            for p in range(a.shape[1]):
                for j in range(b.shape[1]):
                    c[i, j] = min(c[i, j], a[i, p] + b[p, j])
        return c

    return f


def shortest_paths(np: Any, prange: Any) -> Any:
    def f(lengths: Any) -> Any:
        d = lengths.copy()
        for k in range(d.shape[0]):
            for i in prange(d.shape[0]):
                for j in range(d.shape[0]):
                    d[i, j] = min(d[i, j], d[i, k] + d[k, j])
        return d

    return f


def amplify(np: Any, prange: Any) -> Any:
    def f(state: Any, marked: Any, steps: Any) -> Any:
        s = state.copy()
        for _ in range(steps):
            mean = s[0] - s[0]
            for i in range(s.size):
                if marked[i]:
                    s[i] = -s[i]
                mean += s[i]
            mean /= s.size
            for i in range(s.size):
                s[i] = 2 * mean - s[i]
        return s

    return f

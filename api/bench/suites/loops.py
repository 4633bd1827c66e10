"""Write rows as the loops of a Numba user, if Numba can't compile whole arrays or does so slowly.

Each function takes NumPy and `prange` and returns the loop; without `parallel=True`, `prange` is a plain `range`. Loops
that are nearly alike are still written out, as a user would write each: helper functions could change Numba's code.
"""

from __future__ import annotations

from typing import Any


def logsumexp_arrays(np: Any) -> Any:
    def f(x: Any) -> Any:
        m = np.max(x)
        return np.log(np.sum(np.exp(x - m))) + m

    return f


def total(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        s = x[0] - x[0]
        for i in prange(x.size):
            s += x[i]
        return s

    return f


def mean(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        s = x[0] - x[0]
        for i in prange(x.size):
            s += x[i]
        return s / x.size

    return f


def dot(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        s = a[0] - a[0]
        for i in prange(a.size):
            s += a[i] * b[i]
        return s

    return f


def mean_square(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        s = a[0] - a[0]
        for i in prange(a.size):
            s += (a[i] - b[i]) * (a[i] - b[i])
        return s / a.size

    return f


def largest(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        m = x[0]
        for i in prange(x.size):
            m = max(m, x[i])
        return m

    return f


def norm(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        s = x[0] - x[0]
        for i in prange(x.size):
            s += x[i] * x[i]
        return np.sqrt(s)

    return f


def logsumexp(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        m = x[0]
        for i in prange(x.size):
            m = max(m, x[i])
        s = m - m
        for i in prange(x.size):
            s += np.exp(x[i] - m)
        return np.log(s) + m

    return f


def any_above(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        n = 0
        for i in prange(x.size):
            n += x[i] > 100.0
        return n > 0

    return f


def all_below(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        n = 0
        for i in prange(x.size):
            n += x[i] < 100.0
        return n == x.size

    return f


def count(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        n = 0
        for i in prange(x.size):
            n += x[i] > 0.0
        return n

    return f


def sum_columns(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.zeros(x.shape[1], x.dtype)
        for j in prange(x.shape[1] // 64):
            for i in range(x.shape[0]):
                for k in range(64):
                    out[64 * j + k] += x[i, 64 * j + k]
        return out

    return f


def squares(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.zeros(x.shape[1], x.dtype)
        for j in prange(x.shape[1] // 64):
            for i in range(x.shape[0]):
                for k in range(64):
                    out[64 * j + k] += x[i, 64 * j + k] * x[i, 64 * j + k]
        return out

    return f


def max_columns(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = x[0].copy()
        for j in prange(x.shape[1] // 64):
            for i in range(x.shape[0]):
                for k in range(64):
                    out[64 * j + k] = max(out[64 * j + k], x[i, 64 * j + k])
        return out

    return f


def var_columns(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        rows, columns = x.shape
        mean = np.zeros(columns, x.dtype)
        out = np.zeros(columns, x.dtype)
        for j in prange(columns // 64):
            for i in range(rows):
                for k in range(64 * j, 64 * j + 64):
                    mean[k] += x[i, k]
            for k in range(64 * j, 64 * j + 64):
                mean[k] /= rows
            for i in range(rows):
                for k in range(64 * j, 64 * j + 64):
                    out[k] += (x[i, k] - mean[k]) ** 2
            for k in range(64 * j, 64 * j + 64):
                out[k] /= rows
        return out

    return f


def sum_rows(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.shape[0], x.dtype)
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j]
            out[i] = s
        return out

    return f


def mean_rows(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.shape[0], x.dtype)
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j]
            out[i] = s / x.shape[1]
        return out

    return f


def std_rows(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.shape[0], x.dtype)
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j]
            mean = x.dtype.type(s / x.shape[1])
            t = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                t += (x[i, j] - mean) * (x[i, j] - mean)
            out[i] = np.sqrt(t / x.shape[1])
        return out

    return f


def argmax_rows(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.shape[0], np.int64)
        for i in prange(x.shape[0]):
            best = 0
            for j in range(1, x.shape[1]):
                if x[i, j] > x[i, best]:
                    best = j
            out[i] = best
        return out

    return f


def cumsum(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        s = x[0] - x[0]
        for i in range(x.size):
            s += x[i]
            out[i] = s
        return out

    return f


def cumsum_rows(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j]
                out[i, j] = s
        return out

    return f

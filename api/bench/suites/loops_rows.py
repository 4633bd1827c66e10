"""Write softmax and other normalisations of matrix rows as the loops of a Numba user."""

from __future__ import annotations

from typing import Any


def softmax(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.shape[0]):
            m = x[i, 0]
            for j in range(x.shape[1]):
                m = max(m, x[i, j])
            s = m - m
            for j in range(x.shape[1]):
                e = np.exp(x[i, j] - m)
                out[i, j] = e
                s += e
            for j in range(x.shape[1]):
                out[i, j] /= s
        return out

    return f


def log_softmax(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.shape[0]):
            m = x[i, 0]
            for j in range(x.shape[1]):
                m = max(m, x[i, j])
            s = m - m
            for j in range(x.shape[1]):
                s += np.exp(x[i, j] - m)
            shift = m + np.log(s)
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] - shift
        return out

    return f


def logsumexp_rows(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.shape[0], x.dtype)
        for i in prange(x.shape[0]):
            m = x[i, 0]
            for j in range(x.shape[1]):
                m = max(m, x[i, j])
            s = m - m
            for j in range(x.shape[1]):
                s += np.exp(x[i, j] - m)
            out[i] = m + np.log(s)
        return out

    return f


def layernorm(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        number = x.dtype.type
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j]
            mean = number(s / x.shape[1])
            t = mean - mean
            for j in range(x.shape[1]):
                t += (x[i, j] - mean) * (x[i, j] - mean)
            scale = number(1 / np.sqrt(t / x.shape[1] + 1e-5))
            for j in range(x.shape[1]):
                out[i, j] = (x[i, j] - mean) * scale
        return out

    return f


def rmsnorm(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        number = x.dtype.type
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j] * x[i, j]
            scale = number(1 / np.sqrt(s / x.shape[1] + 1e-5))
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] * scale
        return out

    return f


def by_max(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.shape[0]):
            m = abs(x[i, 0])
            for j in range(x.shape[1]):
                m = max(m, abs(x[i, j]))
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] / m
        return out

    return f


def by_norm(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j] * x[i, j]
            n = np.sqrt(s)
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] / n
        return out

    return f

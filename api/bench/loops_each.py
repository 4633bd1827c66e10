"""Map a function of numbers over vectors as a user of Numba would."""

from __future__ import annotations

from typing import Any


def each(np: Any, prange: Any, scalar: Any, count: int, dtype: Any) -> Any:
    """`scalar` over `count` vectors; `dtype` is that of the result."""

    def one(a: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i])
        return out

    def two(a: Any, b: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i])
        return out

    def three(a: Any, b: Any, c: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i], c[i])
        return out

    def four(a: Any, b: Any, c: Any, d: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i], c[i], d[i])
        return out

    def six(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i], c[i], d[i], e[i], f[i])
        return out

    return {1: one, 2: two, 3: three, 4: four, 6: six}[count]

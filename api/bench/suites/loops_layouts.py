"""Write broadcasting, transposed operands, shifts and stencils as the loops of a Numba user."""

from __future__ import annotations

from typing import Any

TILE = 32  # a square of f64 of this side is a quarter of a first-level cache


def transposed(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        rows, columns = a.shape
        for t in prange((rows + TILE - 1) // TILE):
            for j0 in range(0, columns, TILE):
                for i in range(t * TILE, min(rows, t * TILE + TILE)):
                    for j in range(j0, min(columns, j0 + TILE)):
                        out[i, j] = a[i, j] + b[j, i]
        return out

    return f


def transposed_product(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        rows, columns = a.shape
        for t in prange((rows + TILE - 1) // TILE):
            for j0 in range(0, columns, TILE):
                for i in range(t * TILE, min(rows, t * TILE + TILE)):
                    for j in range(j0, min(columns, j0 + TILE)):
                        out[i, j] = a[i, j] * b[j, i] + a[i, j]
        return out

    return f


def every_second(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty((a.size + 1) // 2, a.dtype)
        for i in prange(out.size):
            out[i] = a[2 * i] * b[2 * i] + 1.0
        return out

    return f


def plus_row(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] + b[j]
        return out

    return f


def square_plus_row(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] * a[i, j] + b[j]
        return out

    return f


def times_row_plus_one(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] * b[j] + 1.0
        return out

    return f


def times_column(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] * b[i]
        return out

    return f


def outer(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty((b.size, a.size), a.dtype)
        for i in prange(b.size):
            for j in range(a.size):
                out[i, j] = a[j] * b[i]
        return out

    return f


def reversed_sum(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.size):
            out[i] = a[a.size - 1 - i] + b[i]
        return out

    return f


def squares(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.shape[0], x.dtype)
        for i in prange(x.shape[0]):
            s = x[i, 0] - x[i, 0]
            for j in range(x.shape[1]):
                s += x[i, j] * x[i, j]
            out[i] = s
        return out

    return f


def difference(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.size - 1, x.dtype)
        for i in prange(x.size - 1):
            out[i] = x[i + 1] - x[i]
        return out

    return f


def rolled(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        out[0] = x[0] - x[x.size - 1]
        for i in prange(x.size - 1):
            out[i + 1] = x[i + 1] - x[i]
        return out

    return f


def stencil(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        rows, columns = x.shape
        out = np.empty((rows - 2, columns - 2), x.dtype)
        fifth = x.dtype.type(0.2)
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                out[i - 1, j - 1] = fifth * (x[i, j] + x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
        return out

    return f


def sum_columns(np: Any, prange: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        out = np.empty(x.shape[1], x.dtype)
        for j in prange(x.shape[1]):
            s = x[0, j] - x[0, j]
            for i in range(x.shape[0]):
                s += x[i, j] + y[i, j]
            out[j] = s
        return out

    return f

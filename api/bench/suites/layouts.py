"""Define the suite `layouts`: non-contiguous arrays, broadcasting, shifts, stencils and short or odd rows."""

from __future__ import annotations

from typing import Any

from ..row import NUMPY, Inputs, Row, matrices, normal, shape
from . import loops_layouts as loops


def _fortran(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
    return tuple(x.T for x in matrices(2)(rng, n, dtype))


def _square(count: int) -> Inputs:
    def make(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
        side = max(2, int(n**0.5))
        return tuple(rng.standard_normal((side, side)).astype(NUMPY[dtype]) for _ in range(count))

    return make


def _every_second(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
    return tuple(x[::2] for x in normal(2)(rng, 2 * n, dtype))


def _parts(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
    """Make two matrices that are the left parts of wider ones."""
    rows, columns = shape(n)
    return tuple(x[:, :columns] for x in matrices(2, columns + 16)(rng, rows * (columns + 16), dtype))


def _with_row(width: int = 0) -> Inputs:
    return lambda rng, n, dtype: (
        *matrices(1, width)(rng, n, dtype),
        rng.standard_normal(shape(n, width)[1]).astype(NUMPY[dtype]),
    )


def _with_column(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
    return *matrices()(rng, n, dtype), rng.standard_normal(shape(n)[0]).astype(NUMPY[dtype])


def _row_and_column(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
    rows, columns = shape(n)
    return rng.standard_normal(columns).astype(NUMPY[dtype]), rng.standard_normal(rows).astype(NUMPY[dtype])


def _stencil(np: Any) -> Any:
    return lambda x: 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


ROWS = (
    Row("a*b + a, both Fortran", lambda np: lambda a, b: a * b + a, _fortran, "a*b + a", streams=True),
    Row("a + b.T", lambda np: lambda a, b: a + b.T, _square(2), loops=loops.transposed),
    Row("a*b.T + a", lambda np: lambda a, b: a * b.T + a, _square(2), loops=loops.transposed_product),
    Row("a*b + 1, every second element", lambda np: lambda a, b: a * b + 1.0, _every_second, "a*b + 1", views=True),
    Row("a[::2]*b[::2] + 1", lambda np: lambda a, b: a[::2] * b[::2] + 1.0, normal(2), loops=loops.every_second),
    Row("a*b + a, parts of wider rows", lambda np: lambda a, b: a * b + a, _parts, "a*b + a", views=True),
    Row("a + row", lambda np: lambda a, b: a + b, _with_row(), "a + b", loops.plus_row, streams=True),
    Row("a*column", lambda np: lambda a, b: a * b[:, None], _with_column, loops=loops.times_column, streams=True),
    Row("row*column", lambda np: lambda a, b: a * b[:, None], _row_and_column, loops=loops.outer),
    Row("reversed(a) + b", lambda np: lambda a, b: np.flip(a) + b, normal(2), loops=loops.reversed_sum),
    Row("a*a + row, rows of 513", lambda np: lambda a, b: a * a + b, _with_row(513), "a*a + b", loops.square_plus_row),
    Row("a*row + 1, rows of 3", lambda np: lambda a, b: a * b + 1.0, _with_row(3), "a*b + 1", loops.times_row_plus_one),
    Row("sum(x*x, axis=1), rows of 3", lambda np: lambda x: np.sum(x * x, axis=1), matrices(1, 3), loops=loops.squares),
    Row("x[1:] - x[:-1]", lambda np: lambda x: x[1:] - x[:-1], normal(), loops=loops.difference),
    Row("x - roll(x, 1)", lambda np: lambda x: x - np.roll(x, 1), normal(), loops=loops.rolled),
    Row("five-point stencil", _stencil, matrices(), loops=loops.stencil),
    Row(
        "sum(a + b, axis=0), Fortran", lambda np: lambda x, y: np.sum(x + y, axis=0), _fortran, loops=loops.sum_columns
    ),
    Row("sum(a + b, axis=1), Fortran", lambda np: lambda x, y: np.sum(x + y, axis=1), _fortran),
)

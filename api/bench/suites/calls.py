"""Define the suite `calls`: arrays so short that the call itself takes most of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import NUMPY, Inputs, Row, matrices, normal, uniform
from . import loops, loops_rows
from .rowwise import softmax

_SIZES = (10, 100)


def _into(rng: Any, n: int, dtype: str) -> tuple[Any, ...]:
    a, b = normal(2)(rng, n, dtype)
    return a, b, np.empty_like(a)


def _added(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any, out: Any) -> None:
        for i in range(a.size):
            out[i] = a[i] + b[i]

    return f


def _scaled(np: Any, prange: Any) -> Any:
    def f(a: Any, k: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.size):
            out[i] = a[i] * k + 1.0
        return out

    return f


def _with_number() -> Inputs:
    return lambda rng, n, dtype: (rng.standard_normal(n).astype(NUMPY[dtype]), 1.5)


ROWS = (
    Row("a + b", lambda np: lambda a, b: a + b, normal(2), "a + b", sizes=_SIZES, ufunc=np.add),
    Row("a + b into given memory", lambda np: lambda a, b: a + b, _into, loops=_added, sizes=_SIZES, into=np.add),
    Row("a*b + c*a - b", lambda np: lambda a, b, c: a * b + c * a - b, normal(3), "a*b + c*a - b", sizes=_SIZES),
    Row("a*k + 1, k a number", lambda np: lambda a, k: a * k + 1.0, _with_number(), "a*b + 1", _scaled, sizes=_SIZES),
    Row("maximum(x, 0)", lambda np: lambda x: np.maximum(x, 0.0), normal(), "where(a > 0.0, a, 0.0)", sizes=_SIZES),
    Row("sum(x)", lambda np: lambda x: np.sum(x), uniform(0, 1), "sum(a)", loops.total, sizes=_SIZES),
    Row("x - mean(x)", lambda np: lambda x: x - np.mean(x), normal(), sizes=_SIZES),
    Row("softmax of rows of 10", softmax, matrices(1, 10), loops=loops_rows.softmax, sizes=_SIZES),
)

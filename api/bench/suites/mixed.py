"""Define the suite `mixed`: integers, booleans, and several dtypes in one expression."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Inputs, Row
from . import loops_choices as loops


def _whole(kind: Any, low: int, high: int, count: int = 1) -> Inputs:
    return lambda rng, n, dtype: tuple(rng.integers(low, high, n).astype(kind) for _ in range(count))


def _with_float(kind: Any, low: int, high: int) -> Inputs:
    """Make a vector of whole numbers and one of f32."""
    return lambda rng, n, dtype: (
        rng.integers(low, high, n).astype(kind),
        rng.standard_normal(n).astype(np.float32),
    )


def _flags(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return rng.random(n) < 0.5, rng.random(n) < 0.5


def _floats(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return (rng.uniform(-1000, 1000, n).astype(np.float32),)


def _both_floats(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return rng.standard_normal(n).astype(np.float32), rng.standard_normal(n)


def _scaled(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty(x.size, np.float32)
        for i in prange(x.size):
            out[i] = np.float32(x[i]) * 0.00392156862745098 - 0.5
        return out

    return f


ROWS = (
    Row("a*2 + b", lambda np: lambda a, b: a * 2 + b, _with_float(np.int32, -99, 99), dtypes=("i32,f32",)),
    Row(
        "f32(a*2) + b",
        lambda np: lambda a, b: (a * 2).astype(np.float32) + b,
        _with_float(np.int32, -99, 99),
        dtypes=("i32,f32",),
        torch=lambda np: lambda a, b: np.astype(a * 2, np.float32) + b,
    ),
    Row(
        "f32(x)/255 - 0.5",
        lambda np: lambda x: x.astype(np.float32) * 0.00392156862745098 - 0.5,
        _whole(np.uint8, 0, 256),
        loops=_scaled,
        dtypes=("u8",),
        torch=lambda np: lambda x: np.astype(x, np.float32) * 0.00392156862745098 - 0.5,
    ),
    Row(
        "blend of bytes",
        lambda np: lambda a, b: ((a.astype(np.uint16) * 77 + b.astype(np.uint16) * 179) >> 8).astype(np.uint8),
        _whole(np.uint8, 0, 256, 2),
        dtypes=("u8",),
        torch=lambda np: (
            lambda a, b: np.astype((np.astype(a, np.int32) * 77 + np.astype(b, np.int32) * 179) >> 8, np.uint8)
        ),
    ),
    Row("a*3 + b", lambda np: lambda a, b: a * 3 + b, _whole(np.int32, -999, 999, 2), "a*3 + b", dtypes=("i32",)),
    Row("a + b", lambda np: lambda a, b: a + b, _whole(np.int8, -60, 60, 2), dtypes=("i8",)),
    Row(
        "(a ^ (a >> 7)) & 255",
        lambda np: lambda a: (a ^ (a >> 7)) & 255,
        _whole(np.int64, 0, 1 << 40),
        "(a ^ (a >> 7)) & 255",
        dtypes=("i64",),
    ),
    Row(
        "a // 7 + a % 7",
        lambda np: lambda a: a // 7 + a % 7,
        _whole(np.int32, 0, 1 << 20),
        dtypes=("i32",),
    ),
    Row(
        "where(a > b, a - b, 0)",
        lambda np: lambda a, b: np.where(a > b, a - b, 0),
        _whole(np.int32, -999, 999, 2),
        "where(a > b, a - b, 0)",
        loops.positive_difference,
        dtypes=("i32",),
    ),
    Row("a & ~b", lambda np: lambda a, b: a & ~b, _flags, "a & ~b", dtypes=("bool",)),
    Row(
        "i32(x)",
        lambda np: lambda x: x.astype(np.int32),
        _floats,
        dtypes=("f32",),
        torch=lambda np: lambda x: np.astype(x, np.int32),
    ),
    Row("a*b + 1", lambda np: lambda a, b: a * b + 1, _both_floats, "a*b + 1", dtypes=("f32,f64",)),
    Row("sum(x)", lambda np: lambda x: np.sum(x), _whole(np.int32, -99, 99), dtypes=("i32",)),
    Row("sum(x > 0)", lambda np: lambda x: np.sum(x > 0), _whole(np.int32, -99, 99), dtypes=("i32",)),
    Row("max(x)", lambda np: lambda x: np.max(x), _whole(np.uint8, 0, 255), dtypes=("u8",)),
)

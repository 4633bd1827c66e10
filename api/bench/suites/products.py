"""Define the suite `products`: matrix products, also with operations before and after. A size is one side."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import NUMPY, Inputs, Row

_SIDES = (4, 8, 16, 24, 32, 64, 128, 512, 1024)
_LARGE = (64, 512, 1024)


def _squares(count: int = 2, bias: bool = False) -> Inputs:
    """Make square matrices, and a vector."""

    def make(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
        shapes = [(n, n)] * count + [(n,)] * bias
        return tuple(rng.standard_normal(shape).astype(NUMPY[dtype]) for shape in shapes)

    return make


def _stacks(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    """Make a stack of matrices that has half a million elements."""
    shape = (max(1, 500_000 // (n * n)), n, n)
    return tuple(rng.standard_normal(shape).astype(NUMPY[dtype]) for _ in range(2))


def _few_rows(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return tuple(rng.standard_normal(shape).astype(NUMPY[dtype]) for shape in ((8, n), (n, n)))


def _with_vector(rng: np.random.Generator, n: int, dtype: str) -> tuple[Any, ...]:
    return tuple(rng.standard_normal(shape).astype(NUMPY[dtype]) for shape in ((n, n), (n,)))


def _gelu(np: Any) -> Any:
    def layer(a: Any, b: Any, c: Any) -> Any:
        x = np.matmul(a, b) + c
        return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    return layer


ROWS = (
    Row("a @ b", lambda np: lambda a, b: np.matmul(a, b), _squares(), sizes=_SIDES),
    Row("a @ b.T", lambda np: lambda a, b: np.matmul(a, b.T), _squares(), sizes=_LARGE),
    Row("a.T @ b", lambda np: lambda a, b: np.matmul(a.T, b), _squares(), sizes=_LARGE),
    Row("maximum(a @ b + c, 0)", lambda np: lambda a, b, c: np.maximum(np.matmul(a, b) + c, 0.0), _squares(2, True),
        sizes=_LARGE),
    Row("gelu(a @ b + c)", _gelu, _squares(2, True), sizes=_LARGE),
    Row("stacks of a @ b", lambda np: lambda a, b: np.matmul(a, b), _stacks, sizes=(4, 16, 64)),
    Row("a @ b, 8 rows", lambda np: lambda a, b: np.matmul(a, b), _few_rows, sizes=_LARGE),
    Row("a @ v", lambda np: lambda a, v: np.matmul(a, v), _with_vector, sizes=_LARGE),
)  # fmt: skip

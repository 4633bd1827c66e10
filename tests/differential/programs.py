"""Functions of several stages that the tests compile, and their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def softmax(x: Any, axis: int) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layernorm(x: Any, axis: int) -> Any:
    centred = x - x.mean(axis=axis, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axis, keepdims=True) + 1e-5)


def entropy(x: Any, axis: int) -> Any:
    p = np.abs(x) + 0.5
    return -(p * np.log(p)).sum(axis=axis)


def logsumexp(x: Any, axis: int) -> Any:
    top = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=axis)) + np.squeeze(top, axis)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def moments(x: Any, axis: int | None) -> Any:
    mean = x.mean(axis=axis, keepdims=True)
    return mean, ((x - mean) ** 2).mean(axis=axis)


PROGRAMS: Mapping[str, Callable[[Any], Any]] = {
    "softmax over the last axis": lambda x: softmax(x, -1),
    "softmax over the first axis": lambda x: softmax(x, 0),
    "layernorm over the last axis": lambda x: layernorm(x, -1),
    "layernorm over the first axis": lambda x: layernorm(x, 0),
    "entropy over the last axis": lambda x: entropy(x, -1),
    "entropy over the first axis": lambda x: entropy(x, 0),
    "logsumexp over the last axis": lambda x: logsumexp(x, -1),
    "logsumexp over the first axis": lambda x: logsumexp(x, 0),
    "mean and variance of everything": lambda x: moments(x, None),
    "mean and variance of columns": lambda x: moments(x, 0),
    "sum of exp and maximum": lambda x: np.exp(x).sum() + x.max(),
    "sums over different axes": lambda x: (x.sum(axis=0), x.sum(axis=-1)),
    "a sum of sums": lambda x: (x.sum(axis=-1) * 2).sum(axis=0) + x.max(),
    "a chain of reductions": lambda x: (x - (x - x.mean(axis=-1, keepdims=True)).max(axis=-1, keepdims=True)).sum(
        axis=-1
    ),
    "two reductions of each other's results": lambda x: x / x.sum() * (x / x.sum()).max(),
    "products of many factors": lambda x: ((1 + x * 1e-3).prod(axis=-1), (1 + x * 1e-3).prod(axis=0)),
    "smallest, largest, any and all": lambda x: (
        x.min(axis=-1), x.max(axis=0), (x > 1).any(axis=-1), (x > -9).all(axis=0), x.min(), (x > 8).any(),
    ),
    "one result and what it is made of": lambda x: (np.exp(x), np.exp(x).sum(axis=-1), np.exp(x) * 2),
    "sums beside a flipped copy": lambda x: (np.exp(x) + np.exp(x[::-1]), np.exp(x[:, ::-1]).sum(axis=-1)),
    "sums of parts": lambda x: (x[1:].sum(axis=0) - x[:-1].sum(axis=0), x[:, ::2].sum(axis=1), x[:, 1:3].sum()),
    "a sum of a transposed array": lambda x: (x.T.sum(axis=0), (x.T * 2).sum(axis=-1), x.T.max(axis=0)),
    "mixed dtypes": lambda x: ((x > 0).sum(axis=-1), x.astype(np.int32).sum(axis=0), x.sum(axis=-1, dtype=np.float64)),
    "variance and deviation": lambda x: (x.var(axis=-1), x.std(axis=0), x.var()),
}  # fmt: skip

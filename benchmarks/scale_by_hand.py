"""Write the rows of `scale.py` as someone with Numba would: one compiled function for each chunk, merged by dask."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dask.array as da
import numba
import numpy as np


@numba.njit(cache=True)
def _chain(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j]
            out[i, j] = math.sqrt(math.sin(v) ** 2 + 1.0) * 0.5 + math.sin(math.sqrt(abs(v)))
    return out


@numba.njit(cache=True)
def _polynomial(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j]
            out[i, j] = ((((0.1 * v + 0.2) * v - 0.3) * v + 0.4) * v - 0.5) * v + 0.6
    return out


@numba.njit(cache=True)
def _options(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            price, strike, rate, spread = math.exp(0.1 * x[i, j]) * 100.0, 95.0, 0.03, 0.2
            d1 = (math.log(price / strike) + (rate + 0.5 * spread**2)) / spread
            d2 = d1 - spread
            out[i, j] = price / (1.0 + math.exp(-1.702 * d1)) - strike * math.exp(-rate) / (1.0 + math.exp(-1.702 * d2))
    return out


@numba.njit(cache=True)
def _softmax(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        most, total = -np.inf, 0.0
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - most)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


@numba.njit(cache=True)
def _columns(x: Any) -> Any:
    """Count, mean and squared deviations of each column of a chunk, in two loops."""
    rows, columns = x.shape
    out = np.zeros((1, 3, columns))
    out[0, 0] = rows
    for i in range(rows):
        for j in range(columns):
            out[0, 1, j] += x[i, j]
    out[0, 1] /= rows
    for i in range(rows):
        for j in range(columns):
            apart = x[i, j] - out[0, 1, j]
            out[0, 2, j] += apart * apart
    return out


@numba.njit(cache=True, fastmath=True)
def _all(x: Any) -> Any:
    flat = x.reshape(-1)
    total, squares = 0.0, 0.0
    for k in range(flat.size):
        total += flat[k]
    mean = total / flat.size
    for k in range(flat.size):
        squares += (flat[k] - mean) * (flat[k] - mean)
    return np.array([[[float(flat.size)], [mean], [squares]]])


def _merged(parts: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """Join counts, means and squared deviations of chunks."""
    count = parts[:, 0].sum(axis=0)
    mean = (parts[:, 0] * parts[:, 1]).sum(axis=0) / count
    squares = (parts[:, 2] + parts[:, 0] * (parts[:, 1] - mean) ** 2).sum(axis=0)
    return np.stack([count, mean, squares])[None]


def _kept(block: Any, axis: Any = None, keepdims: Any = None) -> Any:
    return block


def _joined(function: Callable[[Any], Any], x: Any, columns: int) -> Any:
    parts = x.map_blocks(
        function, dtype=x.dtype, chunks=((1,) * x.numblocks[0], (3,), (columns,)), new_axis=2, meta=np.empty((0, 0, 0))
    )
    return da.reduction(
        parts, _kept, _merged, axis=0, combine=_merged, keepdims=True, dtype=x.dtype, split_every=16,
        meta=np.empty((0, 0, 0)),
    )[0]  # fmt: skip


def _std(x: Any) -> Any:
    merged = _joined(_columns, x, x.shape[1])
    return np.sqrt(merged[2] / merged[0])


def _moments(x: Any) -> Any:
    merged = _joined(_all, x, 1)
    return merged[1, 0], np.sqrt(merged[2, 0] / merged[0, 0])


def _each(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: x.map_blocks(function, dtype=x.dtype)


BY_HAND: dict[str, Callable[[Any], Any]] = {
    "chain": _each(_chain),
    "polynomial": _each(_polynomial),
    "options": _each(_options),
    "softmax": _each(_softmax),
    "std over axis 0": _std,
    "mean and std over all": _moments,
}

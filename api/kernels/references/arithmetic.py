"""Arithmetic on whole arrays, and the first level of BLAS, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def add(x: Any, y: Any) -> Any:
    return np.add(x, y)


def sub(x: Any, y: Any) -> Any:
    return np.subtract(x, y)


def mul(x: Any, y: Any) -> Any:
    return np.multiply(x, y)


def div(x: Any, y: Any) -> Any:
    return np.divide(x, y)


def axpy(a: Any, x: Any, y: Any) -> Any:
    return a * x + y


def dot(x: Any, y: Any) -> Any:
    return (x * y).sum()


def sum(x: Any) -> Any:
    return np.sum(x)


def asum(x: Any) -> Any:
    return np.abs(x).sum()


def nrm2(x: Any) -> Any:
    largest = np.max(np.abs(x), initial=0)
    unit = largest if 0 < largest < np.inf else x.dtype.type(1)
    return unit * np.sqrt(np.sum((x / unit) ** 2))


def argmax(x: Any) -> Any:
    return np.argmax(x)


def cumsum(x: Any) -> Any:
    return np.cumsum(x, axis=-1)

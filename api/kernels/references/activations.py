"""Activation functions, in NumPy. NumPy has no erfc, so Python's `math` computes it, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

erfc = np.vectorize(math.erfc, otypes=[float])


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def leaky_relu(x: Any, slope: Any = 0.01) -> Any:
    return np.where(x > 0, x, slope * x)


def sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def tanh(x: Any) -> Any:
    return np.tanh(x)


def gelu(x: Any) -> Any:
    return 0.5 * x * erfc(-math.sqrt(0.5) * x).astype(x.dtype)


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: Any) -> Any:
    return x * sigmoid(x)


def softplus(x: Any) -> Any:
    return np.logaddexp(x, 0)


def elu(x: Any, alpha: Any = 1) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))

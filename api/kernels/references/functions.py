"""Mathematical functions of elements, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def sin(x: Any) -> Any:
    return np.sin(x)


def cos(x: Any) -> Any:
    return np.cos(x)


def exp(x: Any) -> Any:
    return np.exp(x)


def log(x: Any) -> Any:
    return np.log(x)


def sqrt(x: Any) -> Any:
    return np.sqrt(x)

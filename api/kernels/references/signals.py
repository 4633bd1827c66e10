"""Filters whose output depends on their earlier output, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def ema(x: Any, alpha: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return y


def iir(b: Any, a: Any, x: Any) -> Any:
    count = max(len(a), len(b))
    c = np.append(b, np.zeros(count - len(b), b.dtype)) / a[0]
    d = np.append(a, np.zeros(count - len(a), a.dtype)) / a[0]
    y, z = x.copy(), np.zeros(count + 1, x.dtype)
    for i in range(len(x)):
        y[i] = z[0] + c[0] * x[i]
        z[:-2] = z[1:-1] + c[1:] * x[i] - d[1:] * y[i]
    return y

"""Filters whose output depends on their earlier output, in NumPy."""

from __future__ import annotations

from typing import Any


def ema(x: Any, alpha: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return y


def iir(b: Any, a: Any, x: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        total = b[0] * x[i]
        for k in range(1, min(len(b), i + 1)):
            total += b[k] * x[i - k]
        for k in range(1, min(len(a), i + 1)):
            total -= a[k] * y[i - k]
        y[i] = total / a[0]
    return y

"""Write choices between elements as the loops of a Numba user, with `if` instead of `where`."""

from __future__ import annotations

import math
from typing import Any


def leaky(np: Any, prange: Any) -> Any:
    def f(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(x.size):
            out[i] = x[i] if x[i] > 0.0 else 0.01 * x[i]
        return out

    return f


def one_or_other(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.size):
            out[i] = a[i] if (a[i] > 0.0) & (b[i] < 0.5) else b[i]
        return out

    return f


def positive_difference(np: Any, prange: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in prange(a.size):
            out[i] = a[i] - b[i] if a[i] > b[i] else 0
        return out

    return f


def black_scholes(np: Any, prange: Any) -> Any:
    def f(spot: Any, strike: Any, time: Any) -> Any:
        out = np.empty_like(spot)
        for i in prange(spot.size):
            root = math.sqrt(time[i])
            d1 = (math.log(spot[i] / strike[i]) + 0.065 * time[i]) / (0.3 * root)
            d2 = d1 - 0.3 * root
            k1 = 1.0 / (1.0 + 0.2316419 * abs(d1))
            k2 = 1.0 / (1.0 + 0.2316419 * abs(d2))
            p1 = k1 * (0.319381530 + k1 * (-0.356563782 + k1 * (1.781477937 + k1 * (-1.821255978 + k1 * 1.330274429))))
            p2 = k2 * (0.319381530 + k2 * (-0.356563782 + k2 * (1.781477937 + k2 * (-1.821255978 + k2 * 1.330274429))))
            n1 = 1.0 - 0.3989422804014327 * math.exp(-0.5 * d1 * d1) * p1
            n2 = 1.0 - 0.3989422804014327 * math.exp(-0.5 * d2 * d2) * p2
            if d1 <= 0.0:
                n1 = 1.0 - n1
            if d2 <= 0.0:
                n2 = 1.0 - n2
            out[i] = spot[i] * n1 - strike[i] * math.exp(-0.02 * time[i]) * n2
        return out

    return f

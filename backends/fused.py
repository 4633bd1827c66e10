"""Compute `a*b + c` with one rounding in NumPy, as an FMA instruction does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
# Magnitudes for which every part of the exact computation is a normal number, so that the sums below are exact.
SMALLEST, LARGEST = 2.0**-900, 2.0**900


def fma(a: Any, b: Any, c: Any) -> Array:
    """Round the exact value once; infinities and NaN come from plain arithmetic."""
    a, b, c = np.broadcast_arrays(a, b, c)
    return _narrow(a, b, c) if a.dtype == np.float32 else _wide(a, b, c)


def _narrow(a: Array, b: Array, c: Array) -> Array:
    """Compute in f64, in which products of f32 are exact; rounding the sum to odd makes the second rounding right."""
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    return _sum_to_odd(product, addend).astype(np.float32)


def _wide(a: Array, b: Array, c: Array) -> Array:
    """Compute product and sum as pairs of f64, and join the low parts with rounding to odd (Boldo and Melquiond)."""
    plain = a * b + c
    size = np.abs(np.stack([a, b, c, a * b, plain]))
    usual = ((size > SMALLEST) & (size < LARGEST)).all(axis=0)
    x, y, z = (np.where(usual, part, 1.0) for part in (a, b, c))
    high, low = _product(x, y)
    top, rest = _sum(z, low)
    top, more = _sum(high, top)
    endless = np.isinf(c) & np.isfinite(a) & np.isfinite(b)  # the exact product is finite, the rounded one may not be
    result = np.where(usual, top + _sum_to_odd(rest, more), np.where(endless, c, plain))
    plain_is_exact = (a == 0) | (b == 0) | ((c == 0) & (size[3] > SMALLEST))  # at most one operation rounds
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for at in np.argwhere(~usual & ~plain_is_exact & finite):
        place = tuple(at)
        result[place] = _exactly(float(a[place]), float(b[place]), float(c[place]), float(plain[place]))
    return result


def _exactly(a: float, b: float, c: float, plain: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return plain if plain == 0 else 0.0  # the sign of an exact zero is that of plain arithmetic
    try:
        rounded = exact.numerator / exact.denominator
    except OverflowError:
        rounded = float("inf") if exact > 0 else float("-inf")
    return rounded if rounded else float(np.copysign(0.0, 1 if exact > 0 else -1))


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a sum and its rounding error."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a product and its rounding error, by splitting the factors into halves."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    total = a * b
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = x * (2.0**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high


def _sum_to_odd(a: Array, b: Array) -> Array:
    """Round a sum to odd: it is exact, or its last digit is odd."""
    total, rest = _sum(a, b)
    bits = total.view(np.int64)
    # One of the two neighbours of an inexact sum is odd: the rounded sum itself, or the one on the side of the error.
    outward = (rest > 0) == (total > 0)
    moved = np.where(outward, bits + 1, bits - 1).view(np.float64)
    inexact = (rest != 0) & np.isfinite(total) & (bits & 1 == 0)
    return np.where(inexact, moved, total)

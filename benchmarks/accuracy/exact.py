"""Compute a function's true values with mpmath, and errors in ULP.

It needs no compiler and shares no code with `reference.c`. The test suite measures with it, and `make accuracy` checks
its own reference with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from .formats import Array, Format

DIGITS, COMPLEX_DIGITS = 40, 90


def errors(true: Callable[..., Any], format: Format, inputs: tuple[Array, ...], got: Array) -> Array:
    """Return the distance of each result from the true value in ULP, or NaN if mpmath can't tell."""
    wide = np.complex128 if format.is_complex else np.float64
    columns = [x.astype(wide).tolist() for x in (*inputs, got)]
    error = _normwise if format.is_complex else _error
    with mpmath.workdps(COMPLEX_DIGITS if format.is_complex else DIGITS):
        return np.array([error(true, format, tuple(point), value) for *point, value in zip(*columns, strict=True)])


def _error(true: Callable[..., Any], format: Format, point: tuple[float, ...], got: float) -> float:
    if any(not np.isfinite(x) or (x == 0 and np.signbit(x)) for x in point):
        return np.nan  # infinite results of infinite arguments are defined by C's rules, and mpmath has no -0
    exact = true(*map(mpmath.mpf, point))
    if not isinstance(exact, mpmath.mpf) or mpmath.isnan(exact):
        return 0.0 if np.isnan(got) else np.inf
    if np.isnan(got) or (got == 0 and exact and np.signbit(got) != (exact < 0)):
        return np.inf
    limit = mpmath.ldexp(1, format.most + 1)
    kept, found = (max(min(value, limit), -limit) for value in (exact, mpmath.mpf(got)))
    return float(abs(found - kept) * _steps(kept, format))


def _normwise(true: Callable[..., Any], format: Format, point: tuple[complex, ...], got: complex) -> float:
    """Return errors relative to the absolute values of complex results.

    Real and imaginary numbers are left out: they lie on branch cuts, and mpmath has no -0 to tell the sides apart. So
    are results next to a power of two: quad precision may put them on its other side, where an ULP is half as large.
    """
    if any(not np.isfinite(z) or z.real == 0 or z.imag == 0 for z in point):
        return np.nan
    exact = true(*map(mpmath.mpc, point))
    if abs(exact) > format.largest:
        return np.nan
    if abs(mpmath.log(abs(exact) or 1, 2) - mpmath.nint(mpmath.log(abs(exact) or 1, 2))) < 1e-30:
        return np.nan
    if not np.isfinite(got):
        return np.inf
    return float(abs(mpmath.mpc(got) - exact) * _steps(abs(exact), format))


def _steps(size: Any, format: Format) -> Any:
    """Return how many ULP of a number of this size fit in 1."""
    exponent = min(max(mpmath.frexp(size)[1] - 1, format.least), format.most)
    return mpmath.ldexp(1, format.bits - 1 - exponent)

"""A function's true values by mpmath: points and results in, errors in ULP out.

It needs no compiler and shares no code with `reference.c`: the test suite measures with it, and `make accuracy` checks
its own reference with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from .formats import Array, Format

DIGITS = 40


def errors(true: Callable[..., Any], format: Format, inputs: tuple[Array, ...], got: Array) -> Array:
    """The distance of each result from the true value in its ULP; NaN where mpmath can't tell."""
    columns = [x.astype(np.float64).tolist() for x in (*inputs, got)]
    with mpmath.workdps(DIGITS):
        return np.array([_error(true, format, tuple(point), value) for *point, value in zip(*columns, strict=True)])


def _error(true: Callable[..., Any], format: Format, point: tuple[float, ...], got: float) -> float:
    if any(not np.isfinite(x) or (x == 0 and np.signbit(x)) for x in point):
        return np.nan  # infinite results of infinite arguments are defined by C's rules, and mpmath has no -0
    exact = _value(true, point)
    if exact is None or np.isnan(got):
        return 0.0 if exact is None and np.isnan(got) else np.inf
    limit = mpmath.ldexp(1, format.most + 1)
    kept, found = (max(min(value, limit), -limit) for value in (exact, mpmath.mpf(got)))
    if got == 0 and exact and (np.signbit(got) != (exact < 0)):
        return np.inf
    exponent = min(max(mpmath.frexp(kept)[1] - 1, format.least), format.most)
    return float(abs(found - kept) * mpmath.ldexp(1, format.bits - 1 - exponent))


def _value(true: Callable[..., Any], point: tuple[float, ...]) -> Any:
    """The true value, or nothing where the function has none among the reals."""
    exact = true(*map(mpmath.mpf, point))
    return exact if isinstance(exact, mpmath.mpf) and not mpmath.isnan(exact) else None

"""Define the scipy.special functions for the reference backend.

SciPy is not needed: Python has the error functions, and the others are computed in a wider float and rounded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def erf(x: Any) -> Any:
    return _each(math.erf, x)


def erfc(x: Any) -> Any:
    return _each(math.erfc, x)


def expit(x: Any) -> Any:
    wide = np.asarray(x).astype(np.longdouble)
    return _rounded(1 / (1 + np.exp(-wide)), x)


def logit(x: Any) -> Any:
    """Uses twice the inverse hyperbolic tangent near 1/2, where the logarithm of the odds would cancel."""
    wide = np.asarray(x).astype(np.longdouble)
    return _rounded(np.where(np.abs(wide - 0.5) < 0.25, 2 * np.arctanh(2 * wide - 1), np.log(wide / (1 - wide))), x)


def _each(function: Any, x: Any) -> Any:
    return _rounded(np.vectorize(function, otypes=[np.float64])(x), x)


def _rounded(result: Any, x: Any) -> Any:
    return np.asarray(result).astype(np.asarray(x).dtype)[()]

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.exponential import EXP_BOUNDS, EXP_NORMAL
from weft.backends.llvm.math.log_sum import logaddexp, logaddexp2
from weft.backends.llvm.math.logistic import expit, logit
from weft.ir import scipy_meanings

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array


def points(elem: str) -> Array:
    low, normal = EXP_BOUNDS[elem][0], EXP_NORMAL[elem]
    parts = [
        uniform(elem, -20, 20, 1500),
        uniform(elem, low, 0, 500),
        spread(elem, 1e-30, 80, 500),
        around(elem, [normal, -normal, low, 17.3, 36.7]),
    ]
    return np.concatenate(parts)


def shares(elem: str) -> Array:
    parts = [
        uniform(elem, 0, 1, 1500),
        np.abs(spread(elem, 1e-37, 0.5, 500)),
        1 - np.abs(spread(elem, 1e-7, 0.5, 500)),
        around(elem, [0.5, 0.25, 0.75]),
    ]
    found = np.concatenate(parts)
    return found[(found > 0) & (found < 1)]


@pytest.mark.parametrize("elem", DTYPES)
def test_expit(elem: str) -> None:
    check_accuracy(expit, lambda x: 1 / (1 + mpmath.exp(-x)), elem, points(elem), bound=0.8)
    check_same_bits(expit, elem, np.concatenate([points(elem), specials(elem)]))
    exact = np.array([0.0, -0.0, 1000.0, -1000.0, np.inf, -np.inf, np.nan], DTYPES[elem])
    check_same_as_numpy(expit, scipy_meanings.expit, elem, exact)


@pytest.mark.parametrize("elem", DTYPES)
def test_logit(elem: str) -> None:
    check_accuracy(logit, lambda x: mpmath.log(x / (1 - x)), elem, shares(elem), bound=0.9)
    check_same_bits(logit, elem, np.concatenate([shares(elem), specials(elem)]))
    exact = np.array([0.0, -0.0, 0.5, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan], DTYPES[elem])
    check_same_as_numpy(logit, scipy_meanings.logit, elem, exact)


SUMS = [
    (logaddexp, np.logaddexp, lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y))),
    (logaddexp2, np.logaddexp2, lambda x, y: mpmath.log(mpmath.mpf(2) ** x + mpmath.mpf(2) ** y, 2)),
]


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "function", "true"), SUMS)
def test_logarithm_of_a_sum(
    emit: Callable[..., Val], function: np.ufunc, true: Callable[..., mpmath.mpf], elem: str
) -> None:
    """Results near 0 are left out, because the sum cancels there, in NumPy too."""
    for low, high, bound in ((0.5, 20, 1.0), (-90, -3, 1.0), (-300, 300, 1.0)):
        x, y = uniform(elem, low, high, 700), uniform(elem, low, high, 700, 1)
        far = np.maximum(x, y) > 0.5 if low < -100 else np.full(x.shape, True)
        check_accuracy(emit, true, elem, x[far], y[far], bound=bound)
    x, y = (part.ravel() for part in np.meshgrid(specials(elem), specials(elem)))
    some = uniform(elem, -20, 20, 500)
    check_same_bits(emit, elem, np.concatenate([x, some]), np.concatenate([y, some[::-1]]))
    exact = (np.abs(x) != 1) & (np.abs(y) != 1) & ((x != y) | ~np.isfinite(x) | (np.abs(x) > 1))
    check_same_as_numpy(emit, function, elem, x[exact], y[exact])


@pytest.mark.parametrize("elem", DTYPES)
def test_powers_of_two_that_are_doubled(elem: str) -> None:
    whole = np.arange(-50, 50).astype(DTYPES[elem])
    check_same_as_numpy(logaddexp2, np.logaddexp2, elem, whole, whole)

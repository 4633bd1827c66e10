from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.inverse_hyperbolic import LINEAR, acosh, asinh, atanh

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

LARGEST = {"float": 3.4e38, "double": 1.7e308}


def below_one(elem: str) -> Array:
    near_one = 1 - np.abs(spread(elem, np.finfo(DTYPES[elem]).eps, 0.5, 1000))
    return np.concatenate([uniform(elem, -1, 1, 2000), spread(elem, 1e-30, 1, 500), near_one[near_one < 1]])


def from_one(elem: str) -> Array:
    points = [uniform(elem, 1, 4, 2000), 1 + np.abs(spread(elem, 1e-7, 1, 500)), around(elem, [1.0, 1.5, LINEAR])]
    points.append(np.abs(spread(elem, 1, LARGEST[elem], 1000)))
    return np.concatenate(points).clip(1, None)


def everywhere(elem: str) -> Array:
    sizes = [spread(elem, 1e-37, LARGEST[elem], 1000), spread(elem, 0.1, 10, 1500)]
    return np.concatenate([uniform(elem, -3, 3, 2000), *sizes, around(elem, [0.5, -0.5, 1.0, LINEAR])])


FUNCTIONS = [
    (atanh, mpmath.atanh, np.arctanh, below_one, [0.0, -0.0, 1.0, -1.0, 1.5, -2.0, np.inf, -np.inf, np.nan]),
    (asinh, mpmath.asinh, np.arcsinh, everywhere, [0.0, -0.0, np.inf, -np.inf, np.nan]),
    (acosh, mpmath.acosh, np.arccosh, from_one, [0.0, -0.0, 1.0, 0.5, -1.0, -2.0, np.inf, -np.inf, np.nan]),
]


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "numpy", "points", "exact"), FUNCTIONS)
def test_inverse_hyperbolic(
    emit: Callable[..., Val],
    true: Callable[..., Any],
    numpy: Callable[..., Array],
    points: Callable[[str], Array],
    exact: list[float],
    elem: str,
) -> None:
    check_accuracy(emit, true, elem, points(elem), bound=0.95)
    check_same_bits(emit, elem, np.concatenate([points(elem), specials(elem)]))
    check_same_as_numpy(emit, numpy, elem, np.array(exact, DTYPES[elem]))

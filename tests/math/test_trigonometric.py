from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.pio2 import MODERATE
from weft.backends.llvm.math.trigonometric import cos, sin, tan

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

FUNCTIONS = [(sin, mpmath.sin, np.sin), (cos, mpmath.cos, np.cos), (tan, mpmath.tan, np.tan)]
LARGEST = {"float": 3e38, "double": 1.7e308}
# The double whose distance from a multiple of pi/2 is the least of all.
NEAREST = 6381956970095103.0 * 2.0**797


def points(elem: str) -> Array:
    with mpmath.workdps(400):
        turns = [float(k * mpmath.pi / 2) for k in [1, 2, 3, 4, 5, 12, 101, 4073, 10**6, 10**7 + 1, 10**20]]
    hard = [*turns, np.pi / 4, 3 * np.pi / 4, MODERATE[elem], LARGEST[elem], 1e-300, *([NEAREST] * (elem == "double"))]
    with np.errstate(all="ignore"):
        return np.concatenate(
            [
                uniform(elem, -7, 7, 2000),
                spread(elem, 1e-30, MODERATE[elem], 1000),
                spread(elem, MODERATE[elem], LARGEST[elem], 1000),
                around(elem, hard, 4),
            ]
        )


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "numpy"), FUNCTIONS)
def test_trigonometric(
    emit: Callable[..., Val], true: Callable[..., Any], numpy: Callable[..., Array], elem: str
) -> None:
    check_accuracy(emit, true, elem, points(elem), bound=0.9)
    check_same_bits(emit, elem, np.concatenate([points(elem), specials(elem)]))
    exact = specials(elem)
    check_same_as_numpy(emit, numpy, elem, exact[(np.abs(exact) < 1e-30) | ~np.isfinite(exact)])

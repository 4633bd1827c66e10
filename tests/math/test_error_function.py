from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.error_function import ERF_BOUND, LARGE, TAIL_BEGIN, erf, erfc

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

# Where the complement becomes subnormal, and where it becomes 0.
UNDERFLOW = {"float": (9.19, 10.06), "double": (26.54, 27.23)}


def points(elem: str) -> Array:
    subnormal, zero = UNDERFLOW[elem]
    edges = [LARGE, TAIL_BEGIN, -TAIL_BEGIN, ERF_BOUND[elem], 1.0, 3.0, *UNDERFLOW[elem], np.finfo(DTYPES[elem]).tiny]
    return np.concatenate(
        [
            uniform(elem, -2, 2, 2000),
            uniform(elem, -7, 7, 1000),
            uniform(elem, 0.5, subnormal, 1000),
            uniform(elem, subnormal, zero, 500),
            spread(elem, 1e-37, zero, 500),
            around(elem, edges),
        ]
    )


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "standard"), [(erf, mpmath.erf, math.erf), (erfc, mpmath.erfc, math.erfc)])
def test_error_function(
    emit: Callable[..., Val], true: Callable[..., Any], standard: Callable[[float], float], elem: str
) -> None:
    check_accuracy(emit, true, elem, points(elem), bound=0.9)
    check_same_bits(emit, elem, np.concatenate([points(elem), specials(elem)]))
    exact = np.array([0.0, -0.0, 30.0, -30.0, np.inf, -np.inf, np.nan], DTYPES[elem])
    check_same_as_numpy(emit, np.vectorize(standard, otypes=[DTYPES[elem]]), elem, exact)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.exponential import exp, exp2, expm1

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

FUNCTIONS = [(exp, mpmath.exp, np.exp), (exp2, lambda x: mpmath.mpf(2) ** x, np.exp2), (expm1, mpmath.expm1, np.expm1)]
# From below all subnormal results to above overflow, in powers of e and of 2.
RANGES = {"float": (-152.0, 129.0), "double": (-1076.0, 1025.0)}


def points(elem: str, two: bool) -> Array:
    low, high = (bound if two else bound * np.log(2) for bound in RANGES[elem])
    smallest = np.finfo(DTYPES[elem]).smallest_subnormal
    halfway = np.array([-37.5, -2.5, -1.5, -0.5, 0.5, 1.5, 24.5, 53.5]) * (1.0 if two else np.log(2))
    return np.concatenate(
        [
            uniform(elem, low, high, 1500),
            uniform(elem, -2, 2, 1500),
            uniform(elem, low, low + 60, 500),
            spread(elem, smallest, 1, 500),
            around(elem, [*halfway, low, high, 0.0], 4),
        ]
    )


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "numpy"), FUNCTIONS, ids=["exp", "exp2", "expm1"])
def test_exponential(
    emit: Callable[..., Val], true: Callable[..., Any], numpy: Callable[..., Array], elem: str
) -> None:
    check_accuracy(emit, true, elem, points(elem, emit is exp2), bound=0.95)
    check_same_bits(emit, elem, np.concatenate([points(elem, emit is exp2), specials(elem)]))
    exact = specials(elem)
    check_same_as_numpy(emit, numpy, elem, exact[np.abs(exact) != 1])


@pytest.mark.parametrize("elem", DTYPES)
def test_whole_powers_of_two_are_exact(elem: str) -> None:
    powers = np.arange(*RANGES[elem], dtype=DTYPES[elem])
    check_same_as_numpy(exp2, lambda x: np.ldexp(DTYPES[elem](1), x.astype(int)), elem, powers)

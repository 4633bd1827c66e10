from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.logarithm import log, log1p, log2, log10

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array, build

FUNCTIONS = [
    (log, mpmath.log, np.log),
    (log2, lambda x: mpmath.log(x, 2), np.log2),
    (log10, mpmath.log10, np.log10),
    (log1p, mpmath.log1p, np.log1p),
]
# Where the mantissa's range ends, and its neighbours.
ENDS = [2.0**k * np.sqrt(2) for k in (-3, -2, -1, 0, 1, 20)]


def points(elem: str, plus_one: bool) -> Array:
    limits = np.finfo(DTYPES[elem])
    if plus_one:
        near_minus_one = -1 + np.abs(spread(elem, limits.eps, 0.5, 500))
        sizes = spread(elem, limits.smallest_subnormal, 0.7, 1500)
        edges = around(elem, [0.0, *(end - 1 for end in ENDS), 1.0, 2.0**24, 2.0**53, limits.max / 2], 4)
        return np.concatenate([near_minus_one, sizes, np.abs(spread(elem, 0.1, limits.max, 1500)), edges])
    sizes = np.abs(spread(elem, limits.smallest_subnormal, limits.max, 1500))
    near_one = 1 + spread(elem, limits.eps, 0.3, 1500)
    return np.concatenate([sizes, near_one, uniform(elem, 0.5, 3, 1500), around(elem, [1.0, *ENDS], 4)])


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "numpy"), FUNCTIONS, ids=["log", "log2", "log10", "log1p"])
def test_logarithm(emit: Callable[..., Val], true: Callable[..., Any], numpy: Callable[..., Array], elem: str) -> None:
    chosen = points(elem, emit is log1p)
    check_accuracy(emit, true, elem, chosen, bound=1.0)
    check_same_bits(emit, elem, np.concatenate([chosen, -chosen, specials(elem)]))
    exact = specials(elem)
    size = np.abs(exact)
    known = (exact < 0) | (exact == 0) | ~np.isfinite(exact) | ((exact == 1) & (emit is not log1p))
    tiny = size < np.finfo(DTYPES[elem]).eps ** 2
    check_same_as_numpy(emit, numpy, elem, exact[tiny | (size == np.inf) | np.isnan(size) if emit is log1p else known])


def test_log1p_below_its_domain() -> None:
    with np.errstate(all="ignore"):
        for elem, dtype in DTYPES.items():
            check_same_as_numpy(log1p, np.log1p, elem, np.array([-1, -1.5, -np.inf, -1e30], dtype))


@pytest.mark.parametrize("elem", DTYPES)
def test_powers_of_the_base_are_exact(elem: str) -> None:
    limits = np.finfo(DTYPES[elem])
    powers = np.arange(np.log2(limits.smallest_subnormal), limits.maxexp)
    np.testing.assert_array_equal(build(log2, elem, 4)(np.exp2(powers)), powers)
    tens = np.arange(0, 11 if elem == "float" else 23)
    np.testing.assert_array_equal(build(log10, elem, 4)(10.0**tens), tens)

from __future__ import annotations

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.math.power import pow
from weft.backends.llvm.math.root import cbrt, hypot

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

LARGEST_POWER = {"float": 150.0, "double": 1080.0}


def true_power(x: Any, y: Any) -> Any:
    return mpmath.power(x, y) if x > 0 else (-1) ** int(y) * mpmath.power(-x, y)


def true_cube_root(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def bases_and_exponents(elem: str) -> tuple[Array, Array]:
    """Results of all sizes from all sizes of bases, bases close to 1, and negative bases."""
    limits, rng = np.finfo(DTYPES[elem]), np.random.default_rng(1)
    largest = LARGEST_POWER[elem]
    bases = [
        np.abs(spread(elem, limits.smallest_subnormal, limits.max, 1200)),
        1 + spread(elem, limits.eps, 0.2, 800),
        uniform(elem, 0.7, 1.42, 800),
        uniform(elem, 0.1, 10, 800),
    ]
    x = np.concatenate(bases)
    x = x[x != 1]
    y = (rng.uniform(-largest, largest, x.size) / np.log2(x.astype(np.float64))).astype(DTYPES[elem])
    whole = rng.integers(-20, 20, 400).astype(DTYPES[elem])
    return np.concatenate([x, uniform(elem, -9, 0, 400)]), np.concatenate([y, whole])


@pytest.mark.parametrize("elem", DTYPES)
def test_pow(elem: str) -> None:
    x, y = bases_and_exponents(elem)
    check_accuracy(pow, true_power, elem, x, y, bound=0.9)
    check_same_bits(pow, elem, x, y)


@pytest.mark.parametrize("elem", DTYPES)
def test_special_powers(elem: str) -> None:
    limits = np.finfo(DTYPES[elem])
    values = [0.0, 1.0, 2.0, 4.0, 0.25, 0.5, 3.0, 1025.0, limits.max, limits.smallest_subnormal, np.inf, np.nan]
    odd, even = 2.0 ** (limits.nmant + 1) - 1, 2.0 ** (limits.nmant + 1)
    bases = [sign * value for value in [*values[:6], *values[8:]] for sign in (1, -1)]
    exponents = [sign * value for value in [*values, odd, even] for sign in (1, -1)]
    pairs = np.array(list(itertools.product(bases, exponents)), DTYPES[elem])
    x, y = pairs[:, 0].copy(), pairs[:, 1].copy()
    with np.errstate(all="ignore"):
        exact = np.power(x, y)
        # Roots of numbers that are not squares, and powers of the largest number, are rounded.
        fraction, _ = np.frexp(exact)
    known = ~np.isfinite(exact) | (np.abs(fraction) == 0.5) | (exact == 0)
    assert known.mean() > 0.8
    check_same_as_numpy(pow, np.power, elem, x[known], y[known])
    check_same_bits(pow, elem, x, y)


@pytest.mark.parametrize("elem", DTYPES)
def test_small_powers_of_small_whole_numbers_are_exact(elem: str) -> None:
    x, y = (grid.ravel().astype(DTYPES[elem]) for grid in np.meshgrid(np.arange(-9, 10), np.arange(0, 7)))
    check_same_as_numpy(pow, lambda x, y: np.power(x.astype(np.int64), y.astype(np.int64)).astype(x.dtype), elem, x, y)


@pytest.mark.parametrize("elem", DTYPES)
def test_cbrt(elem: str) -> None:
    limits = np.finfo(DTYPES[elem])
    x = np.concatenate(
        [
            spread(elem, limits.smallest_subnormal, limits.max, 2000),
            uniform(elem, -8, 8, 1000),
            around(elem, [1.0, 8.0, 27.0, limits.smallest_normal, 2.0**-60, limits.max / 2], 4),
        ]
    )
    check_accuracy(cbrt, true_cube_root, elem, x, bound=0.6)
    check_same_bits(cbrt, elem, np.concatenate([x, specials(elem)]))
    exact = specials(elem)
    check_same_as_numpy(cbrt, np.cbrt, elem, exact[(exact == 0) | (np.abs(exact) == 1) | ~np.isfinite(exact)])


@pytest.mark.parametrize("elem", DTYPES)
def test_hypot(elem: str) -> None:
    limits = np.finfo(DTYPES[elem])
    x = np.concatenate([spread(elem, limits.smallest_subnormal, limits.max / 2, 2000), uniform(elem, -9, 9, 1000)])
    y = (x * spread(elem, 1e-4, 1.5, x.size, seed=1)).astype(DTYPES[elem])
    check_accuracy(hypot, mpmath.hypot, elem, x, y, bound=0.8)
    check_same_bits(hypot, elem, x, y)
    first, second = (grid.ravel() for grid in np.meshgrid(specials(elem), specials(elem)))
    check_same_bits(hypot, elem, first, second)
    axis = (first == 0) | (second == 0) | ~np.isfinite(first) | ~np.isfinite(second)
    check_same_as_numpy(hypot, np.hypot, elem, first[axis], second[axis])

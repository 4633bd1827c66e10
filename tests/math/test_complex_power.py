from __future__ import annotations

import mpmath
import numpy as np
import pytest
import weft
from weft.backends.llvm.math.complex_table import COMPLEX

from .accuracy import spread, uniform
from .complex_accuracy import CLOSE, check_normwise, check_same_bits, compute, grid, whole
from .harness import DTYPES, Array

POWER = COMPLEX["power"]
# Imaginary exponents of real bases, for angles of millions of turns.
LARGE = {"float": 1e5, "double": 5e7}


def bases_and_exponents(elem: str) -> list[Array]:
    """Draw bases of any size and near 1, with exponents that are moderate, large, real, or small integers."""
    limits, rng, count = np.finfo(DTYPES[elem]), np.random.default_rng(0), 100
    angle, zeros = uniform("double", -np.pi, np.pi, count), np.zeros(count)
    rows = [
        [uniform(elem, -3, 3, count, seed=k) for k in range(4)],
        [spread(elem, 1e-3, 1e3, count, seed=k) for k in range(2)] + [spread(elem, 1e-3, 20, count, k) for k in (2, 3)],
        [
            uniform(elem, -2, 2, count, seed=5),
            uniform(elem, -2, 2, count, seed=6),
            rng.integers(-99, 100, count),
            zeros,
        ],
        [
            uniform(elem, -2, 2, count, seed=7),
            uniform(elem, -2, 2, count, seed=8),
            uniform(elem, -90, 90, count),
            zeros,
        ],
        [np.cos(angle), np.sin(angle), spread(elem, 1, 1e5, count, seed=9), uniform(elem, -20, 20, count)],
        [1 + spread(elem, limits.eps, 0.1, count), spread(elem, limits.eps, 0.1, count, seed=10)]
        + [spread(elem, 1, 1e3, count, seed=k) for k in (11, 12)],
        [np.abs(spread(elem, limits.tiny, limits.max / 2, count)), zeros, zeros, spread(elem, 1e3, LARGE[elem], count)],
        [spread(elem, limits.tiny, limits.max / 2, count, seed=k) for k in (13, 14)]
        + [uniform(elem, -1, 1, count, seed=15), uniform(elem, -9, 9, count, seed=16)],
    ]
    return [np.concatenate(sides).astype(DTYPES[elem]) for sides in zip(*rows, strict=True)]


@pytest.mark.parametrize("elem", DTYPES)
def test_power_is_within_one_ulp_and_has_the_same_bits_everywhere(elem: str) -> None:
    parts = bases_and_exponents(elem)
    check_normwise(POWER, mpmath.power, elem, *parts, bound=1.1)
    values = [0.0, -0.0, 1.0, -2.0, 0.5, np.inf, -np.inf, np.nan]
    check_same_bits(POWER, elem, *(np.concatenate(sides) for sides in zip(parts, grid(elem, values, 4), strict=True)))


@pytest.mark.parametrize("elem", DTYPES)
def test_whole_powers_of_whole_numbers_are_exact(elem: str) -> None:
    re, im, exponent = (side.ravel() for side in np.meshgrid(np.arange(-3, 4), np.arange(-3, 4), np.arange(1, 7)))
    expected = np.array([complex(a, b) ** int(n) for a, b, n in zip(re, im, exponent, strict=True)])
    parts = [np.asarray(side, DTYPES[elem]) for side in (re, im, exponent, 0 * exponent)]
    got = compute(POWER, elem, *parts)
    np.testing.assert_array_equal(got[0], expected.real)
    np.testing.assert_array_equal(got[1], expected.imag)


@pytest.mark.parametrize("elem", DTYPES)
def test_special_powers_are_those_of_numpy(elem: str) -> None:
    """Infinite and NaN parts are NumPy's, zeros have the same sign, and values are close."""
    parts = grid(elem, [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, np.inf, -np.inf, np.nan], 4)
    got = compute(POWER, elem, *parts)
    with np.errstate(all="ignore"):
        expected = np.power(whole(*parts[:2]), whole(*parts[2:]))
        number, size = whole(*got), np.abs(expected)
        close = np.abs(number - expected) <= CLOSE[elem] * size
    finite = np.isfinite(number) & np.isfinite(expected)
    unlike = finite & ~close
    for a, b in zip(got, (expected.real, expected.imag), strict=True):
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
        unlike |= (~finite | (a == 0) & (b == 0)) & ~same
    assert not unlike.any(), f"{[side[unlike][:9] for side in (*parts, *got)]}"


@pytest.mark.parametrize("elem", DTYPES)
def test_whole_powers_that_overflow_have_the_parts_of_plain_products(elem: str) -> None:
    huge = np.full(3, np.finfo(DTYPES[elem]).max, DTYPES[elem])
    exponent = np.array([2, 3, 5], DTYPES[elem])
    got = whole(*compute(POWER, elem, huge, huge, exponent, np.zeros_like(huge)))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, np.power(whole(huge, huge), whole(exponent, np.zeros_like(huge))))


def test_inverses_of_what_overflows_are_those_of_numpy() -> None:
    """The power itself overflows the dtype, whatever its inverse would be."""
    for dtype in ("c8", "c16"):
        most = 10.0 ** (38 if dtype == "c8" else 308)
        bases = np.array([most * 1j, most / 2 - most / 3j, most, 1e30 + 1e30j, 2e19, 2e19j, 3 - 4j]).astype(dtype)
        exponents = np.array([-1, -2, -3, -17, -60]).astype(dtype)
        with np.errstate(all="ignore"):
            expected = np.power(bases[:, None], exponents)
        found = weft.jit(np.power)(bases[:, None], exponents)
        assert np.array_equal(np.isnan(found), np.isnan(expected)), dtype
        assert np.array_equal(found == 0, expected == 0), dtype

"""Test the reference's complex arithmetic: it rounds as often as stated, and has the bits of native code."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import complexes, fused
from weft.backends.fused import fma


def rounded(value: Fraction, dtype: Any) -> Any:
    """The nearest number of a dtype, ties to even, by comparing with its neighbours."""
    guess = dtype(float(value))
    near = [np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf))]
    return min(near, key=lambda x: (abs(Fraction(float(x)) - value), int(np.abs(x).view(f"u{x.itemsize}")) & 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    a, b, c = ((rng.normal(size=400) * 2.0 ** rng.integers(-8, 8, 400)).astype(dtype) for _ in range(3))
    c[::2] = -(a * b)[::2] * dtype(1 + 1e-6)
    found = fma(a, b, c)
    for x, y, z, result in zip(a, b, c, found, strict=True):
        assert result == rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), dtype)


def test_fma_at_the_ends_of_the_range() -> None:
    tiny, huge = 5e-324, 1.7976931348623157e308
    a = np.array([tiny, huge, huge, -0.0, 0.0, 2.0**-540, huge, huge, 1.0])
    b = np.array([0.5, 2.0, 2.0, 1.0, -1.0, 2.0**-540, huge, 0.5, np.nan])
    c = np.array([tiny, -huge, 0.0, 0.0, -0.0, tiny, -np.inf, np.inf, 1.0])
    expected = np.array([2 * tiny, huge, np.inf, 0.0, -0.0, tiny, -np.inf, np.inf, np.nan])
    with np.errstate(all="ignore"):
        found = fma(a, b, c)
    assert np.array_equal(found, expected, equal_nan=True) and np.array_equal(np.signbit(found), np.signbit(expected))


def test_fma_with_zeros_is_plain_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges of moments meet many zeros, and exact arithmetic takes microseconds for each."""
    rng = np.random.default_rng(5)
    a, b, c = (np.where(rng.random(3000) < 0.5, rng.choice([0.0, -0.0], 3000), rng.normal(size=3000)) for _ in range(3))
    exact, seen = fused._exactly, list[float]()
    monkeypatch.setattr(fused, "_exactly", lambda *given: seen.append(given[0]) or exact(*given))
    found = fma(a, b, c)
    expected = [exact(*map(float, given)) for given in zip(a, b, c, a * b + c, strict=True)]
    assert found.tobytes() == np.array(expected).tobytes() and not seen


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_native_code_has_these_bits(dtype: str) -> None:
    rng = np.random.default_rng(4)
    specials = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-30, 1e30])
    re, im = (m.ravel() for m in np.meshgrid(specials, specials))
    odd = np.empty(re.size, dtype)
    odd.real, odd.imag = re, im
    x = np.concatenate([odd.repeat(odd.size), (rng.normal(size=500) + 1j * rng.normal(size=500)).astype(dtype)])
    y = np.concatenate([np.tile(odd, odd.size), (rng.normal(size=500) + 1j * rng.normal(size=500)).astype(dtype)])
    found = weft.jit(lambda x, y: (x * y, x / y, np.square(x), np.reciprocal(x)))(x, y)
    with np.errstate(all="ignore"):
        expected = complexes.multiply(x, y), complexes.divide(x, y), complexes.square(x), complexes.reciprocal(x)
    for a, b in zip(found, expected, strict=True):
        for part, other in ((a.real, b.real), (a.imag, b.imag)):
            assert np.array_equal(part, other, equal_nan=True)
            assert np.array_equal(np.signbit(part[~np.isnan(part)]), np.signbit(other[~np.isnan(other)]))


def test_factors_keep_their_order() -> None:
    rng = np.random.default_rng(5)
    x, y = (rng.normal(size=300) + 1j * rng.normal(size=300) for _ in range(2))
    found = weft.jit(lambda x, y: (x * y, y * x, (2 + 1j) * x, x * (2 + 1j)))(x, y)
    pairs = ((x, y), (y, x), (2 + 1j, x), (x, 2 + 1j))
    for result, (a, b) in zip(found, pairs, strict=True):
        assert np.array_equal(result, complexes.multiply(a, b))
    assert not np.array_equal(found[0], found[1])

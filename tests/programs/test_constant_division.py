"""Test divisions of single numbers by constants: a product and an FMA must give the bits of a division."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import weft
from weft.backends.llvm.code.text import Emitter, Val, number
from weft.backends.llvm.math.constant_division import _reciprocal, divide


def quotients(x, places, y):
    for i in range(x.shape[0]):
        k = places[i]  # so that steps are in order, one number at a time
        y[k, 0] = x[i] / 9.0
        y[k, 1] = x[i] / -3.0
        y[k, 2] = x[i] / 0.75
        y[k, 3] = x[i] / 1000.0
        y[k, 4] = x[i] / 65535.0
        y[k, 5] = x[i] / 0.1


def test_single_numbers_divided_by_constants() -> None:
    rng, jitted = np.random.default_rng(7), weft.jit(quotients, whole=True)
    for dtype, integer, n in ((np.float64, np.uint64, 50_000), (np.float32, np.uint32, 50_000)):
        bits = rng.integers(0, np.iinfo(integer).max, n, integer, endpoint=True)
        limits = np.finfo(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, -limits.max, limits.tiny, limits.smallest_subnormal]
        near = [s * 2.0**k for k in (-801, -800, -799, -61, -60, -59, 0) for s in (1, 3, 9, -27)]
        with np.errstate(all="ignore"):
            more = [rng.normal(size=n), np.arange(5000), special, near]
            x = np.concatenate([bits.view(dtype), *(np.array(part).astype(dtype) for part in more)])
        found = np.empty((len(x), 6), dtype)
        jitted(x, np.arange(len(x)), found)
        with np.errstate(all="ignore"):
            divisors = np.array([9.0, -3.0, 0.75, 1000.0, 65535.0, 0.1], dtype)
            wanted = x[:, None] / divisors
        same = (found.view(integer) == wanted.view(integer)) | (np.isnan(found) & np.isnan(wanted))
        assert same.all(), (dtype, x[~same.all(axis=1)][:5])


def test_the_hardest_dividends() -> None:
    """Quotients next to the middle of two floats round correctly: the exact value before the last rounding does."""
    for divisor in (3.0, 9.0, 7.0, 1e6 + 3, 2.0**32 - 1, 0.375):
        parts = _reciprocal("double", Val(number("double", divisor), "double", 0))
        assert parts is not None
        high, low = map(Fraction, parts)
        odd = Fraction(divisor).numerator // (Fraction(divisor).numerator & -Fraction(divisor).numerator)
        for middle in range(2**53 + 1, 2**53 + 400, 2):  # twice a quotient, with one bit more than floats have
            for rest in (-1, 1):
                x = float(math.floor(Fraction(middle * odd + rest, 1) / 2))
                before = Fraction(x) * high + Fraction(x * float(low))
                assert float(before) == x / divisor, (x, divisor)


def test_which_constants() -> None:
    """Powers of two, long fractions and vectors are divided."""
    for elem, value in (("double", 0.1), ("double", 2.0), ("double", 3.0 * 2.0**200), ("float", 65537.0 * 3)):
        constant = struct.unpack("<f", struct.pack("<f", value))[0] if elem == "float" else value
        assert _reciprocal(elem, Val(number(elem, constant), elem, 0)) is None, value
    for x, y in ((Val("%x", "double", 8), Val("splat (double 0x4008)", "double", 8)), (Val("%x", "double", 0),) * 2):
        e = Emitter()
        divide(e, x, y)
        assert [line.split()[2] for line in e.lines] == ["fdiv"]

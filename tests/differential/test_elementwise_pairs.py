"""Test ufuncs of two operands on every pair of dtypes: NumPy's promotion, results and errors.

One kernel for each ufunc takes an array of every dtype and returns the results of all pairs that NumPy accepts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

from .arrays import specials
from .comparing import Array, same
from .ufuncs import DISTINCT, REAL, accepted

CHEAP = (np.add, np.multiply, np.less, np.greater_equal, np.equal, np.bitwise_xor, np.logical_and, np.copysign, np.fmax)
COSTLY = (np.floor_divide, np.remainder, np.left_shift, np.true_divide, np.ldexp, np.gcd, np.subtract)
BINARY = tuple(f for f in DISTINCT if f.nin == 2)


def arrays(size: int) -> dict[str, Array]:
    """Make an array of special numbers for each dtype; their periods differ, so that many combinations occur."""
    rng = np.random.default_rng(7)
    return {dtype: rng.permutation(np.resize(specials(dtype), size)) for dtype in REAL}


@pytest.mark.parametrize("ufunc", [*CHEAP, *COSTLY], ids=lambda f: f.__name__)
def test_every_pair(ufunc: np.ufunc) -> None:
    pairs = [(a, b) for a in REAL for b in REAL if a != b and accepted((ufunc,), a, b)]
    given = arrays(120)
    # What is behind a dtype's own loop is tested elsewhere: of the costly ones a third is enough.
    chosen = pairs if ufunc in CHEAP else pairs[::3]

    def every(*x: Any) -> Any:
        of = dict(zip(REAL, x, strict=True))
        return tuple(ufunc(of[a], of[b]) for a, b in chosen)

    def function(
        x0: Any, x1: Any, x2: Any, x3: Any, x4: Any, x5: Any, x6: Any, x7: Any, x8: Any, x9: Any, x10: Any, x11: Any,
        x12: Any,
    ) -> Any:  # fmt: skip
        return every(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12)

    jitted = weft.jit(function)
    with np.errstate(all="ignore"):
        expected = function(*given.values())
    found = jitted(*given.values())
    assert jitted.lower(*given.values()).fallbacks == ()
    for pair, ours, numpys in zip(chosen, found, expected, strict=True):
        try:
            same(ours, numpys, zero_signs=ufunc is not np.fmax)
        except AssertionError as error:
            raise AssertionError(f"{ufunc.__name__} of {pair}: {error}") from error


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda f: f.__name__)
def test_refusals(ufunc: np.ufunc) -> None:
    """Dtypes that NumPy refuses raise a TypeError while the function is traced."""
    given = arrays(3)
    refused = [(a, b) for a in REAL for b in REAL if not accepted((ufunc,), a, b)]
    for a, b in refused[::5]:
        with pytest.raises(TypeError):
            ufunc(given[a], given[b])
        with pytest.raises(weft.errors.TypeProblem):
            weft.jit(lambda x, y: ufunc(x, y)).lower(given[a], given[b])


def test_refusals_of_one_operand() -> None:
    for ufunc in (f for f in DISTINCT if f.nin == 1):
        for dtype in REAL:
            if not accepted((ufunc,), dtype):
                with pytest.raises(weft.errors.TypeProblem):
                    weft.jit(lambda x, f=ufunc: f(x)).lower(specials(dtype))
    for function in (lambda x: -x, lambda x: +x, lambda x: x - x, lambda x: x << 1.5):
        with pytest.raises(TypeError):
            function(np.array([True]))
        with pytest.raises(weft.errors.TypeProblem):
            weft.jit(function).lower(np.array([True]))


def test_signed_and_unsigned_numbers_are_compared_exactly() -> None:
    signed = np.array([-1, 0, 1, 2**63 - 1, -(2**63), 5])
    unsigned = np.array([2**64 - 1, 0, 2**63, 2**63 - 1, 2**63, 5], np.uint64)
    grid = np.meshgrid(signed, unsigned)

    def compared(x: Any, y: Any) -> Any:
        return x < y, x <= y, x == y, x != y, x > y, x >= y, y < x, y <= x, y == x, y != x, y > x, y >= x

    same(weft.jit(compared)(*grid), compared(*grid))

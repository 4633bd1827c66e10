"""Test what the tests of ufuncs leave out: choices, zeros of both signs, powers, scalars."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import pairs, specials
from .comparing import SIZES, agrees, same
from .ufuncs import FLOATS, INTEGERS, REAL

POWERS = ("bool", "int8", "uint16", "int32", "int64", "float32", "float64")


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_of_both_signs(dtype: str) -> None:
    x, y = (np.array(z).astype(dtype) for z in ([0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, 0.0, -0.0]))
    low, high, fewer, more = weft.jit(lambda x, y: (np.minimum(x, y), np.maximum(x, y), np.fmin(x, y), np.fmax(x, y)))(
        x, y
    )
    for found in (low, fewer):
        same(found, np.array([-0.0, -0.0, 0.0, -0.0]).astype(dtype))
    for found in (high, more):
        same(found, np.array([0.0, 0.0, 0.0, -0.0]).astype(dtype))


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
def test_sizes_of_tails(dtype: str) -> None:
    def function(x: Any, y: Any) -> Any:
        return x * y, x < y, np.logical_xor(x, y), x // y if dtype != "bool" else x | y

    jitted = weft.jit(function)
    for size in SIZES:
        agrees(function, *pairs(dtype, dtype, size, size), jitted=jitted)


@pytest.mark.parametrize(("a", "b"), tuple(itertools.product(POWERS, POWERS)))
def test_power(a: str, b: str) -> None:
    x, y = pairs(a, b, 200, 200)
    if np.power.resolve_dtypes((x.dtype, y.dtype, None))[0].kind == "i":
        y = np.where(y < 0, 3, y).astype(b)
    with np.errstate(all="ignore"):
        same(weft.jit(np.power)(x, y), np.power(x, y), ulps=2)


@pytest.mark.parametrize("dtype", REAL)
def test_where(dtype: str) -> None:
    """Test arrays of every dtype as the other choice and as the condition."""
    c, x = np.arange(70) % 3 == 0, pairs(dtype, dtype, 70, 1)[0]
    for other in REAL:
        y = pairs(other, other, 70, 2)[0]

        def choose(c: Any, x: Any, y: Any) -> Any:
            return np.where(c, x, y), np.where(x, y, x)

        jitted = weft.jit(choose)
        try:
            np.result_type(x, y)
        except TypeError:
            with pytest.raises(weft.errors.TypeProblem, match="no common dtype"):
                jitted.lower(c, x, y)
            continue
        assert jitted.lower(c, x, y).fallbacks == ()
        if other in ("uint8", "int64", "float16", dtype):
            agrees(choose, c, x, y, jitted=jitted)


@pytest.mark.parametrize("dtype", REAL)
def test_scalars_and_arrays_of_no_dimension(dtype: str) -> None:
    def mix(x: Any, y: Any) -> Any:
        return x + y, (x < y), np.sqrt(x), abs(x), np.where(x, x, y), np.fmin(x, y)

    jitted = weft.jit(mix)
    for kind in (lambda v: v, np.asarray):
        for number in specials(dtype)[:4]:
            agrees(mix, kind(number), kind(specials(dtype)[1]), jitted=jitted)
    agrees(mix, specials(dtype)[1], specials(dtype), jitted=jitted)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype: str) -> None:
    """Counts of the width or more, and negative ones, shift every bit out."""
    info = np.iinfo(dtype)
    x = np.array([0, 1, info.max, info.min, 5], dtype)
    counts = np.array([0, 1, info.bits - 1, info.bits, info.bits + 1, info.max, info.min], dtype)
    grid = np.meshgrid(x, counts)
    agrees(lambda x, y: (x << y, x >> y, np.left_shift(x, y), np.bitwise_right_shift(x, y)), *grid)
    agrees(lambda x: (x << 1, x >> 1, x << info.bits, x >> info.bits, 1 << x), x)

"""Test every numeric ufunc of NumPy on every dtype that it accepts: native, with NumPy's results bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.dtypes import NATIVE, from_numpy

from .arrays import LAYOUTS, pairs
from .comparing import Array, Everywhere, agrees, same
from .ufuncs import COMPLEX, DISTINCT, EXTREMES, INTEGERS, MATHEMATICAL, REAL, UFUNCS, accepted, together

EXACT = tuple(f for f in DISTINCT if f not in MATHEMATICAL and f not in EXTREMES)
SIZES = (0, 3, 17, 100)
# Every width and every kind of code, for what the others share.
SOME = ("bool", "int8", "uint16", "int64", "float16", "float32")


def operands(a: str, b: str, size: int) -> tuple[Array, Array]:
    """Make special and random numbers; the right operands are not negative, because they may be exponents."""
    x, y = pairs(a, b, size, size)
    return x, np.where(y < 0, y.dtype.type(3), y) if y.dtype.kind == "i" else y


def test_names() -> None:
    assert len(UFUNCS) == 101
    assert {from_numpy(np.dtype(dtype)) for dtype in REAL} == NATIVE
    for name in UFUNCS:
        assert weft.jit(getattr(np, name)) is not None


@pytest.mark.parametrize("dtype", [*REAL, *COMPLEX])
def test_all_are_native(dtype: str) -> None:
    """All of NumPy's ufuncs compile without fallback, under every name."""
    for count in (1, 2):
        args = operands(dtype, dtype, 5)[:count]
        ufuncs = accepted(UFUNCS.values(), *(dtype,) * count)
        assert len(ufuncs) >= (20 if dtype in REAL else 15)
        function = together(ufuncs)
        low = weft.jit(function).lower(*args)
        assert low.fallbacks == ()
        with np.errstate(all="ignore"):
            assert [r.dtype for r in function(*args)] == [v.type.dtype.numpy for v in low.graph.outputs]


@pytest.mark.parametrize("dtype", REAL)
def test_one_operand(dtype: str) -> None:
    """The bits are the same on AVX2 and AVX-512."""
    function = together(accepted(EXACT, dtype))
    for level, kernel in Everywhere(function).kernels.items():
        for size in SIZES:
            agrees(function, _not_zero(operands(dtype, dtype, size)[0]), jitted=kernel)
        if dtype in SOME and level == 3:
            agrees(function, _not_zero(operands(dtype, dtype, 1)[0]), jitted=kernel)
            agrees(function, _not_zero(LAYOUTS["strided"](operands(dtype, dtype, 33)[0])), jitted=kernel)


def _not_zero(x: Array) -> Array:
    """Exclude integer 0, for which NumPy's reciprocal is undefined."""
    x[x == 0] = 1 if x.dtype.kind in "iu" else 0 * x[x == 0]
    return x


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reciprocal_of_zero(dtype: str) -> None:
    found = weft.jit(np.reciprocal)(np.zeros(3, dtype))
    lowest = np.iinfo(dtype).min if dtype in ("int32", "int64") else 0
    same(found, np.full(3, lowest, dtype))


@pytest.mark.parametrize("dtype", REAL)
def test_two_operands(dtype: str) -> None:
    function = together((*accepted(EXACT, dtype, dtype), *_powers(dtype)))
    for level, kernel in Everywhere(function).kernels.items():
        for size in SIZES:
            agrees(function, *operands(dtype, dtype, size), jitted=kernel)
        if dtype in SOME and level == 3:
            x, y = operands(dtype, dtype, 33)
            agrees(function, LAYOUTS["strided"](x), LAYOUTS["negative"](y), jitted=kernel)
            agrees(function, *operands(dtype, dtype, 1), jitted=kernel)


def _powers(dtype: str) -> tuple[np.ufunc, ...]:
    return (np.power,) if np.dtype(dtype).kind in "biu" else ()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers(dtype: str) -> None:
    """Test functions that read parts, add them or compare them; products and functions have separate tests."""
    rounded = (np.multiply, np.divide, np.square, np.reciprocal, np.absolute, np.sign, np.sqrt, *MATHEMATICAL)
    chosen = [f for f in (*EXACT, *EXTREMES) if f not in rounded]
    for count in (1, 2):
        function = together(accepted(chosen, *(dtype,) * count))
        for kernel in Everywhere(function).kernels.values():
            for size in (3, 17, 100):
                args = pairs(dtype, dtype, size, size)[:count]
                with np.errstate(all="ignore"):
                    same(kernel(*args), function(*args), zero_signs=count == 1)


@pytest.mark.parametrize("dtype", REAL)
def test_smaller_and_larger(dtype: str) -> None:
    function = together(EXTREMES)
    jitted = weft.jit(function)
    for size in (17, 100, 1025):
        x, y = pairs(dtype, dtype, size, size)
        with np.errstate(all="ignore"):
            same(jitted(x, y), function(x, y), zero_signs=False)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint32", "float16", "bfloat16", "float32", "float64"])
def test_mathematical_functions_are_near(dtype: str) -> None:
    """NaN, infinities and zeros are NumPy's; other results are within NumPy's own error."""
    for count in (1, 2):
        function = together(accepted(MATHEMATICAL.difference(_powers(dtype)), *(dtype,) * count))
        args = operands(dtype, dtype, 100)[:count]
        with np.errstate(all="ignore"):
            expected = function(*args)
        for found, plain in zip(weft.jit(function)(*args), expected, strict=True):
            assert found.dtype == plain.dtype
            rare = ~np.isfinite(plain) | (plain == 0)
            same(found[rare], plain[rare])
            wide: tuple[Any, ...] = tuple(x.astype(np.float64) for x in (found[~rare], plain[~rare]))
            np.testing.assert_allclose(*wide, rtol={2: 1e-2, 4: 1e-5, 8: 1e-12}[plain.itemsize])

"""Test elementwise functions that consist of several ops against NumPy: values, dtypes, errors, and no fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.frontend.numpy.elementwise import ELEMENTWISE

from .arrays import pairs, random
from .comparing import Array, agrees, same
from .ufuncs import FLOATS, INTEGERS, REAL

STRANGE = np.array([-2.75, np.inf, -np.inf, np.nan, 0.0, -0.0, 3.25, 0.5, 1e300, -1e-310])
Function = Callable[..., Any]


def native(function: Function, *args: Any, ulps: float = 0) -> None:
    """Check that a function gives NumPy's result without a fallback."""
    jitted = weft.jit(function)
    agrees(function, *args, ulps=ulps, jitted=jitted)
    assert jitted.lower(*args).fallbacks == ()


def refused(function: Function, *args: Any) -> None:
    with pytest.raises(Exception) as expected:
        function(*args)
    with pytest.raises(weft.errors.WeftError) as found:
        weft.jit(function)(*args)
    kind = next(k for k in (TypeError, OverflowError, ValueError) if isinstance(expected.value, k))
    assert isinstance(found.value, kind)


def numbers(dtype: str, size: int = 40) -> Array:
    return pairs(dtype, dtype, size, 3)[0]


@pytest.mark.parametrize("dtype", REAL)
def test_rounding(dtype: str) -> None:
    """Decimals are rounded by multiplying and dividing, as in NumPy; beyond an integer's range nothing is defined."""
    x = random(dtype, 40, 1) if dtype in INTEGERS else numbers(dtype)
    if dtype == "bool":
        native(np.round, x)
        refused(lambda x: np.round(x, 1), x)
        return
    native(lambda x: (np.round(x), np.around(x, 1), x.round(3), np.round(x, -1), np.round(x, decimals=-2)), x)
    if dtype in FLOATS:
        native(lambda x: (np.round(x, 30), np.round(x, -30), np.round(x, 400)), x)


def test_rounding_of_scalars_and_complex_numbers() -> None:
    native(lambda x: (np.round(x, 1), x.round(), np.round(x, -1)), np.array(12.345))
    native(lambda x: (np.round(x), np.round(x, -1)), np.array(15))
    native(lambda x: (np.round(x, 1), np.round(x)), np.array([1.25 + 2.55j, complex(np.nan, -np.inf)]))


@pytest.mark.parametrize("dtype", REAL)
def test_numbers_for_what_is_none(dtype: str) -> None:
    native(np.nan_to_num, numbers(dtype))


def test_numbers_for_what_is_none_that_are_given() -> None:
    native(lambda x: np.nan_to_num(x, nan=3, posinf=1.5, neginf=-1e300), STRANGE)
    native(lambda x, k: np.nan_to_num(x, True, k, neginf=np.float32(2)), STRANGE[:-2].astype(np.float32), 7.5)
    native(lambda x, y: np.nan_to_num(x, nan=y, posinf=y), STRANGE, np.arange(10))
    native(np.nan_to_num, np.array(np.nan))
    native(lambda z: np.nan_to_num(z, nan=2.0), np.array([complex(np.nan, 1), complex(-np.inf, np.nan), 2j]))
    refused(lambda x: np.nan_to_num(x, nan=1j), STRANGE)


def test_numbers_for_what_is_none_in_place() -> None:
    def in_place(x: Any) -> Any:
        y = x * 2
        z = np.nan_to_num(y, copy=False, nan=1.0)
        return y, z + 1

    native(in_place, STRANGE)
    changed = STRANGE.copy()
    assert weft.jit(lambda x: np.nan_to_num(x, copy=False))(changed) is changed
    assert np.array_equal(changed, np.nan_to_num(STRANGE))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_limits(dtype: str) -> None:
    x = numbers(dtype)
    low, high = x.dtype.type(2), x.dtype.type(100)
    for function in (
        lambda x, a, b: np.clip(x, a, b),
        lambda x, a, b: (x.clip(3, 50), np.clip(x, None, b), np.clip(x, a, None), np.clip(x, b, a)),
        lambda x, a, b: (np.clip(x, 0, 77), np.clip(x, a_min=1, a_max=b), np.clip(x, min=2, max=9)),
    ):
        with np.errstate(all="ignore"):
            same(weft.jit(function)(x, low, high), function(x, low, high), zero_signs=False)


@pytest.mark.parametrize("low", [-(2**70), -5, 3, 300, 2**40, 2**70])
def test_limits_that_an_array_can_not_reach(low: int) -> None:
    """A Python integer out of bounds is ignored as a limit on its own side, and refused on the other."""
    for dtype in INTEGERS:
        for function in (
            lambda x, k: np.clip(x, k, None), lambda x, k: np.clip(x, None, k), lambda x, k: np.clip(x, k, k),
        ):  # fmt: skip
            x = numbers(dtype)
            try:
                expected = function(x, low)
            except OverflowError:
                with pytest.raises(weft.errors.OverflowProblem):
                    weft.jit(function)(x, low)
                continue
            same(weft.jit(function)(x, low), expected)


def test_limits_of_bools() -> None:
    x = np.array([True, False])
    native(lambda x: (np.clip(x, False, True), np.clip(x, 0, 5), np.clip(x, None, True), np.clip(x, 0.5, 1)), x)
    refused(lambda x: np.clip(x, None, None), x)


def test_selection() -> None:
    x, y = np.arange(-5.0, 6.0), np.arange(11, dtype=np.int8)
    native(lambda x, y: np.select([x < -2, x < 2, y > 8], [x, y, 7]), x, y)
    native(lambda x, y: np.select([x < -2, y > 8], [y, 3], default=2.5), x, y)
    native(lambda x, y: np.select((x > 0, True), (y, x.astype(np.float32)), 1), x, y)
    native(lambda x, y: np.select([x[:, None] > y, x > 0], [x[:, None], y], 9), x, y)
    native(lambda x: np.select([x > 0, x < -1], [x, -x], 5), np.asfortranarray(random("float32", (4, 3), 1)))
    refused(lambda y: np.select([y], [1]), y)
    refused(lambda y: np.select([y > 1], [1, 2]), y)


def test_pieces() -> None:
    x, y = np.arange(-5.0, 6.0), np.arange(-5, 6)
    native(lambda x: np.piecewise(x, [x < 0, x >= 3], [-1, lambda v: v * 2]), x)
    native(lambda x: np.piecewise(x, [x < 0, x > 2], [lambda v: -v, lambda v: np.sqrt(v), 7]), x)
    native(lambda x: np.piecewise(x, [x < 0, x < 2], [lambda v, k: v * k, lambda v, k: v + k], 3), x)
    native(lambda y: np.piecewise(y, [y < 0, y > 3], [2.75, lambda v: v / 2]), y)
    native(lambda y: np.piecewise(y, [y < 0, y < 3, y > 1], [1, 2, 3]), y)
    # Functions that look at other elements, or could fail where they are not asked, are NumPy's to call.
    agrees(lambda x: np.piecewise(x, [x < 0], [lambda v: v - v.sum(), 1]), x)
    agrees(lambda y: np.piecewise(y, [y >= 0], [lambda v: 2**v, lambda v: v]), y)


@pytest.mark.parametrize("dtype", REAL)
def test_parts_and_angles(dtype: str) -> None:
    x = numbers(dtype)
    native(lambda x: (x.real, x.imag, np.real(x), np.imag(x), x.conj(), np.conjugate(x)), x)
    native(lambda x: (np.angle(x), np.angle(x, deg=True)), x, ulps=2)


def test_parts_of_scalars() -> None:
    for x in (np.float32(2.5), np.array(2.5), np.array(3), np.int8(4)):
        native(lambda x: (x.real + 0, np.imag(x), x.imag, np.real_if_close(x) + 0), x)
    for z in (np.complex64(1 + 2j), np.array(1 - 2j), np.array([1 + 2j, -3j])):
        native(lambda z: (z.real + 0, np.imag(z) + 0, np.conj(z), z.conj(), np.angle(z)), z, ulps=2)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
def test_cardinal_sine(dtype: str) -> None:
    x = random(dtype, 50, 2)
    x[:4] = np.array([0, 1, 0, 1]).astype(dtype)
    native(np.sinc, x, ulps=2)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64"])
def test_powers_with_known_exponents(dtype: str) -> None:
    """The operator and the function differ: for the operator NumPy looks at a Python number before dtypes."""
    x = numbers(dtype) if dtype in FLOATS else random(dtype, 40, 1)

    def function(x: Any) -> Any:
        whole = (x**2, np.power(x, 2), x**2.0, np.square(x), np.float_power(x, 2), np.float_power(x, 1))
        return (*whole, x**0.5, x**0, x**1)

    native(function, x)
    native(lambda x: (np.power(x, 0.5), np.float_power(x, 0.5)), x, ulps=1)
    if np.dtype(dtype).kind in "bi":
        refused(lambda x: x**-1, x)
        refused(lambda x: np.power(x, -2), x)
    elif dtype in INTEGERS:
        with pytest.raises(weft.errors.OverflowProblem):
            weft.jit(lambda x: x**-1)(x)
    else:
        native(lambda x: (x**-1, x**-1.0), x)


def test_negative_exponents_among_many() -> None:
    power = weft.jit(np.power)
    for dtype in ("int8", "int32", "int64"):
        x = np.arange(1, 40, dtype=dtype)
        with pytest.raises(ValueError, match="negative integer powers"):
            power(x, np.where(x == 38, -1, 2).astype(dtype))
        same(power(x[:0], x[:0] - np.dtype(dtype).type(5)), x[:0])


def test_division_of_smallest_numbers() -> None:
    for dtype in ("int8", "int16", "int32", "int64"):
        low = np.full(40, np.iinfo(dtype).min, dtype)
        x, y = low, np.resize(np.array([-1, 0, 1, 2, -2, np.iinfo(dtype).min], dtype), 40)
        native(lambda x, y: (x // y, x % y, np.fmod(x, y), *np.divmod(x, y), np.gcd(x, y), np.lcm(x, y), abs(x)), x, y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_scaling_by_powers_of_two(dtype: str) -> None:
    """Results are rounded once, from the largest number to the smallest and beyond."""
    x, rng = np.repeat(numbers(dtype), 40), np.random.default_rng(8)
    powers = rng.integers(-2200, 2200, x.size)
    powers[::2] //= 16
    # Small numbers with all their digits that become subnormal, where a factor in between may not round.
    x[::4] = np.ldexp(random("float64", x[::4].size, 5) * np.pi, -rng.integers(0, 50, x[::4].size)).astype(dtype)
    powers[::4] = {"float64": -1015, "float32": -120, "bfloat16": -120}.get(dtype, -10) - rng.integers(
        0, 30, x[::4].size
    )
    for power in (powers, powers.astype(np.int16), powers * 2**40):
        native(np.ldexp, x, power)


def test_quotient_and_remainder_are_computed_once() -> None:
    x, y = np.arange(-20, 20), np.arange(1, 41)
    together = weft.jit(lambda x, y: (x // y, x % y)).lower(x, y).llvm()
    apart = weft.jit(lambda x, y: (x // y, y % x)).lower(x, y).llvm()
    assert 2 * together.count("sdiv") == apart.count("sdiv") > 0


def test_ufuncs_that_are_told_a_dtype() -> None:
    i, f = np.arange(-3, 4, dtype=np.int32), np.linspace(-2, 2, 7)
    native(lambda i: (np.add(i, i, dtype=np.float64), np.divide(i, 3, dtype="f4"), np.multiply(i, 2.5, dtype="f2")), i)
    native(lambda f: (np.add(f, f, dtype=np.float32), np.add(f, 1.5, dtype=int, casting="unsafe")), f)
    native(lambda f: (np.negative(f > 0, dtype="i1"), np.sqrt(f > 0, dtype="f8"), np.equal(f, 1, dtype=bool)), f)
    native(lambda i: np.add(i, i, casting="no"), i)
    for function in (
        lambda i, f: np.add(f, f, dtype=int), lambda i, f: np.add(i, f, casting="no"),
        lambda i, f: np.less(i, f, dtype=float),
    ):  # fmt: skip
        refused(function, i, f)


def test_every_function_is_tried() -> None:
    """All elementwise functions that are not ufuncs are tested in this file, or in a neighbouring one."""
    others = {name for name in ELEMENTWISE if not isinstance(getattr(np, name, None), np.ufunc)}
    here = {"round", "nan_to_num", "clip", "select", "real", "imag", "real_if_close", "angle", "sinc"}
    assert others == here | {"where", "astype"} | {"erf", "erfc", "expit", "logit"}

"""Every elementwise op on every pair of native dtypes, at special values and at all sizes of tails."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import pairs, specials
from .comparing import NATIVE, SIZES, agrees, same

ARITHMETIC = (np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder)
ORDER = (np.minimum, np.maximum)
COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
LOGIC = (np.logical_and, np.logical_or, np.logical_xor)
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift)
UNARY = (
    np.negative, np.positive, np.absolute, np.sign, np.square, np.reciprocal, np.floor, np.ceil, np.trunc,
    np.rint, np.logical_not, np.invert, np.isnan, np.isinf, np.isfinite, np.sqrt,
)  # fmt: skip
MATH = (np.exp, np.log, np.tanh, np.sin, np.cos)
PAIRS = tuple(itertools.product(NATIVE, NATIVE))


def fitting(ufuncs: tuple[np.ufunc, ...], *dtypes: str) -> tuple[np.ufunc, ...]:
    """The functions that NumPy has for these dtypes and that give one of ours."""
    found = []
    for ufunc in ufuncs:
        try:
            result = ufunc.resolve_dtypes((*map(np.dtype, dtypes), None))[-1]
        except TypeError:
            continue
        if result.name in NATIVE:
            found.append(ufunc)
    return tuple(found)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_two_operands(a: str, b: str) -> None:
    ufuncs = fitting((*ARITHMETIC, *COMPARISONS, *LOGIC, *BITS), a, b)

    def every(x: Any, y: Any) -> Any:
        return tuple(f(x, y) for f in ufuncs)

    jitted = weft.jit(every)
    for size in SIZES if a == b else (0, 3, 33, 1025):
        agrees(every, *pairs(a, b, size, size), jitted=jitted)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_smaller_and_larger(a: str, b: str) -> None:
    """The sign of a zero chosen between two zeros is ours."""

    def every(x: Any, y: Any) -> Any:
        return np.minimum(x, y), np.maximum(x, y)

    jitted = weft.jit(every)
    for size in (1, 17, 1025):
        x, y = pairs(a, b, size, size)
        same(jitted(x, y), every(x, y), zero_signs=False)


def test_zeros_of_both_signs() -> None:
    x, y = (np.array([0.0, -0.0, 0.0, -0.0]), np.array([-0.0, 0.0, 0.0, -0.0]))
    low, high = weft.jit(lambda x, y: (np.minimum(x, y), np.maximum(x, y)))(x, y)
    same(low, np.array([-0.0, -0.0, 0.0, -0.0]))
    same(high, np.array([0.0, 0.0, 0.0, -0.0]))


@pytest.mark.parametrize("a", NATIVE)
def test_one_operand(a: str) -> None:
    ufuncs = fitting(UNARY, a)

    def every(x: Any) -> Any:
        return tuple(f(x) for f in ufuncs)

    jitted = weft.jit(every)
    for size in SIZES:
        agrees(every, pairs(a, a, size)[0], jitted=jitted)
    assert not jitted.lower(specials(a)).fallbacks


@pytest.mark.parametrize("a", NATIVE)
def test_mathematical_functions(a: str) -> None:
    """Within 1 ULP of the true value, which 80 bits give."""
    ufuncs = fitting(MATH, a)

    def every(x: Any) -> Any:
        return tuple(f(x) for f in ufuncs)

    jitted = weft.jit(every)
    for size in (0, 1, 17, 65, 1025):
        x = pairs(a, a, size)[0]
        with np.errstate(all="ignore"):
            for found, ufunc in zip(jitted(x), ufuncs, strict=True):
                assert found.dtype == ufunc(x[:1]).dtype
                same(found, ufunc(x.astype(found.dtype).astype(np.longdouble)).astype(found.dtype), ulps=1)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_power(a: str, b: str) -> None:
    jitted = weft.jit(np.power)
    for size in (1, 33, 1025):
        x, y = pairs(a, b, size, size)
        if np.result_type(a, b).kind == "i":
            y = np.abs(y.astype(np.int64)).astype(y.dtype) % 70 if y.dtype.kind == "i" else y
        with np.errstate(all="ignore"):
            expected = np.power(x, y)
        same(jitted(x, y), expected, ulps=2)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_casts(a: str, b: str) -> None:
    """What does not fit an integer is its smallest value, whatever NumPy's path gives."""

    def convert(x: Any) -> Any:
        return x.astype(b)

    jitted = weft.jit(convert)
    for size in (0, 1, 33, 100):
        x = pairs(a, a, size, size)[0]
        with np.errstate(all="ignore"):
            expected = convert(x)
            if np.dtype(a).kind == "f" and np.dtype(b).kind == "i":
                limit = 2.0 ** (np.dtype(b).itemsize * 8 - 1)
                fits = (x >= -limit) & (x < limit)
                expected = np.where(fits, np.where(fits, x, 0).astype(b), np.iinfo(b).min).astype(b)
        same(jitted(x), expected)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_where(a: str, b: str) -> None:
    def choose(c: Any, x: Any, y: Any) -> Any:
        return np.where(c, x, y), np.where(x, y, x)

    jitted = weft.jit(choose)
    for size in (0, 1, 17, 1025):
        x, y = pairs(a, b, size, size)
        agrees(choose, np.arange(size) % 3 == 0, x, y, jitted=jitted)


@pytest.mark.parametrize("a", NATIVE)
def test_python_numbers_are_weak(a: str) -> None:
    def mix(x: Any, k: Any, f: Any) -> Any:
        return x + k, x * f, x - 2, 3 / (x + 1), x < k, x * True, np.where(x, k, f), np.maximum(x, 2.5)

    jitted = weft.jit(mix)
    for k, f in ((3, 0.1), (-1, 2.5), (2**31 - 1, 1e30), (0, -0.0)):
        agrees(mix, pairs(a, a, 65)[0], k, f, jitted=jitted)
    assert len(jitted.signature_cache) == 1


@pytest.mark.parametrize("a", NATIVE)
def test_scalars_and_arrays_of_no_dimension(a: str) -> None:
    def mix(x: Any, y: Any) -> Any:
        return x + y, (x < y), np.sqrt(x), abs(x), np.where(x, x, y)

    for kind in (lambda v: v, np.asarray):
        for number in specials(a)[:4]:
            agrees(mix, kind(number), kind(specials(a)[1]))
    agrees(mix, specials(a)[1], specials(a))


def test_negative_integer_powers_are_refused() -> None:
    power = weft.jit(np.power)
    x = np.arange(1, 40)
    with pytest.raises(ValueError, match="negative integer powers"):
        power(x, np.where(x == 38, -1, 2))
    with pytest.raises(weft.errors.ValueProblem):
        power(x, -1)
    same(power(x, np.full_like(x, 2)), x**2)
    same(power(x[:0], x[:0] - 5), x[:0])

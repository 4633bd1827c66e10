"""Test Python numbers combined with arrays: of any size, as literals and as arguments; errors as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import pairs, specials
from .comparing import Everywhere, agrees, same
from .ufuncs import INTEGERS, REAL

# As literals in a function, and as an argument `k`, which is a graph's input up to 64 bits and fixed beyond.
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, k: (x + k, k + x),
    "comparisons": lambda x, k: (x < k, k <= x, x == k, k != x),
    "bits": lambda x, k: x & k,
    "quotient": lambda x, k: x / k,
    "larger": lambda x, k: np.maximum(x, k),
    "choice": lambda x, k: (np.where(x, k, x), np.where(x, x, k)),
}
LITERALS = (300, 2**63, 2**64 - 1, 2**80)
NUMBERS = (0, -1, 300, 2**31, 2**62, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 2**80, 10**400)
ARRAYS = {dtype: specials(dtype)[:20] for dtype in ("bool", "int8", "int64", "uint64", "float32")}


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            return function(*args)
        except (OverflowError, TypeError) as error:
            return error


@pytest.mark.parametrize("name", OPERATIONS)
def test_integers_of_any_size(name: str) -> None:
    operation = OPERATIONS[name]
    given = weft.jit(operation)
    for dtype, x in ARRAYS.items():
        for number in NUMBERS:
            expected = outcome(operation, x, number)
            ways = [outcome(given, x, number)]
            if number in LITERALS:
                ways.append(outcome(weft.jit(lambda x: operation(x, number)), x))  # noqa: B023 - called at once
            for found in ways:
                if isinstance(expected, Exception):
                    assert isinstance(found, weft.errors.WeftError), (dtype, number)
                    assert isinstance(found, type(expected)), (dtype, number)
                else:
                    try:
                        same(found, expected, zero_signs=name != "larger")
                    except AssertionError as error:
                        raise AssertionError(f"{dtype} and {number}: {error}") from error


def test_large_numbers_do_not_displace_small_ones() -> None:
    add = weft.jit(lambda x, k: x + k)
    x = np.arange(4, dtype=np.uint64)
    for number in (1, 2**63, 2, 2**64 - 1, 3):
        agrees(lambda x, k: x + k, x, number, jitted=add)
    assert len(add.signature_cache) == 3


@pytest.mark.parametrize("dtype", REAL)
def test_numbers_are_weak(dtype: str) -> None:
    def mix(x: Any, k: Any, f: Any) -> Any:
        return x + k, x * f, x * 2 + 1, 3 / (x + 1), x < k, x * True, np.where(x, k, f), np.maximum(x, 2.5), x // 2.0

    jitted = weft.jit(mix)
    for k, f in ((3, 0.1), (100, 2.5), (0, -0.0), (7, 1e30)):
        agrees(mix, pairs(dtype, dtype, 65)[0], k, f, jitted=jitted)
    assert len(jitted.signature_cache) == 1


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_of_numpy_are_strong(dtype: str) -> None:
    x = pairs(dtype, dtype, 20)[0]
    for scalar in (np.int8(-3), np.uint64(5), np.float32(0.5), np.bool_(True), np.int64(2)):
        agrees(lambda x, s: (x + s, x * s, x < s, np.minimum(x, s)), x, scalar)
        agrees(lambda x, s: (x + s, x * s, x < s, np.minimum(x, s)), x, np.asarray(scalar))
        agrees(lambda x, s=scalar: (x + s, s - x.astype(np.float64), x >= s), x)


def test_complex_numbers_in_order() -> None:
    z = np.array([1 + 2j, 1 - 2j, complex(np.nan, 0), 3j, 0])
    agrees(lambda z, w: (z < w, z >= w, z == w, z != w, np.maximum(z, w), np.sign(z), np.abs(z) > 1), z, z[::-1].copy())
    for ufunc in (np.floor_divide, np.remainder, np.copysign, np.bitwise_and, np.arctan2, np.fmod):
        with pytest.raises(weft.errors.TypeProblem):
            weft.jit(lambda z, f=ufunc: f(z, z)).lower(z)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_known_divisors(dtype: str) -> None:
    """Division by a constant becomes a multiplication; 1, -1 and powers of two have separate code."""
    limits = np.iinfo(dtype)
    x = np.random.default_rng(2).integers(limits.min, limits.max, 300, dtype=dtype, endpoint=True)
    x[:4] = limits.min, limits.max, 0, 1
    for divisor in (1, 7, 64, *(() if dtype[0] == "u" else (-1, -7))):
        function = divided_by(divisor)
        agrees(function, x)
        Everywhere(function).check(x)


def divided_by(divisor: int) -> Callable[[Any], Any]:
    return lambda x: (x // divisor, x % divisor, np.fmod(x, divisor))

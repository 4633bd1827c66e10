"""Test every real mathematical function through the public API: native, NumPy's dtype and special values, and accurate.

`tests/math` measures the functions themselves; here the reference is NumPy in the wider dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

UNARY = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
]  # fmt: skip
BINARY = ("power", "hypot", "arctan2")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 2.0, 1e-8, 100.0]


def numbers(dtype: str) -> Any:
    rng = np.random.default_rng(5)
    spread = rng.standard_normal(300) * np.exp2(rng.integers(-20, 12, 300))
    return np.concatenate([SPECIAL, spread, rng.uniform(-1, 1, 300)]).astype(dtype)


def check(name: str, *args: Any) -> None:
    function = getattr(np, name)
    kernel = weft.jit(_named(function, len(args)))
    got = kernel(*args)
    with np.errstate(all="ignore"):
        plain = function(*args)
        true = function(*(x.astype(np.longdouble) for x in args))
    assert not kernel.lower(*args).fallbacks
    assert got.dtype == plain.dtype and got.shape == plain.shape
    finite = np.isfinite(plain)
    assert np.array_equal(got[~finite], plain[~finite], equal_nan=True)
    assert np.array_equal(np.signbit(got[plain == 0]), np.signbit(plain[plain == 0]))
    error = np.abs(got[finite] - true[finite]) / np.spacing(np.abs(plain[finite]))
    assert error.max() <= 1.0


def _named(function: Any, count: int) -> Any:
    return (lambda x: function(x)) if count == 1 else (lambda x, y: function(x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str) -> None:
    check(name, numbers(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: str) -> None:
    x = numbers(dtype)
    check(name, x, np.random.default_rng(6).permutation(x))


@pytest.mark.parametrize("name", UNARY)
def test_integers_become_f64(name: str) -> None:
    check(name, np.arange(-3, 40))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [3, 4, 5, 7.0, 8])
def test_whole_powers(exponent: float, dtype: str) -> None:
    x = np.concatenate([numbers(dtype), np.array([-1e-310, -1e-200, -1e-20, 1e-44], dtype)])
    got = weft.jit(lambda x: x**exponent)(x)
    with np.errstate(all="ignore"):
        plain, true = x**exponent, x.astype(np.longdouble) ** exponent
    assert np.array_equal(np.signbit(got), np.signbit(plain))
    finite = np.isfinite(plain)
    assert np.array_equal(got[~finite], plain[~finite], equal_nan=True)
    assert (np.abs(got[finite] - true[finite]) / np.spacing(np.abs(plain[finite]))).max() <= 1.0

"""Test functions of scipy.special, which are recognised by name and loops, with stand-in ufuncs and in kernels."""

from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.scipy_meanings import erf, erfc, expit, logit

from .arrays import pairs, random
from .comparing import same
from .standins import library_function, ufunc
from .ufuncs import REAL

SINGLE, DOUBLE = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float), ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def _logit(x: float) -> float:
    if not 0 < x < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(x, math.nan)
    return math.log(x / (1 - x))


FUNCTIONS = {
    "erf": ufunc("erf", *library_function("erf")),
    "erfc": ufunc("erfc", *library_function("erfc")),
    "expit": ufunc("expit", SINGLE(_expit), DOUBLE(_expit)),
    "logit": ufunc("logit", SINGLE(_logit), DOUBLE(_logit)),
}
MEANINGS = {"erf": erf, "erfc": erfc, "expit": expit, "logit": logit}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_stand_ins(name: str) -> None:
    """Stand-ins are native for every dtype that SciPy takes, with its dtypes; `tests/math` measures the errors."""
    function, meaning = FUNCTIONS[name], MEANINGS[name]
    jitted = weft.jit(lambda x: function(x))
    for dtype in REAL:
        x = np.concatenate([pairs(dtype, dtype, 40, 1)[0], random("float64", 60, 2).astype(dtype)])
        with np.errstate(all="ignore"):
            plain = function(x)
            truth = meaning(x.astype(plain.dtype))
        assert jitted.lower(x).fallbacks == ()
        found = jitted(x)
        same(found, truth, ulps=2)
        single = plain.dtype == np.float32
        np.testing.assert_allclose(found, plain, rtol=1e-5 if single else 1e-11, atol=1e-44 if single else 0)
    assert "scipy" not in sys.modules


def test_specials() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 0.5, -1e-320, 1e-320, 2.0, -800.0, 800.0])
    for name, meaning in MEANINGS.items():
        for dtype in (np.float32, np.float64):
            given = x.astype(dtype)
            with np.errstate(all="ignore"):
                expected = meaning(given)
            found = weft.jit(lambda x, name=name: FUNCTIONS[name](x))(given)
            exact = np.isin(expected, (0.0, 1.0, 0.5, -1.0, 2.0)) | ~np.isfinite(expected)
            same(found[exact], expected[exact])


def test_in_kernels() -> None:
    text = "kernel f(x: float[n]) { return erf(x), erfc(x), expit(x), logit(x) }"
    kernel = weft.compile(text).f
    for dtype in (np.float32, np.float64):
        x = random("float64", 50, 4).astype(dtype)
        assert kernel.lower(x).fallbacks == ()
        with np.errstate(all="ignore"):
            same(kernel(x), tuple(meaning(x) for meaning in MEANINGS.values()), ulps=2)
    with pytest.raises(weft.errors.TypeProblem, match="'erf' is not defined for c128"):
        weft.compile("kernel g(x: c128[n]) = erf(x)").g(np.array([1j]))


def test_other_functions_with_these_names() -> None:
    """A name alone is not enough, and NumPy's names mean NumPy's functions."""
    x = random("float64", 20, 1)
    for other in (ufunc("exp", *library_function("erf")), ufunc("erf", None, library_function("erf")[1])):
        jitted = weft.jit(lambda x, f=other: f(x) + 1, static=("f",))
        same(jitted(x, other), other(x) + 1)
        assert len(jitted.lower(x, other).fallbacks) == 1

    def logit(x: Any) -> Any:
        return x * 2

    same(weft.jit(lambda x: logit(x))(x), x * 2)

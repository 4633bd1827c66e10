from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Emitter, Val
from weft.backends.llvm.math.complex_table import COMPLEX
from weft.ir.complexes import FUNCTIONS

from .accuracy import spread, uniform
from .complex_accuracy import check_normwise, check_same_bits, compute, grid, plane, unlike_numpy, whole
from .harness import DTYPES, Array


def nowhere(re: Array, im: Array) -> Array:
    return np.zeros(re.shape, bool)


class Function(NamedTuple):
    """The true function, NumPy's, the largest error of doubles in ULP, and where special values differ from NumPy's."""

    true: Callable[..., Any]
    numpy: Callable[..., Array]
    bound: float
    differs: Callable[[Array, Array], Array] = nowhere


def both_huge(re: Array, im: Array) -> Array:
    """Tell where NumPy's magnitude overflows."""
    return (np.abs(re) > 1e30) & (np.abs(im) > 1e30) & np.isfinite(re) & np.isfinite(im)


def tiny(re: Array, im: Array) -> Array:
    """Tell where NumPy adds 1 and loses the number."""
    return ((np.abs(re) < 1e-30) & (re != 0)) | both_huge(re, im)


def large_angle(re: Array, im: Array) -> Array:
    """Tell where the angle is rounded before it is reduced."""
    return np.isfinite(im) & (np.abs(im) > 1e9)


def underflow(re: Array, im: Array) -> Array:
    """Tell where the square of the imaginary part is too small for its sign to show in NumPy."""
    return (np.abs(re) < 1e-30) & (np.abs(im) < 1e-30)


def true_atanh(z: Any) -> Any:
    """Compute arctanh without mpmath's own function, which loses small numbers."""
    return (mpmath.log1p(z) - mpmath.log1p(-z)) / 2


FUNCTIONS_OF_ONE = {
    "abs": Function(abs, np.abs, 0.8),
    "sign": Function(mpmath.sign, np.sign, 1.5, both_huge),
    "sqrt": Function(mpmath.sqrt, np.sqrt, 0.8),
    "exp": Function(mpmath.exp, np.exp, 1.1),
    "exp2": Function(lambda z: mpmath.power(2, z), np.exp2, 1.1, large_angle),
    "expm1": Function(mpmath.expm1, np.expm1, 1.2, underflow),
    "log": Function(mpmath.log, np.log, 1.0),
    "log2": Function(lambda z: mpmath.log(z) / mpmath.log(2), np.log2, 0.71),
    "log10": Function(mpmath.log10, np.log10, 0.71),
    "log1p": Function(mpmath.log1p, np.log1p, 1.2, tiny),
    "sin": Function(mpmath.sin, np.sin, 1.1),
    "cos": Function(mpmath.cos, np.cos, 1.1),
    "tan": Function(mpmath.tan, np.tan, 1.2),
    "sinh": Function(mpmath.sinh, np.sinh, 1.1),
    "cosh": Function(mpmath.cosh, np.cosh, 1.1),
    "tanh": Function(mpmath.tanh, np.tanh, 1.2),
    "arcsin": Function(mpmath.asin, np.arcsin, 1.5),
    "arccos": Function(mpmath.acos, np.arccos, 1.5),
    "arctan": Function(lambda z: true_atanh(z * 1j) * -1j, np.arctan, 1.4),
    "arcsinh": Function(mpmath.asinh, np.arcsinh, 1.5),
    "arccosh": Function(mpmath.acosh, np.arccosh, 1.5),
    "arctanh": Function(true_atanh, np.arctanh, 1.4),
}


# Floats are computed in double: what is left is half an ULP of each part.
FLOAT_BOUND = 0.71


def results(name: str) -> int:
    return 1 if name == "abs" else 2


def bound(name: str, elem: str) -> float:
    own = FUNCTIONS_OF_ONE[name].bound
    return own if elem == "double" or name == "sign" else min(own, FLOAT_BOUND)


def special_values(elem: str) -> list[float]:
    limits = np.finfo(DTYPES[elem])
    sizes = [0.0, 1.0, float(limits.smallest_subnormal), float(limits.max), np.inf]
    return [*(sign * size for size in sizes for sign in (1, -1)), np.nan]


def test_the_table_has_every_function_that_backends_compute() -> None:
    assert set(COMPLEX) == FUNCTIONS
    assert FUNCTIONS - set(FUNCTIONS_OF_ONE) == {"mul", "div", "square", "reciprocal", "power"}


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS_OF_ONE)
def test_a_function_is_within_its_bound_and_has_the_same_bits_everywhere(name: str, elem: str) -> None:
    function, emit = FUNCTIONS_OF_ONE[name], COMPLEX[name]
    re, im = plane(elem)
    if name == "exp2":
        re, im = (side[~large_angle(re, im)] for side in (re, im))
    check_normwise(emit, function.true, elem, re, im, bound=bound(name, elem), results=results(name))
    specials = grid(elem, special_values(elem), 2)
    everything = (np.concatenate([side, special]) for side, special in zip((re, im), specials, strict=True))
    check_same_bits(emit, elem, *everything, results=results(name))


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS_OF_ONE)
def test_special_values_are_those_of_numpy(name: str, elem: str) -> None:
    function = FUNCTIONS_OF_ONE[name]
    re, im = grid(elem, special_values(elem), 2)
    got = compute(COMPLEX[name], elem, re, im, results=results(name))
    with np.errstate(all="ignore"):
        unlike = unlike_numpy(got, function.numpy(whole(re, im))) & ~function.differs(re, im)
    assert not unlike.any(), f"{[side[unlike] for side in (re, im, *got)]}"
    assert function.differs(re, im).mean() < 0.4


@pytest.mark.parametrize("elem", DTYPES)
def test_the_real_part_of_a_logarithm_is_good_near_the_unit_circle(elem: str) -> None:
    angle, size = uniform("double", -np.pi, np.pi, 300), spread("double", 1e-9, 0.1, 300)
    re, im = (
        np.concatenate(side).astype(DTYPES[elem]) for side in ((np.cos(angle), 1 - size**2 / 2), (np.sin(angle), size))
    )

    def real_part(e: Emitter, re: Val, im: Val) -> tuple[Val, ...]:
        return COMPLEX["log"](e, re, im)[:1]

    check_normwise(real_part, lambda z: mpmath.log(z).real, elem, re, im, bound=1.3, results=1)

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from weft.backends import complexes
from weft.backends.llvm.math.complex_table import COMPLEX

from .accuracy import spread
from .complex_accuracy import check_normwise, check_same_bits, compute, grid, whole
from .harness import DTYPES, Array
from .test_complex_functions import special_values

ARITHMETIC = {
    "mul": (2, complexes.multiply, np.multiply),
    "div": (2, complexes.divide, np.divide),
    "square": (1, complexes.square, np.square),
    "reciprocal": (1, complexes.reciprocal, np.reciprocal),
}


def operands(elem: str, count: int) -> list[Array]:
    """Draw moderate and special parts for each operand."""
    moderate = [spread(elem, 1e-4, 1e4, 2000, seed=k) for k in range(2 * count)]
    special = grid(elem, special_values(elem)[:: 2 if count == 2 else 1], 2 * count)
    return [np.concatenate(sides) for sides in zip(moderate, special, strict=True)]


def check_equal(got: list[Array], expected: Array) -> None:
    for a, b in zip(got, (expected.real, expected.imag), strict=True):
        np.testing.assert_array_equal(a, b)
        numbers = ~np.isnan(b)
        np.testing.assert_array_equal(np.signbit(a[numbers]), np.signbit(b[numbers]))


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_has_the_bits_of_the_stated_formulas(name: str, elem: str) -> None:
    count, formula, _ = ARITHMETIC[name]
    parts = operands(elem, count)
    numbers = [whole(*parts[k : k + 2]) for k in range(0, 2 * count, 2)]
    with np.errstate(all="ignore"):
        check_equal(compute(COMPLEX[name], elem, *parts), formula(*numbers))
    check_same_bits(COMPLEX[name], elem, *parts)


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize("name", ["div", "reciprocal"])
def test_quotients_have_the_bits_of_numpy(name: str, elem: str) -> None:
    """Products have NumPy's bits only if NumPy uses FMA, which depends on the machine and the layout."""
    count, _, ufunc = ARITHMETIC[name]
    parts = operands(elem, count)
    numbers = [whole(*parts[k : k + 2]) for k in range(0, 2 * count, 2)]
    with np.errstate(all="ignore"):
        check_equal(compute(COMPLEX[name], elem, *parts), ufunc(*numbers))


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(
    ("name", "true"), [("mul", lambda a, b: a * b), ("div", lambda a, b: a / b), ("reciprocal", lambda a: 1 / a)]
)
def test_arithmetic_is_accurate(name: str, true: Callable[..., mpmath.mpc], elem: str) -> None:
    count = ARITHMETIC[name][0]
    parts = [spread(elem, 1e-4, 1e4, 300, seed=k) for k in range(2 * count)]
    check_normwise(COMPLEX[name], true, elem, *parts, bound=2.6 if name == "div" else 2.0)


def test_a_product_depends_on_the_order_of_its_factors() -> None:
    parts = [spread("double", 0.1, 10, 200, seed=k) for k in range(4)]
    one_way, other_way = (compute(COMPLEX["mul"], "double", *sides) for sides in (parts, parts[2:] + parts[:2]))
    assert (one_way[0] == other_way[0]).all()
    assert (one_way[1] != other_way[1]).any()

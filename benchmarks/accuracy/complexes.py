"""List the complex functions that are measured, with points from all over the plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

from .formats import Format
from .functions import Function
from .pairs import PairSource, both, whole
from .points import Array, Random, Source, interval, near, patterns, sizes


def plane(parts: PairSource) -> Source:
    """Make complex numbers from two sources of real numbers. Adding `1j * imag` would turn infinities into NaN."""

    def source(rng: Random, count: int) -> Array:
        made = np.empty(count, np.complex128)
        made.real, made.imag = parts(rng, count)
        return made

    return source


def circle(radius: Source) -> Source:
    def source(rng: Random, count: int) -> Array:
        return np.asarray(radius(rng, count) * np.exp(1j * rng.uniform(-np.pi, np.pi, count)))

    return source


def quarter_turns(format: Format) -> Source:
    """Draw numbers near multiples of a quarter turn."""
    apart = sizes(2.0**-format.bits, 0.1)
    return lambda rng, count: np.pi / 2 * rng.integers(-6, 7, count) + apart(rng, count)


def anywhere(format: Format) -> list[Source]:
    """Draw points of moderate size, small size and any size; near the unit circle, 1 and i; near multiples of a quarter
    turn on both axes; and where exponentials are large or overflow."""
    part = format.part
    reach = interval(-1.05 * np.log(part.largest), 1.05 * np.log(part.largest))
    small, turns = sizes(2.0**-part.bits, 0.5), quarter_turns(part)
    return [
        plane(both(patterns(part))),
        plane(both(interval(-4, 4))),
        plane(both(sizes(2.0**-20, 32))),
        plane(both(sizes(part.smallest, 1))),
        circle(near(1.0, part)),
        plane(both(near(1.0, part), small)),
        plane(both(small, near(1.0, part))),
        plane(both(small, turns)),
        plane(both(turns, small)),
        plane(both(reach, interval(-100, 100))),
        plane(both(interval(-100, 100), reach)),
    ]


def powers(format: Format) -> list[PairSource]:
    """Draw bases of any size and near 1, with exponents that are moderate, real, or small integers."""
    part = format.part
    zero: Source = lambda rng, count: np.zeros(count)  # noqa: E731
    moderate, any_base = plane(both(interval(-3, 3))), circle(sizes(2.0**-60, 2.0**60))
    return [
        both(moderate),
        both(plane(both(sizes(2.0**-10, 2.0**10))), plane(both(sizes(2.0**-10, 20)))),
        both(moderate, plane(both(whole(-99, 99), zero))),
        both(moderate, plane(both(interval(-90, 90), zero))),
        both(circle(interval(1, 1)), plane(both(sizes(1, 2.0**16), interval(-20, 20)))),
        both(plane(both(near(1.0, part, 0.1), sizes(2.0**-part.bits, 0.1))), plane(both(sizes(1, 2.0**10)))),
        both(any_base, plane(both(interval(-1, 1), interval(-9, 9)))),
    ]


def is_moderate(x: Array, y: Array) -> Array:
    """Tell whether a power is finite and its angle is at most a million turns; beyond that, quad precision is too
    short.

    Integer powers that overflow, and those of infinities, have the parts that plain products give, as in NumPy.
    """
    product = y.astype(np.complex128) * np.log(x.astype(np.complex128))
    size = np.where((y.imag == 0) & (y.real == np.rint(y.real)), np.abs(product.real), product.real)
    return np.asarray((np.abs(product) < 2.0**20) & (size < np.log(np.finfo(x.dtype).max) - 0.01))


def _true_arctanh(z: Any) -> Any:
    """Compute arctanh by mpmath, but not with its own function, which loses small numbers."""
    return (mpmath.log1p(z) - mpmath.log1p(-z)) / 2


def _unary(name: str, language: str, true: Callable[..., Any]) -> Function:
    return Function(name, language, true, anywhere, is_complex=True)


_TABLE = (
    _unary("exp", "exp", mpmath.exp),
    _unary("log", "log", mpmath.log),
    _unary("sqrt", "sqrt", mpmath.sqrt),
    _unary("sin", "sin", mpmath.sin),
    _unary("cos", "cos", mpmath.cos),
    _unary("tan", "tan", mpmath.tan),
    _unary("asin", "arcsin", mpmath.asin),
    _unary("acos", "arccos", mpmath.acos),
    _unary("atan", "arctan", lambda z: _true_arctanh(z * 1j) * -1j),
    _unary("sinh", "sinh", mpmath.sinh),
    _unary("cosh", "cosh", mpmath.cosh),
    _unary("tanh", "tanh", mpmath.tanh),
    _unary("asinh", "arcsinh", mpmath.asinh),
    _unary("acosh", "arccosh", mpmath.acosh),
    _unary("atanh", "arctanh", _true_arctanh),
    _unary("abs", "abs", abs),
    Function("pow", "power", mpmath.power, lambda format: [], pairs=powers, kept=is_moderate, is_complex=True),
)
COMPLEX_FUNCTIONS: Mapping[str, Function] = {function.name: function for function in _TABLE}

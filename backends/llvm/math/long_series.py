"""Emit a function of a small double to 90 bits, as a sum of two doubles.

The Taylor series is evaluated by Horner's rule. Terms that only matter for the last bits are summed in one double, the
others in two. It serves logarithms that are then multiplied by large exponents.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from ..code.text import Emitter, Val
from .doubledouble import Pair, fast_two_sum, multiply, two_product

# The coefficients of x^2, x^3, ... in exp(x), |x| <= 0.35, and of x^3, x^5, ... and x^2, x^4, ... in the sine and the
# cosine, |x| <= 0.79; the highest power comes first.
EXP = [Fraction(1, factorial(n)) for n in range(20, 1, -1)]
SINE = [Fraction((-1) ** (n // 2), factorial(n)) for n in range(25, 2, -2)]
COSINE = [Fraction((-1) ** (n // 2), factorial(n)) for n in range(24, 1, -2)]
EXP_LONG, SINE_LONG, COSINE_LONG = 9, 6, 6


def _series(e: Emitter, x: Pair, coefficients: Sequence[Fraction], long: int) -> Pair:
    """The polynomial; the last `long` coefficients are added as sums of two doubles."""
    short = [float(c) for c in coefficients[:-long]]
    total = Pair(e.poly(x.high, short), e.zero_like(x.high))
    for c in coefficients[-long:]:
        high = float(c)
        term = multiply(e, total, x)
        high_sum = fast_two_sum(e, e.const_like(x.high, high), term.high)
        low = e.op("fadd", term.low, e.const_like(x.high, float(c - Fraction(high))))
        total = Pair(high_sum.high, e.op("fadd", high_sum.low, low))
    return total


def _plus(e: Emitter, first: Val, rest: Pair) -> Pair:
    """The sum of a value and a smaller pair."""
    total = fast_two_sum(e, first, rest.high)
    return fast_two_sum(e, total.high, e.op("fadd", total.low, rest.low))


def long_expm1(e: Emitter, x: Val) -> Pair:
    """`exp(x) - 1` for `|x| <= 0.35`."""
    series = _series(e, Pair(x, e.zero_like(x)), EXP, EXP_LONG)
    return _plus(e, x, multiply(e, two_product(e, x, x), series))


def long_sincos(e: Emitter, x: Val) -> tuple[Pair, Pair]:
    """The sine and the cosine for `|x| <= 0.79`."""
    square = two_product(e, x, x)
    cube = multiply(e, square, Pair(x, e.zero_like(x)))
    sine = _plus(e, x, multiply(e, cube, _series(e, square, SINE, SINE_LONG)))
    cosine = _plus(e, e.const_like(x, 1.0), multiply(e, square, _series(e, square, COSINE, COSINE_LONG)))
    return sine, cosine

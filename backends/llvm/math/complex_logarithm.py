"""A complex value as parts in, its logarithm out.

`log z = log|z| + i arg z`. The square of `|z|` is a sum of two doubles, which keeps its distance from 1 where that is
small; the logarithm of the square is halved. The rare branch takes sizes whose squares would overflow or underflow.

Infinite and NaN parts give what C99, Annex G, says.
"""

from __future__ import annotations

import math

from ..text import Emitter, Val
from .complex_parts import Parts, through_double
from .complex_root import LIFT, extreme
from .doubledouble import Pair, fast_two_sum, two_product, two_sum
from .inverse_trigonometric import atan2
from .logarithm import log_of_pair

# The logarithm of the factor that brings squares into range, in two parts.
LOG_LIFT = (415.88830833596717, 1.8355172981578424e-14)


@through_double
def log(e: Emitter, re: Val, im: Val) -> Parts:
    """The natural logarithm whose imaginary part is from minus pi to pi."""
    usual = _half_log_of_square(e, re, im)
    return e.rare(extreme(e, re, im), usual, lambda: log_of_extreme(e, re, im)), atan2(e, im, re)


def _half_log_of_square(e: Emitter, re: Val, im: Val) -> Val:
    a, b = e.call("fabs", re), e.call("fabs", im)
    larger = e.fcmp("ogt", a, b)
    long, short = e.select(larger, a, b), e.select(larger, b, a)
    square, small = two_product(e, long, long), two_product(e, short, short)
    total = fast_two_sum(e, square.high, small.high)
    # Near 1 the low parts are the logarithm; they are summed without error until the last.
    low = two_sum(e, square.low, small.low)
    middle = two_sum(e, total.low, low.high)
    total = fast_two_sum(e, total.high, middle.high)
    total = Pair(total.high, e.op("fadd", total.low, e.op("fadd", middle.low, low.low)))
    return e.op("fmul", log_of_pair(e, total, doublings=0), e.const_like(re, 0.5))


def log_of_extreme(e: Emitter, re: Val, im: Val) -> Val:
    """The logarithm of the magnitude of a value whose squares would overflow or underflow, or which is not finite."""
    one, infinity = e.const_like(re, 1.0), e.const_like(re, math.inf)
    a, b = e.call("fabs", re), e.call("fabs", im)
    large = e.op("or", e.fcmp("ogt", a, one), e.fcmp("ogt", b, one))
    factor = e.select(large, e.const_like(re, 1 / LIFT), e.const_like(re, LIFT))
    shift, shift_low = (e.select(large, e.const_like(re, part), e.const_like(re, -part)) for part in LOG_LIFT)
    scaled = _half_log_of_square(e, e.op("fmul", re, factor), e.op("fmul", im, factor))
    result = e.op("fadd", shift, e.op("fadd", scaled, shift_low))
    result = e.select(e.fcmp("oeq", e.op("fadd", a, b), e.zero_like(re)), e.const_like(re, -math.inf), result)
    result = e.select(e.fcmp("uno", a, b), e.const_like(re, math.nan), result)
    infinite = e.op("or", e.fcmp("oeq", a, infinity), e.fcmp("oeq", b, infinity))
    return e.select(infinite, infinity, result)

"""Emit the logistic function and its inverse.

With `u = exp(-|x|)`, `expit x` is `1 / (1 + u)` or, for negative `x`, `u / (1 + u)`: nothing cancels. The exponential
is `2^k` times a sum of two values, and so is `1 + u`, so only the rounding of the quotient counts. Results that are not
normal numbers take the rare branch.

`logit x` is the logarithm of `x / (1 - x)` as a sum of two values. That is accurate near 1/2 too, where the ratio is
near 1.

Largest errors found, in ULP (`float`: all arguments; `double`: over 10**8): expit 0.78 and 0.79, logit 0.95 and 0.93.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .bits import at_most
from .doubledouble import Pair, divide, fast_two_sum
from .exponential import EXP_BOUNDS, EXP_NORMAL
from .hyperbolic import exp_rest, reduce_by_ln_2
from .logarithm import log, log_of_pair
from .scaling import Whole, not_positive_normal, scale, scale_normal


def exp_pair(e: Emitter, x: Val, rest: Val | None = None) -> tuple[Pair, Whole]:
    """`exp(x + rest)` as a sum of two values near 1 and a power of two."""
    reduced = reduce_by_ln_2(e, x, rest)
    near = fast_two_sum(e, e.const_like(x, 1.0), reduced.high)
    total = fast_two_sum(e, near.high, exp_rest(e, reduced))
    return Pair(total.high, e.op("fadd", near.low, total.low)), reduced.power


def one_plus(e: Emitter, mantissa: Pair, power: Val) -> Pair:
    """`1 + power * mantissa`, for a power of two that is at most 1."""
    total = fast_two_sum(e, e.const_like(power, 1.0), e.op("fmul", mantissa.high, power))
    return Pair(total.high, e.fma(mantissa.low, power, total.low))


def expit(e: Emitter, x: Val) -> Val:
    """`1 / (1 + exp(-x))`."""
    negative = e.fcmp("olt", x, e.zero_like(x))
    magnitude = e.call("fabs", x)

    def quotient(size: Val) -> tuple[Val, Whole]:
        mantissa, whole = exp_pair(e, e.fneg(size))
        one, zero = e.const_like(x, 1.0), e.zero_like(x)
        total = one_plus(e, mantissa, scale_normal(e, one, whole))
        above = Pair(e.select(negative, mantissa.high, one), e.select(negative, mantissa.low, zero))
        return divide(e, above, total), whole

    def usual() -> Val:
        value, whole = quotient(magnitude)
        return e.select(negative, scale_normal(e, value, whole), value)

    def beyond() -> Val:
        """Return the exponential for negative numbers, and 1 for positive ones."""
        mantissa, whole = exp_pair(e, e.fneg(at_most(e, magnitude, -EXP_BOUNDS[x.elem][0])))
        small = scale(e, e.op("fadd", mantissa.high, mantissa.low), whole)
        found = e.select(negative, small, e.const_like(x, 1.0))
        return e.select(e.fcmp("uno", x, x), x, found)

    return e.rare(e.fcmp("ugt", magnitude, e.const_like(x, EXP_NORMAL[x.elem])), usual(), beyond)


def logit(e: Emitter, x: Val) -> Val:
    """`log(x / (1 - x))`."""
    one = e.const_like(x, 1.0)
    below = fast_two_sum(e, one, e.fneg(x))
    odds = e.op("fdiv", x, below.high)
    minus = e.fneg(odds)
    rest = e.fma(minus, below.low, e.fma(minus, below.high, x))
    usual = log_of_pair(e, Pair(odds, e.op("fdiv", rest, below.high)), doublings=0)

    def edge() -> Val:
        """Handle subnormal numbers, 0, 1, and numbers outside of [0, 1]."""
        high = e.select(e.fcmp("oeq", x, one), e.const_like(x, math.inf), e.const_like(x, math.nan))
        return e.select(e.fcmp("oge", x, one), high, log(e, x))

    return e.rare(e.op("or", not_positive_normal(e, x), e.fcmp("uge", x, one)), usual, edge)

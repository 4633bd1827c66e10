"""Emit the logarithm of a sum of two exponentials.

Let `m` be the larger argument, and `d` the difference to the smaller one as a sum of two values. Then `log(exp x + exp
y)` is `m + log(1 + exp(-d))`. The logarithm stays a sum of two values, so only the rounding of the last sum counts. If
`m` is negative, that sum may cancel, as in NumPy. `float` is computed in `double`, where less is lost.

Largest errors found where at most half of `m` is lost, in ULP: 0.50 and 0.99.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..code.text import Emitter, Val
from .doubledouble import Pair, two_product, two_sum
from .exponential import EXP_BOUNDS, EXP_NORMAL, exp
from .logarithm import BASE_2, BASE_E, Base, log_terms
from .logistic import exp_pair, one_plus
from .scaling import scale, scale_normal

# ln 2 in two parts.
LN_2 = (0.6931471805599453, 2.3190468138462996e-17)
# Below this log(1 + u) is u - u**2 / 2 + u**3 / 3.
SMALL = 2.0**-20


def logaddexp(e: Emitter, x: Val, y: Val) -> Val:
    """`log(exp(x) + exp(y))`."""
    if x.elem == "float":
        return _in_double(e, logaddexp, x, y)
    larger, gap = _apart(e, x, y)
    added = _or_tiny(e, gap, _log_of_one_plus_exp(e, gap, BASE_E), lambda: exp(e, gap.high))
    return _joined(e, x, y, LN_2[0], _plus(e, larger, added))


def logaddexp2(e: Emitter, x: Val, y: Val) -> Val:
    """`log2(2**x + 2**y)`."""
    if x.elem == "float":
        return _in_double(e, logaddexp2, x, y)
    larger, gap = _apart(e, x, y)
    high, low = (e.const_like(x, part) for part in LN_2)
    scaled = two_product(e, gap.high, high)
    scaled = Pair(scaled.high, e.fma(gap.low, high, e.fma(gap.high, low, scaled.low)))
    added = _log_of_one_plus_exp(e, scaled, BASE_2)

    def tiny() -> Val:
        """Divide the exponential before it becomes subnormal and loses bits."""
        least = e.const_like(x, EXP_BOUNDS[x.elem][0] - 1.0)
        inside = e.fcmp("oge", scaled.high, least)
        mantissa, whole = exp_pair(
            e, e.select(inside, scaled.high, least), e.select(inside, scaled.low, e.zero_like(least))
        )
        return scale(e, e.op("fadd", *_over_ln_2(e, mantissa)), whole)

    return _joined(e, x, y, 1.0, _plus(e, larger, _or_tiny(e, scaled, added, tiny)))


def _in_double(e: Emitter, function: Callable[[Emitter, Val, Val], Val], x: Val, y: Val) -> Val:
    return e.cast("fptrunc", function(e, e.cast("fpext", x, "double"), e.cast("fpext", y, "double")), "float")


def _apart(e: Emitter, x: Val, y: Val) -> tuple[Val, Pair]:
    """Return the larger number, and the smaller one minus it."""
    first = e.fcmp("ogt", x, y)
    larger, smaller = e.select(first, x, y), e.select(first, y, x)
    return larger, two_sum(e, smaller, e.fneg(larger))


def _log_of_one_plus_exp(e: Emitter, gap: Pair, bases: Mapping[str, Base]) -> Pair:
    """Return the logarithm in any base of `1 + exp(gap)`, where the exponential is a normal number."""
    one = e.const_like(gap.high, 1.0)
    mantissa, whole = exp_pair(e, gap.high, gap.low)
    power = scale_normal(e, one, whole)
    total = one_plus(e, mantissa, power)
    # Added to 1, a small exponential would be rounded, and then once more in the sum with the larger number.
    u, rest = e.op("fmul", mantissa.high, power), e.op("fmul", mantissa.low, power)
    factor = e.op("fmul", u, e.fma(u, e.const_like(u, 1 / 3), e.const_like(u, -0.5)))
    series = Pair(u, e.fma(factor, u, rest))
    small = e.fcmp("olt", u, e.const_like(u, SMALL))
    scaled = series if bases is BASE_E else _over_ln_2(e, series)
    both = zip(scaled, log_terms(e, total, 0, bases), strict=True)
    return Pair(*(e.select(small, *terms) for terms in both))


def _over_ln_2(e: Emitter, x: Pair) -> Pair:
    high, low = (e.const_like(x.high, part) for part in BASE_2[x.high.elem].of_e)
    product = two_product(e, x.high, high)
    return Pair(product.high, e.fma(x.low, high, e.fma(x.high, low, product.low)))


def _or_tiny(e: Emitter, gap: Pair, usual: Pair, tiny: Callable[[], Val]) -> Pair:
    """Return `usual`, or `tiny` if the exponential of the gap may be subnormal."""
    wide = e.fcmp("ugt", e.call("fabs", gap.high), e.const_like(gap.high, EXP_NORMAL[gap.high.elem]))
    return Pair(*e.rare_all(wide, usual, lambda: [tiny(), e.zero_like(gap.high)]))


def _plus(e: Emitter, larger: Val, added: Pair) -> Val:
    """Return the sum of three terms, or the first one alone if it is infinite."""
    total = two_sum(e, larger, added.high)
    infinite = e.fcmp("oeq", larger, e.const_like(larger, math.inf))
    return e.select(infinite, larger, e.op("fadd", total.high, e.op("fadd", total.low, added.low)))


def _joined(e: Emitter, x: Val, y: Val, of_two: float, usual: Val) -> Val:
    """Add the logarithm of 2 to equal numbers, including infinities; NaN wins."""
    doubled = e.op("fadd", x, e.const_like(x, of_two))
    return e.select(e.fcmp("uno", x, y), e.op("fadd", x, y), e.select(e.fcmp("oeq", x, y), doubled, usual))

"""Emit the complex exponential.

`exp(x + iy) = exp(x) (cos y + i sin y)`. All three factors are sums of two doubles, so little more than the last
rounding is lost. `exp2` has the angle `y ln 2`. The real part of `expm1` is `expm1(x) cos y + (cos y - 1)`, whose terms
only cancel if the imaginary part is far larger. The rare branch handles infinite and NaN `x`, and factors `exp(x)` that
are not normal numbers, although the product may be.

Infinite and NaN parts give what C99, Annex G, prescribes. For `expm1` they give what NumPy's formula gives: the
imaginary part is NaN if `exp(x)` overflows and `y` is 0. The angle of `exp2` is rounded from `2**52` on; NumPy always
rounds it.

Largest errors of `double` found over 4 * 10**6 points each, in ULP of the magnitude: exp 1.07, exp2 0.89, expm1 1.16.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..code.text import Emitter, Val
from .complex_parts import Parts, through_double
from .doubledouble import Pair, add, fast_two_sum, multiply, product, rounded, two_product, two_sum
from .hyperbolic import exp_rest, reduce_by_ln_2
from .scaling import clamp, far_steps, nearest_whole, scale_normal
from .sincos import Circular, sincos

# Up to the first bound the power is a normal number. Beyond the second, even its product with the smallest number is
# infinite, or its product with 1 is zero.
NORMAL, BOUND = 707.0, 1500.0
NORMAL_2, BOUND_2 = 1020.0, 2200.0
LN_2 = (0.6931471805599453, 2.3190468138462996e-17)
# From here on the low part of an angle could be more than a quarter turn.
LARGE_ANGLE = 2.0**52
# From here on exp(x) overflows.
OVERFLOW = {"float": 88.72284, "double": 709.782712893384}

Power = tuple[Pair, Val]


def exp_near_one(e: Emitter, x: Val, rest: Val | None = None) -> Power:
    """`exp(x + rest)` as a sum near 1 and the exponent of a power of two."""
    reduced = reduce_by_ln_2(e, x, rest)
    first = fast_two_sum(e, e.const_like(x, 1.0), reduced.high)
    return fast_two_sum(e, first.high, e.op("fadd", first.low, exp_rest(e, reduced))), reduced.power.value


def _exp2_near_one(e: Emitter, x: Val) -> Power:
    """`2**x` as a sum near 1 and the exponent of a power of two."""
    whole = nearest_whole(e, x)
    near, power = exp_near_one(e, *_times_ln_2(e, e.op("fsub", x, whole.value)))
    return near, e.op("fadd", power, whole.value)


def _times_ln_2(e: Emitter, x: Val) -> Pair:
    high, low = two_product(e, x, e.const_like(x, LN_2[0]))
    return Pair(high, e.fma(x, e.const_like(x, LN_2[1]), low))


def turned(e: Emitter, size: Pair, circle: Circular) -> Parts:
    """Return a number with this magnitude and angle."""
    sine = circle.sine
    # The product of zeros would lose the sign.
    return product(e, size, circle.cosine), e.call("copysign", product(e, size, sine), sine.high)


def near_exp(e: Emitter, power: Power, circle: Circular) -> Parts:
    """Return a power that is a normal number, in the direction of an angle."""
    near, exponent = power
    size = scale_normal(e, e.const_like(exponent, 1.0), nearest_whole(e, exponent))
    return turned(e, _scaled(e, near, size), circle)


def far_exp(e: Emitter, power: Power, circle: Circular, halvings: int = 0) -> Parts:
    """Return a power of any size, halved this many times, in the direction of an angle."""
    near, exponent = power
    first, *others = far_steps(e, e.op("fsub", exponent, e.const_like(exponent, float(halvings))))
    real, imaginary = turned(e, _scaled(e, near, first), circle)
    for factor in others:
        real, imaginary = e.op("fmul", real, factor), e.op("fmul", imaginary, factor)
    return real, imaginary


def _scaled(e: Emitter, x: Pair, factor: Val) -> Pair:
    return Pair(e.op("fmul", x.high, factor), e.op("fmul", x.low, factor))


@through_double
def exp(e: Emitter, re: Val, im: Val) -> Parts:
    """e to the power of a complex value."""
    return turned_power(e, re, im, sincos(e, im), lambda x: exp_near_one(e, x), NORMAL, BOUND)


@through_double
def exp2(e: Emitter, re: Val, im: Val) -> Parts:
    """2 to the power of a complex value."""
    circle = sincos(e, *small_rest(e, _times_ln_2(e, im)))
    return turned_power(e, re, im, circle, lambda x: _exp2_near_one(e, x), NORMAL_2, BOUND_2)


def small_rest(e: Emitter, angle: Pair) -> Pair:
    """Drop the low part of a large angle, so that it is always less than 1."""
    large = e.fcmp("ogt", e.call("fabs", angle.high), e.const_like(angle.high, LARGE_ANGLE))
    return Pair(angle.high, e.select(large, e.zero_like(angle.low), angle.low))


def turned_power(
    e: Emitter, re: Val, im: Val, circle: Circular, power: Callable[[Val], Power], normal: float, bound: float
) -> Parts:
    """Return the power of `re` in the direction of an angle, which is 0, infinite or NaN exactly if `im` is."""

    def beyond() -> Parts:
        real, imaginary = far_exp(e, power(clamp(e, re, -bound, bound)), circle)
        endless = e.fcmp("uno", circle.sine.high, circle.sine.high)
        zero, infinity = e.zero_like(re), e.const_like(re, math.inf)
        vanishing = e.op("and", endless, e.fcmp("oeq", re, e.const_like(re, -math.inf)))
        real = e.select(vanishing, zero, e.select(e.op("and", endless, e.fcmp("oeq", re, infinity)), re, real))
        imaginary = e.select(vanishing, e.call("copysign", zero, im), imaginary)
        return real, e.select(e.fcmp("oeq", im, zero), im, imaginary)

    outside = e.fcmp("ugt", e.call("fabs", re), e.const_like(re, normal))
    return tuple(e.rare_all(outside, near_exp(e, power(re), circle), beyond))


def expm1(e: Emitter, re: Val, im: Val) -> Parts:
    """Return `exp(z) - 1`, accurate near 0 too."""
    real, imaginary = _expm1(e, re, im)
    overflow = e.fcmp("ogt", re, e.const_like(re, OVERFLOW[re.elem]))
    undefined = e.op("and", overflow, e.fcmp("oeq", im, e.zero_like(im)))
    return real, e.select(undefined, e.const_like(im, math.nan), imaginary)


@through_double
def _expm1(e: Emitter, re: Val, im: Val) -> Parts:
    circle, one = sincos(e, im), e.const_like(re, 1.0)
    power = exp_near_one(e, re)
    growth = multiply(e, _growth(e, re), circle.cosine)
    real = rounded(e, add(e, growth, circle.less_one))
    # Sums of opposite zeros lose the sign.
    real = e.select(e.fcmp("oeq", real, e.zero_like(re)), e.call("copysign", real, re), real)

    def beyond() -> Parts:
        real, imaginary = far_exp(e, exp_near_one(e, clamp(e, re, -BOUND, BOUND)), circle)
        return e.op("fsub", real, one), imaginary

    outside = e.fcmp("ugt", e.call("fabs", re), e.const_like(re, NORMAL))
    return tuple(e.rare_all(outside, (real, near_exp(e, power, circle)[1]), beyond))


def _growth(e: Emitter, x: Val) -> Pair:
    """`exp(x) - 1` of a real value, as `2**k - 1 + 2**k (exp(r) - 1)`."""
    reduced = reduce_by_ln_2(e, x)
    rest = fast_two_sum(e, reduced.high, exp_rest(e, reduced))
    one = e.const_like(x, 1.0)
    size = scale_normal(e, one, reduced.power)
    less = e.op("fsub", size, one)
    lost = e.op("fsub", e.op("fsub", size, less), one)
    total = two_sum(e, less, e.op("fmul", size, rest.high))
    return fast_two_sum(e, total.high, e.fma(size, rest.low, e.op("fadd", total.low, lost)))

"""A complex value as parts in, its exponential out.

`exp(x + iy) = exp(x) (cos y + i sin y)`, where all three factors are sums of two doubles, so that little more than the
last rounding is lost. The rare branch takes results whose factor `exp(x)` is not a normal number, though the product
may be, and infinite or undefined `x`.

Infinite and NaN parts give what C99, Annex G, says.
"""

from __future__ import annotations

import math

from ..text import Emitter, Val
from .complex_parts import Parts, through_double
from .doubledouble import Pair, fast_two_sum, product
from .hyperbolic import exp_rest, reduce_by_ln_2
from .scaling import Whole, clamp, far_steps, scale_normal
from .sincos import Circular, sincos

# Below this magnitude exp(x) is a normal number; beyond the second even its product with the smallest number is
# infinite, and that with 1 is zero.
NORMAL, BOUND = 707.0, 1500.0


def exp_near_one(e: Emitter, x: Val, rest: Val | None = None) -> tuple[Pair, Whole]:
    """`exp(x + rest)` as a sum near 1 and a power of two."""
    reduced = reduce_by_ln_2(e, x, rest)
    first = fast_two_sum(e, e.const_like(x, 1.0), reduced.high)
    return fast_two_sum(e, first.high, e.op("fadd", first.low, exp_rest(e, reduced))), reduced.power


def turned(e: Emitter, size: Pair, circle: Circular) -> Parts:
    """A positive size in the direction of an angle."""
    sine = circle.sine
    # The product of zeros would lose the sign.
    return product(e, size, circle.cosine), e.call("copysign", product(e, size, sine), sine.high)


def scaled(e: Emitter, x: Pair, factor: Val) -> Pair:
    """A sum times a power of two."""
    return Pair(e.op("fmul", x.high, factor), e.op("fmul", x.low, factor))


def far_exp(e: Emitter, x: Val, circle: Circular, halvings: int = 0) -> Parts:
    """`exp(x)`, halved as often as said, in the direction of an angle, for any `x` at all."""
    near, power = exp_near_one(e, clamp(e, x, -BOUND, BOUND))
    first, *others = far_steps(e, e.op("fsub", power.value, e.const_like(x, float(halvings))))
    real, imaginary = turned(e, scaled(e, near, first), circle)
    for factor in others:
        real, imaginary = e.op("fmul", real, factor), e.op("fmul", imaginary, factor)
    return real, imaginary


@through_double
def exp(e: Emitter, re: Val, im: Val) -> Parts:
    """e to the power of a complex value."""
    circle = sincos(e, im)
    near, power = exp_near_one(e, re)
    usual = turned(e, scaled(e, near, scale_normal(e, e.const_like(re, 1.0), power)), circle)

    def beyond() -> Parts:
        real, imaginary = far_exp(e, re, circle)
        endless = e.fcmp("uno", circle.sine.high, circle.sine.high)
        zero, infinity = e.zero_like(re), e.const_like(re, math.inf)
        vanishing = e.op("and", endless, e.fcmp("oeq", re, e.const_like(re, -math.inf)))
        real = e.select(vanishing, zero, e.select(e.op("and", endless, e.fcmp("oeq", re, infinity)), re, real))
        imaginary = e.select(vanishing, e.call("copysign", zero, im), imaginary)
        return real, e.select(e.fcmp("oeq", im, zero), im, imaginary)

    outside = e.fcmp("ugt", e.call("fabs", re), e.const_like(re, NORMAL))
    return tuple(e.rare_all(outside, usual, beyond))

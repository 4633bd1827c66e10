"""Emit sine and cosine of an angle in radians, each as a sum of two doubles.

The angle is reduced to `[-pi/4, pi/4]` as a sum of two values (`pio2`), once for both. Then `sin r = r + r^3 P(r^2)`
and `cos r = 1 - r^2/2 + r^4 Q(r^2)`, and the rounding errors of `r`, `r^2` and the first terms are kept. `P` and `Q`
are minimax polynomials. Both sums are accurate to 2**-56.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import BITS, Emitter, Val
from .bits import flip_sign, sign_bit
from .doubledouble import Pair, fast_two_sum, two_product
from .lanes import each_lane_all
from .pio2 import MODERATE, ReducedAngle, reduce_huge, reduce_moderate
from .polynomial import evaluate

# Relative errors 2**-68 and 2**-64.
SINE = (
    -7.57851209575745e-13,
    1.6058362603879954e-10,
    -2.505210487750954e-08,
    2.7557319214048417e-06,
    -0.00019841269841254768,
    0.008333333333333323,
    -0.16666666666666666,
)
COSINE = (
    -1.1358490588179537e-11,
    2.0875699975332093e-09,
    -2.75573141730787e-07,
    2.480158728883075e-05,
    -0.0013888888888873023,
    0.041666666666666595,
)


class Circular(NamedTuple):
    """The functions of an angle; `less_one` is the cosine minus 1, accurate even if that is small."""

    sine: Pair
    cosine: Pair
    less_one: Pair


def sincos(e: Emitter, x: Val, rest: Val | None = None) -> Circular:
    """The functions of the angle `x + rest`, where `rest` is zero or less than 1 and far smaller than `x`."""
    sign = sign_bit(e, x)
    angle = _reduce(e, e.call("fabs", x))
    if rest is not None:
        angle = ReducedAngle(
            angle.quadrant,
            *fast_two_sum(e, angle.high, e.op("fadd", angle.low, flip_sign(e, rest, sign))),
        )
    quadrant = angle.quadrant
    sine, less_one = _of_reduced(e, angle)
    cosine = _plus(e, 1.0, less_one)
    odd = e.cast("trunc", quadrant, "i1")
    to_sign = e.const_like(quadrant, BITS[x.elem] - 2)
    sine_sign = e.op("xor", sign_bit(e, e.op("shl", quadrant, to_sign)), sign)
    next_quadrant = e.op("add", quadrant, e.const_like(quadrant, 1))
    cosine_sign = sign_bit(e, e.op("shl", next_quadrant, to_sign))
    turned_sine = _flip(e, _select(e, odd, cosine, sine), sine_sign)
    turned_cosine = _flip(e, _select(e, odd, sine, cosine), cosine_sign)
    first = e.op("and", quadrant, e.const_like(quadrant, 3))
    unturned = e.icmp("eq", first, e.zero_like(first))
    return Circular(turned_sine, turned_cosine, _select(e, unturned, less_one, _plus(e, -1.0, turned_cosine)))


def _reduce(e: Emitter, magnitude: Val) -> ReducedAngle:
    """The angle less the nearest quarter turns; huge angles are reduced one by one."""
    huge = e.fcmp("ugt", magnitude, e.const_like(magnitude, MODERATE[magnitude.elem]))
    usual = reduce_moderate(e, magnitude, 0)
    elems = [part.elem for part in usual]
    return ReducedAngle(
        *e.rare_all(huge, usual, lambda: each_lane_all(e, magnitude, lambda lane: reduce_huge(e, lane, 0), elems))
    )


def _of_reduced(e: Emitter, angle: ReducedAngle) -> tuple[Pair, Pair]:
    """Return the sine, and the cosine minus 1, of the reduced angle."""
    r = angle.high
    minus_half = e.const_like(r, -0.5)
    square, square_low = two_product(e, r, r)
    square_low = e.fma(r, e.op("fadd", angle.low, angle.low), square_low)
    # 1 - r^2/2 is close enough to the slope of the sine for the low part.
    low = e.fma(e.op("fmul", angle.low, square), minus_half, angle.low)
    sine = fast_two_sum(e, r, e.fma(e.op("fmul", r, square), evaluate(e, square, SINE), low))
    fourth = e.op("fmul", evaluate(e, square, COSINE), e.op("fmul", square, square))
    return sine, fast_two_sum(e, e.op("fmul", square, minus_half), e.fma(square_low, minus_half, fourth))


def _plus(e: Emitter, one: float, x: Pair) -> Pair:
    """1 or -1 plus a sum that is not larger."""
    total = fast_two_sum(e, e.const_like(x.high, one), x.high)
    return fast_two_sum(e, total.high, e.op("fadd", total.low, x.low))


def _select(e: Emitter, condition: Val, yes: Pair, no: Pair) -> Pair:
    return Pair(e.select(condition, yes.high, no.high), e.select(condition, yes.low, no.low))


def _flip(e: Emitter, x: Pair, sign: Val) -> Pair:
    return Pair(flip_sign(e, x.high, sign), flip_sign(e, x.low, sign))

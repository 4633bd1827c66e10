"""Emit the natural logarithm of a complex value to 90 bits, each part a sum of two doubles.

A double-precision logarithm `w` and angle `t` are improved by one Newton step each. With `|z|^2 = 2^k (1 + d)`, where
`d` keeps all its digits near 0, `log(1 + d) = w + (d - expm1(w)) / exp(w)`; and with the longer side `a` of `z` and the
shorter `b`, the angle between them is `t + (b cos t - a sin t) / (a cos t + b sin t)`. The exponential and the circular
functions are Taylor series in two doubles (`long_series`).
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .arcsine import PI
from .arctangent import atan2
from .bits import as_float, flip_sign, sign_bit
from .complex_root import LEAST, LIFT, MOST
from .doubledouble import Pair, add, fast_two_sum, two_product, two_sum
from .logarithm import log_of_pair
from .long_series import long_expm1, long_sincos
from .scaling import exponent_bits, split

# ln 2 in three parts; the products of the first two with an exponent are exact.
LN_2 = (0.6931471805601177, -1.7239444525610826e-13, -4.00865610552017e-26)
LIFT_EXPONENT = 600.0
# Below this the angle is not improved.
LEAST_ANGLE = 2.0**-300


def long_log(e: Emitter, re: Val, im: Val) -> tuple[Pair, Pair]:
    """Return the logarithm of a finite value that is not 0; for an infinite value only the angle is right."""
    width, height = e.call("fabs", re), e.call("fabs", im)
    steep = e.fcmp("ogt", height, width)
    longer, shorter = e.select(steep, height, width), e.select(steep, width, height)
    large, small = e.fcmp("ogt", longer, e.const_like(re, MOST)), e.fcmp("olt", longer, e.const_like(re, LEAST))

    def by_size(of_large: float, of_small: float, usual: float) -> Val:
        inner = e.select(small, e.const_like(re, of_small), e.const_like(re, usual))
        return e.select(large, e.const_like(re, of_large), inner)

    angle = atan2(e, shorter, longer)
    factor = by_size(1 / LIFT, LIFT, 1.0)
    longer, shorter = e.op("fmul", longer, factor), e.op("fmul", shorter, factor)
    squares_exponent = by_size(2 * LIFT_EXPONENT, -2 * LIFT_EXPONENT, 0.0)
    real = _half_log_of_square(e, longer, shorter, squares_exponent)
    return real, _angle(e, re, im, steep, _acute_angle(e, shorter, longer, angle))


def _half_log_of_square(e: Emitter, longer: Val, shorter: Val, exponent: Val) -> Pair:
    """Half the logarithm of `2**exponent` times the sum of both squares."""
    square, small = two_product(e, longer, longer), two_product(e, shorter, shorter)
    total = fast_two_sum(e, square.high, small.high)
    low = two_sum(e, square.low, small.low)
    middle = two_sum(e, total.low, low.high)
    total = fast_two_sum(e, total.high, middle.high)
    last = e.op("fadd", middle.low, low.low)
    parts = split(e, total.high)
    down = as_float(e, e.op("sub", e.const_like(parts.field, exponent_bits("double", 0)), parts.field))
    less_one = e.op("fsub", parts.mantissa, e.const_like(longer, 1.0))
    second = e.op("fmul", total.low, down)
    excess = two_sum(e, less_one, second)
    excess = fast_two_sum(e, excess.high, e.fma(last, down, excess.low))
    log = log_of_pair(e, Pair(parts.mantissa, second), doublings=0)
    power = long_expm1(e, log)
    lacking = e.op("fadd", e.op("fsub", excess.high, power.high), e.op("fsub", excess.low, power.low))
    correction = e.op("fdiv", lacking, e.op("fadd", power.high, e.const_like(longer, 1.0)))
    half = e.const_like(longer, 0.5)
    result = _plus_ln_2(e, e.op("fadd", parts.exponent, exponent), log, correction)
    return Pair(e.op("fmul", result.high, half), e.op("fmul", result.low, half))


def _plus_ln_2(e: Emitter, times: Val, log: Val, correction: Val) -> Pair:
    """`times * ln 2 + log + correction`."""
    first, second, third = (e.const_like(log, part) for part in LN_2)
    total = two_sum(e, e.op("fmul", times, first), log)
    low = two_sum(e, e.op("fmul", times, second), total.low)
    total = fast_two_sum(e, total.high, low.high)
    rest = e.fma(times, third, e.op("fadd", low.low, correction))
    return fast_two_sum(e, total.high, e.op("fadd", total.low, rest))


def _acute_angle(e: Emitter, shorter: Val, longer: Val, angle: Val) -> Pair:
    """Return the angle, up to an eighth of a turn, between a point and the nearest axis, given it to 52 bits."""
    sine, cosine = long_sincos(e, angle)
    up, down = two_product(e, shorter, cosine.high), two_product(e, longer, sine.high)
    low = e.op("fsub", e.fma(shorter, cosine.low, up.low), e.fma(longer, sine.low, down.low))
    across = e.op("fadd", e.op("fsub", up.high, down.high), low)
    along = e.fma(longer, cosine.high, e.op("fmul", shorter, sine.high))
    correction = e.op("fdiv", across, along)
    # The short side of a tiny angle may have become 0 when it was scaled; an infinite value gives NaN.
    useful = e.op("and", e.fcmp("ogt", angle, e.const_like(angle, LEAST_ANGLE)), e.fcmp("ord", across, along))
    return fast_two_sum(e, angle, e.select(useful, correction, e.zero_like(angle)))


def _angle(e: Emitter, re: Val, im: Val, steep: Val, acute: Pair) -> Pair:
    """Return the angle of a point from minus pi to pi, given its angle to the nearest axis."""
    zero = e.zero_like(re)
    left = sign_bit(e, re)
    is_left = e.icmp("ne", left, e.zero_like(left))

    def axis(pi: float) -> Val:
        flat = e.select(is_left, e.const_like(re, pi), zero)
        return e.select(steep, e.const_like(re, pi / 2), flat)

    # The angle to the axis is subtracted if the direction is steep and on the right, or flat and on the left.
    flipped = e.op("xor", left, e.const_like(left, -(1 << 63)))
    falling = e.select(steep, flipped, left)
    total = add(
        e,
        Pair(axis(PI["double"][0]), axis(PI["double"][1])),
        Pair(flip_sign(e, acute.high, falling), flip_sign(e, acute.low, falling)),
    )
    sign = sign_bit(e, im)
    return Pair(flip_sign(e, total.high, sign), flip_sign(e, total.low, sign))

"""Emit the complex square root.

The longer of the root's two parts is `t = sqrt((|x| + |z|) / 2)`, the shorter one is `|y| / (2 t)`. For `x >= 0` the
longer one is the real part, otherwise the imaginary part. Nothing cancels, and `|z|`, `t` and the quotient are sums of
two doubles, so little more than the last rounding is lost. The rare branch handles magnitudes whose squares would
overflow or underflow.

Infinite and NaN parts give what C99, Annex G, prescribes.

Largest error of `double` found over 4 * 10**6 points, in ULP of the magnitude: 0.74.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .bits import flip_sign, sign_bit
from .complex_parts import Parts, through_double
from .doubledouble import Pair, add, quotient, rounded, square_root, two_product

# Between these magnitudes squares lose no digits. The factor brings other values there, and its root brings the result
# back.
LEAST, MOST = 2.0**-480, 2.0**500
LIFT, LIFT_ROOT = 2.0**600, 2.0**300


def extreme(e: Emitter, re: Val, im: Val) -> Val:
    """Whether the larger part is out of the range in which squares lose no digits, or a part is NaN."""
    a, b = e.call("fabs", re), e.call("fabs", im)
    larger = e.select(e.fcmp("ogt", a, b), a, b)
    outside = e.op("or", e.fcmp("ugt", larger, e.const_like(re, MOST)), e.fcmp("ult", larger, e.const_like(re, LEAST)))
    return e.op("or", outside, e.fcmp("uno", a, b))


def _longer_part(e: Emitter, x: Pair, y: Val) -> Pair:
    """`sqrt((|x| + |x + iy|) / 2)`."""
    sign = sign_bit(e, x.high)
    magnitude = Pair(flip_sign(e, x.high, sign), flip_sign(e, x.low, sign))
    square = two_product(e, magnitude.high, magnitude.high)
    twice = e.op("fadd", magnitude.low, magnitude.low)
    square = Pair(square.high, e.fma(magnitude.high, twice, square.low))
    radius = square_root(e, add(e, square, two_product(e, y, y)))
    total = add(e, magnitude, radius)
    half = e.const_like(y, 0.5)
    return square_root(e, Pair(e.op("fmul", total.high, half), e.op("fmul", total.low, half)))


def _arrange(e: Emitter, x: Val, y: Val, longer: Pair) -> tuple[Pair, Pair]:
    """The real and the imaginary part of the root of `x + iy`, whose longer part is given."""
    zero = e.zero_like(y)
    twice = Pair(e.op("fadd", longer.high, longer.high), e.op("fadd", longer.low, longer.low))
    shorter = quotient(e, Pair(y, zero), twice)
    sign, left = sign_bit(e, y), e.fcmp("olt", x, zero)

    def part(yes: Val, no: Val) -> Val:
        return e.select(left, flip_sign(e, yes, sign), no)

    return (
        Pair(part(shorter.high, longer.high), part(shorter.low, longer.low)),
        Pair(part(longer.high, shorter.high), part(longer.low, shorter.low)),
    )


def root_pairs(e: Emitter, x: Pair, y: Val) -> tuple[Pair, Pair]:
    """The root of `x + iy` with its parts as sums of two doubles, for values that are not `extreme`."""
    return _arrange(e, x.high, y, _longer_part(e, x, y))


@through_double
def sqrt(e: Emitter, re: Val, im: Val) -> Parts:
    """The square root whose real part is not negative."""
    zero = e.zero_like(re)

    def parts(height: Val, longer: Pair) -> Parts:
        real, imaginary = _arrange(e, re, height, longer)
        return rounded(e, real), e.call("copysign", rounded(e, imaginary), im)

    def special() -> Parts:
        large = e.fcmp("ogt", e.op("fadd", e.call("fabs", re), e.call("fabs", im)), e.const_like(re, 1.0))
        factor = e.select(large, e.const_like(re, 1 / LIFT), e.const_like(re, LIFT))
        height = e.op("fmul", im, factor)
        longer = _longer_part(e, Pair(e.op("fmul", re, factor), zero), height)
        # The shorter part of a large root may be small, so it is divided after scaling back; that of a small root
        # before.
        first = e.select(large, e.const_like(re, LIFT_ROOT), e.const_like(re, 1.0))
        last = e.select(large, e.const_like(re, 1.0), e.const_like(re, 1 / LIFT_ROOT))
        longer = Pair(e.op("fmul", longer.high, first), e.op("fmul", longer.low, first))
        scaled = parts(e.select(large, im, height), longer)
        return _where_not_finite(e, re, im, tuple(e.op("fmul", part, last) for part in scaled))

    usual = parts(im, _longer_part(e, Pair(re, zero), im))
    return tuple(e.rare_all(extreme(e, re, im), usual, special))


def _where_not_finite(e: Emitter, re: Val, im: Val, finite: Parts) -> Parts:
    """The root for infinite parts and for 0; `finite` is right otherwise."""
    zero, infinity = e.zero_like(re), e.const_like(re, math.inf)
    right, left = e.fcmp("oeq", re, infinity), e.fcmp("oeq", re, e.const_like(re, -math.inf))
    origin = e.op("and", e.fcmp("oeq", re, zero), e.fcmp("oeq", im, zero))
    vertical = e.fcmp("oeq", e.call("fabs", im), infinity)
    # 0 with the sign of the imaginary part, or NaN if that is NaN.
    vanishing = e.op("fmul", im, zero)
    real = e.select(left, e.call("fabs", vanishing), e.select(right, infinity, finite[0]))
    imaginary = e.select(left, e.call("copysign", infinity, im), e.select(right, vanishing, finite[1]))
    real, imaginary = e.select(origin, zero, real), e.select(origin, im, imaginary)
    return e.select(vertical, infinity, real), e.select(vertical, im, imaginary)

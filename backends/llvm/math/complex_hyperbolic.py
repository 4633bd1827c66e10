"""Emit the complex hyperbolic and circular functions.

    sinh(x + iy) = sinh x cos y + i cosh x sin y
    cosh(x + iy) = cosh x cos y + i sinh x sin y
    tanh(x + iy) = (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)

All factors are sums of two doubles and nothing cancels, so little more than the last rounding is lost. The rare branch
handles large `x`: there both hyperbolic functions are half an exponential, and `tanh` is 1 with a vanishing imaginary
part. Sine and tangent are the hyperbolic ones with both parts exchanged before and after, and `cos z = cosh iz`.

Infinite and NaN parts give what C99, Annex G, prescribes.

Largest errors of `double` found over 4 * 10**6 points each, in ULP of the magnitude: sinh and sin 0.97, cosh and cos
0.99, tanh and tan 1.09.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .bits import as_float, as_integer, at_most, flip_sign, sign_bit
from .complex_exponential import BOUND, NORMAL, exp_near_one, far_exp
from .complex_parts import Parts, through_double
from .doubledouble import Pair, add, divide, fast_fma, fast_two_sum, multiply, product
from .exponential import exp as real_exp
from .hyperbolic import reduce_by_ln_2
from .scaling import exponent_bits, scale_normal
from .sincos import Circular, sincos

# From here on the hyperbolic tangent is 1.
FLAT = 20.0


def _sinh_cosh(e: Emitter, x: Val) -> tuple[Pair, Pair]:
    """The real hyperbolic sine and cosine, by the addition theorems for `|x| = k ln 2 + r`."""
    reduced = reduce_by_ln_2(e, e.call("fabs", x))
    r, square = reduced.high, reduced.square
    sinh_rest = e.fma(e.op("fmul", r, square), reduced.sinh, reduced.low)
    cosh_rest = e.op("fmul", square, reduced.cosh)
    grown = scale_normal(e, e.const_like(x, 0.5), reduced.power)
    bits = as_integer(e, grown)
    # The product of these two powers of two is 1/4, so the bits of one follow from those of the other.
    shrunk = as_float(e, e.op("sub", e.const_like(bits, 2 * exponent_bits(x.elem, -1)), bits))
    more, less = e.op("fadd", grown, shrunk), e.op("fsub", grown, shrunk)
    more_lost = e.op("fsub", shrunk, e.op("fsub", more, grown))
    less_lost = e.op("fsub", e.op("fsub", grown, less), shrunk)

    def combine(of_sinh: Val, of_cosh: Val, lost: Val) -> Pair:
        total = fast_fma(e, of_sinh, r, of_cosh)
        rest = e.fma(of_sinh, sinh_rest, e.op("fadd", total.low, lost))
        return fast_two_sum(e, total.high, e.fma(of_cosh, cosh_rest, rest))

    sign = sign_bit(e, x)
    sine = combine(more, less, less_lost)
    return Pair(flip_sign(e, sine.high, sign), flip_sign(e, sine.low, sign)), combine(less, more, more_lost)


def _signed(e: Emitter, value: Val, *factors: Val) -> Val:
    """Return the value with the sign that the product of the factors has."""
    sign = sign_bit(e, factors[0])
    for factor in factors[1:]:
        sign = e.op("xor", sign, sign_bit(e, factor))
    return flip_sign(e, e.call("fabs", value), sign)


def _half_exp(e: Emitter, x: Val, circle: Circular) -> Parts:
    """Half of `exp(|x|)` in the direction of an angle."""
    return far_exp(e, exp_near_one(e, at_most(e, e.call("fabs", x), BOUND)), circle, halvings=1)


def _unusual(e: Emitter, x: Val, circle: Circular, bound: float) -> Val:
    """Tell whether `x` is beyond the bound or NaN, or the angle is not finite."""
    beyond = e.fcmp("ugt", e.call("fabs", x), e.const_like(x, bound))
    return e.op("or", beyond, _endless(e, circle))


def _endless(e: Emitter, circle: Circular) -> Val:
    """Tell whether the angle is infinite or NaN."""
    return e.fcmp("uno", circle.sine.high, circle.sine.high)


def _is_infinite(e: Emitter, x: Val) -> Val:
    return e.fcmp("oeq", e.call("fabs", x), e.const_like(x, math.inf))


@through_double
def sinh(e: Emitter, re: Val, im: Val) -> Parts:
    """The hyperbolic sine."""
    circle, zero = sincos(e, im), e.zero_like(re)
    sine, cosine = _sinh_cosh(e, re)

    def signed(real: Val, imaginary: Val) -> Parts:
        return _signed(e, real, re, circle.cosine.high), _signed(e, imaginary, circle.sine.high)

    def special() -> Parts:
        real, imaginary = signed(*_half_exp(e, re, circle))
        endless = _endless(e, circle)
        real = e.select(e.op("and", endless, _is_infinite(e, re)), e.const_like(re, math.inf), real)
        real = e.select(e.op("and", endless, e.fcmp("oeq", re, zero)), re, real)
        return real, e.select(e.fcmp("oeq", im, zero), im, imaginary)

    usual = signed(product(e, sine, circle.cosine), product(e, cosine, circle.sine))
    return tuple(e.rare_all(_unusual(e, re, circle, NORMAL), usual, special))


@through_double
def cosh(e: Emitter, re: Val, im: Val) -> Parts:
    """The hyperbolic cosine."""
    circle, zero = sincos(e, im), e.zero_like(re)
    sine, cosine = _sinh_cosh(e, re)

    def signed(real: Val, imaginary: Val) -> Parts:
        return _signed(e, real, circle.cosine.high), _signed(e, imaginary, re, circle.sine.high)

    def special() -> Parts:
        real, imaginary = signed(*_half_exp(e, re, circle))
        endless = _endless(e, circle)
        real = e.select(e.op("and", endless, _is_infinite(e, re)), e.const_like(re, math.inf), real)
        imaginary = e.select(e.op("and", endless, e.fcmp("oeq", re, zero)), zero, imaginary)
        undefined = e.op("and", e.fcmp("uno", re, re), e.fcmp("oeq", im, zero))
        return real, e.select(undefined, im, imaginary)

    usual = signed(product(e, cosine, circle.cosine), product(e, sine, circle.sine))
    return tuple(e.rare_all(_unusual(e, re, circle, NORMAL), usual, special))


@through_double
def tanh(e: Emitter, re: Val, im: Val) -> Parts:
    """The hyperbolic tangent."""
    circle, zero = sincos(e, im), e.zero_like(re)
    sine, cosine = _sinh_cosh(e, re)
    divisor = add(e, multiply(e, sine, sine), multiply(e, circle.cosine, circle.cosine))
    real = divide(e, multiply(e, sine, cosine), divisor)
    imaginary = divide(e, multiply(e, circle.sine, circle.cosine), divisor)

    def signed(real: Val, imaginary: Val) -> Parts:
        return _signed(e, real, re), _signed(e, imaginary, circle.sine.high, circle.cosine.high)

    def special() -> Parts:
        shrinking = real_exp(e, e.op("fmul", e.call("fabs", re), e.const_like(re, -2.0)))
        four_sines = e.op("fmul", product(e, circle.sine, circle.cosine), e.const_like(re, 4.0))
        one = e.const_like(re, 1.0)
        real, imaginary = signed(one, e.op("fmul", four_sines, shrinking))
        endless, infinite = _endless(e, circle), _is_infinite(e, re)
        undefined = e.op("or", e.fcmp("uno", re, re), e.op("and", endless, e.not_(infinite)))
        real = e.select(undefined, e.const_like(re, math.nan), real)
        real = e.select(e.op("and", endless, e.fcmp("oeq", re, zero)), re, real)
        imaginary = e.select(e.op("and", endless, infinite), e.call("copysign", zero, im), imaginary)
        return real, e.select(e.fcmp("oeq", im, zero), im, imaginary)

    return tuple(e.rare_all(_unusual(e, re, circle, FLAT), signed(real, imaginary), special))


def sin(e: Emitter, re: Val, im: Val) -> Parts:
    """The sine."""
    imaginary, real = sinh(e, im, re)
    return real, imaginary


def cos(e: Emitter, re: Val, im: Val) -> Parts:
    """The cosine."""
    return cosh(e, e.fneg(im), re)


def tan(e: Emitter, re: Val, im: Val) -> Parts:
    """The tangent."""
    imaginary, real = tanh(e, im, re)
    return real, imaginary

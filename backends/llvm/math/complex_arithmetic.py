"""Emit complex products, quotients, squares, magnitudes and signs.

The bits are those of NumPy's vector loops:

    a * b    re = fma(ar, br, -(ai * bi)),  im = fma(ar, bi, ai * br)
    a / b    Smith's method with separate roundings: with q = bi / br where |br| >= |bi|,
             re = (ar + ai q) / (br + bi q),  im = (ai - ar q) / (br + bi q) by one reciprocal
    1 / a    Smith's method, where each part is divided

So swapping the factors of a product may change its last bit. NumPy itself multiplies without FMA for some layouts and
for scalars. Infinities and NaN follow from the formulas, as in NumPy: a product of infinities may be NaN, and 1 / 0 is
NaN.

`absolute` is `hypot`, and `sign` divides by it. NumPy's vector code for `absolute` is off by up to 2 ULP, so its bits
differ. If the magnitude overflows, `sign` still gives the direction; NumPy gives one of the four on the axes.

Largest errors found over 10**6 points each, in ULP of the magnitude: products 1.1, quotients 3.3, reciprocals 1.9,
absolute 0.7, sign 1.7 (far more for subnormal numbers, as in NumPy).
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .complex_parts import Parts
from .root import hypot


def multiply(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """The product."""
    return e.fma(ar, br, e.fneg(e.op("fmul", ai, bi))), e.fma(ar, bi, e.op("fmul", ai, br))


def square(e: Emitter, re: Val, im: Val) -> Parts:
    """The value times itself."""
    return multiply(e, re, im, re, im)


def divide(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """The quotient; each part of the dividend is divided by 0 where the divisor is 0."""
    flat = e.fcmp("oge", e.call("fabs", br), e.call("fabs", bi))
    longer, shorter = e.select(flat, br, bi), e.select(flat, bi, br)
    ratio = e.op("fdiv", shorter, longer)
    inverse = e.op("fdiv", e.const_like(br, 1.0), e.op("fadd", longer, e.op("fmul", shorter, ratio)))
    # Turning both by a quarter makes a steep divisor flat: (ai - ar i) / (bi - br i) is the same quotient.
    along, across = e.select(flat, ar, ai), e.select(flat, ai, e.fneg(ar))
    turn = e.select(flat, ratio, e.fneg(ratio))
    re = e.op("fmul", e.op("fadd", along, e.op("fmul", across, turn)), inverse)
    im = e.op("fmul", e.op("fsub", across, e.op("fmul", along, turn)), inverse)

    def by_zero() -> Parts:
        magnitude = e.call("fabs", br)
        return e.op("fdiv", ar, magnitude), e.op("fdiv", ai, magnitude)

    zero = e.fcmp("oeq", longer, e.zero_like(longer))
    return tuple(e.rare_all(zero, (re, im), by_zero))


def reciprocal(e: Emitter, re: Val, im: Val) -> Parts:
    """One divided by the value."""
    flat = e.fcmp("ole", e.call("fabs", im), e.call("fabs", re))
    longer, shorter = e.select(flat, re, im), e.select(flat, im, re)
    ratio = e.op("fdiv", shorter, longer)
    length = e.op("fadd", longer, e.op("fmul", shorter, ratio))
    one = e.const_like(re, 1.0)
    real, imaginary = e.select(flat, one, ratio), e.fneg(e.select(flat, ratio, one))
    return e.op("fdiv", real, length), e.op("fdiv", imaginary, length)


def absolute(e: Emitter, re: Val, im: Val) -> Parts:
    """Return the distance from 0; it is infinite if a part is, even beside NaN."""
    return (hypot(e, re, im),)


def sign(e: Emitter, re: Val, im: Val) -> Parts:
    """Return the value divided by its magnitude, and 0 for 0; a single infinite part gives its direction."""
    magnitude = hypot(e, re, im)
    zero, one, half = e.zero_like(re), e.const_like(re, 1.0), e.const_like(re, 0.5)

    def special() -> Parts:
        endless = [e.fcmp("oeq", e.call("fabs", part), e.const_like(part, math.inf)) for part in (re, im)]
        infinite = e.op("or", *endless)
        undefined = e.op("or", e.op("and", *endless), e.fcmp("uno", magnitude, magnitude))
        neither = e.fcmp("oeq", magnitude, zero)
        # The magnitude of finite parts may overflow; that of their halves does not.
        halves = [e.op("fmul", part, half) for part in (re, im)]
        size = hypot(e, *halves)

        def direction(part: Val, half_part: Val, is_endless: Val) -> Val:
            unit = e.select(is_endless, e.call("copysign", one, part), zero)
            result = e.select(infinite, unit, e.op("fdiv", half_part, size))
            return e.select(undefined, e.const_like(part, math.nan), e.select(neither, zero, result))

        return tuple(direction(*given) for given in zip((re, im), halves, endless, strict=True))

    rare = e.op("or", e.fcmp("ueq", magnitude, zero), e.fcmp("oeq", magnitude, e.const_like(re, math.inf)))
    usual = e.op("fdiv", re, magnitude), e.op("fdiv", im, magnitude)
    return tuple(e.rare_all(rare, usual, special))

"""Emit complex powers.

`a**b = exp(b log a)`. The logarithm has 90 accurate bits and its product with `b` is a sum of two doubles, so the
result is accurate to the last place for angles `Im(b log a)` up to `2**35`. Integer exponents of at most 99 are
computed by multiplication (`complex_whole_power`), as in NumPy, but with sums of two doubles. For `float`, plain
doubles suffice in both cases.

Special cases are NumPy's: `a**0` is 1 for any `a`; 0 to a power with a positive real part is 0, and NaN otherwise;
integer powers that overflow have the parts that plain products give. Infinite and NaN parts and huge exponents give the
exponential of the product of C99, Annex G, in the precision of the operands.

Largest error of `double` found over 4 * 10**6 points, in ULP of the magnitude: 1.02.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from . import complex_annex_g as annex_g
from .complex_exponential import BOUND, NORMAL, exp_near_one, small_rest, turned_power
from .complex_logarithm import log
from .complex_long_log import long_log
from .complex_parts import Parts, to_double, to_float
from .complex_whole_power import is_small_whole, plain_power, precise_power
from .doubledouble import Pair, add, two_product
from .sincos import sincos

# Beyond this exponent the product with a logarithm may overflow.
HUGE = {"float": 2.0**100, "double": 2.0**1000}
SMALLEST_NORMAL = 2.0**-126


def power(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """`a` to the power `b`."""
    zero = e.zero_like(ar)
    whole = is_small_whole(e, br, bi)
    result = _by_products(e, ar, ai, whole, e.select(whole, br, zero))
    result = tuple(e.rare_all(e.not_(whole), result, lambda: _by_logarithm(e, ar, ai, br, bi)))

    def of_origin() -> Parts:
        positive, exponent_zero = e.fcmp("ogt", br, zero), e.op("and", whole, e.fcmp("oeq", br, zero))
        other = e.select(positive, zero, e.const_like(ar, math.nan))
        return e.select(exponent_zero, e.const_like(ar, 1.0), other), e.select(exponent_zero, zero, other)

    origin = e.op("and", e.fcmp("oeq", ar, zero), e.fcmp("oeq", ai, zero))
    return tuple(e.rare_all(origin, result, of_origin))


def _by_products(e: Emitter, ar: Val, ai: Val, whole: Val, exponent: Val) -> Parts:
    """Compute powers with small integer exponents. Overflows and the signs of zeros are those of plain products."""
    if ar.elem == "float":
        result = to_float(e, plain_power(e, *to_double(e, (ar, ai, exponent)))[0])
    else:
        result = precise_power(e, ar, ai, exponent)
    zero, infinity = e.zero_like(ar), e.const_like(ar, math.inf)
    finite = e.op("and", *(e.fcmp("olt", e.call("fabs", part), infinity) for part in result))
    nowhere_zero = e.op("and", *(e.fcmp("one", part, zero) for part in result))

    def special() -> Parts:
        plain, overflows = plain_power(e, ar, ai, exponent)
        kept = e.op("and", finite, e.not_(e.op("and", overflows, e.fcmp("olt", exponent, zero))))

        def settle(precise: Val, given: Val) -> Val:
            signed = e.select(e.fcmp("oeq", precise, zero), e.call("copysign", zero, given), precise)
            return e.select(kept, signed, given)

        return tuple(settle(*given) for given in zip(result, plain, strict=True))

    usual = e.op("and", finite, nowhere_zero)
    if ar.elem == "float":  # the inverse of a float that overflows is subnormal, or 0
        normal = (e.fcmp("oge", e.call("fabs", part), e.const_like(part, SMALLEST_NORMAL)) for part in result)
        usual = e.op("and", usual, e.op("or", e.op("or", *normal), e.fcmp("oge", exponent, zero)))
    unusual = e.op("and", whole, e.not_(usual))
    return tuple(e.rare_all(unusual, result, special))


def _by_logarithm(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """`exp(b log a)` for `a` that is not 0."""
    logarithm = _short_log(e, ar, ai) if ar.elem == "float" else long_log(e, ar, ai)
    real, imaginary = _times_logarithm(e, to_double(e, (br, bi)), *logarithm)
    limit = e.const_like(br, HUGE[br.elem])
    huge = e.op("or", *(e.fcmp("ogt", e.call("fabs", part), limit) for part in (br, bi)))
    unusual = e.op("or", huge, e.fcmp("uno", real.high, imaginary.high))

    def special() -> Parts:
        parts = _log_of_any(e, ar, ai, *logarithm)
        zero = e.zero_like(real.low)
        high_real, high_imaginary = to_double(e, annex_g.product(e, br, bi, *parts))
        # A power that underflows to zero gets the sign of this NaN: that of 0 * inf on x86, unless LLVM folds it.
        undefined = e.fcmp("uno", high_imaginary, high_imaginary)
        return high_real, zero, e.select(undefined, e.const_like(zero, -math.nan), high_imaginary), zero

    parts = e.rare_all(unusual, (*real, *imaginary), special)
    real, imaginary = Pair(*parts[:2]), Pair(*parts[2:])
    within = e.fcmp("olt", e.call("fabs", real.high), e.const_like(real.high, BOUND))
    rest = e.select(within, real.low, e.zero_like(real.low))
    circle = sincos(e, *small_rest(e, imaginary))
    result = turned_power(e, real.high, imaginary.high, circle, lambda x: exp_near_one(e, x, rest), NORMAL, BOUND)
    return to_float(e, result) if ar.elem == "float" else result


def _short_log(e: Emitter, re: Val, im: Val) -> tuple[Pair, Pair]:
    real, angle = log(e, *to_double(e, (re, im)))
    zero = e.zero_like(real)
    return Pair(real, zero), Pair(angle, zero)


def _log_of_any(e: Emitter, re: Val, im: Val, real_log: Pair, angle: Pair) -> Parts:
    """The logarithm in the precision of its argument, which may be infinite."""
    parts = real_log.high, angle.high
    if re.elem == "float":
        return to_float(e, parts)
    infinity = e.const_like(re, math.inf)
    infinite = e.op("or", *(e.fcmp("oeq", e.call("fabs", part), infinity) for part in (re, im)))
    return e.select(infinite, infinity, parts[0]), parts[1]


def _times_logarithm(e: Emitter, exponent: Parts, real_log: Pair, angle: Pair) -> tuple[Pair, Pair]:
    br, bi = exponent
    real = add(e, _times(e, br, real_log), _times(e, e.fneg(bi), angle))
    imaginary = add(e, _times(e, br, angle), _times(e, bi, real_log))
    # The precise sum of zeros loses their sign.
    plain = e.op("fadd", e.op("fmul", br, angle.high), e.op("fmul", bi, real_log.high))
    nothing = e.fcmp("oeq", imaginary.high, e.zero_like(plain))
    return real, Pair(e.select(nothing, plain, imaginary.high), imaginary.low)


def _times(e: Emitter, factor: Val, x: Pair) -> Pair:
    high, low = two_product(e, factor, x.high)
    return Pair(high, e.fma(factor, x.low, low))

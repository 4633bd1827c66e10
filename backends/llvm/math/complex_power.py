"""Two complex values as parts in, the first to the power of the second out.

`a**b = exp(b log a)`, where the logarithm is good to 90 bits and its product with `b` is a sum of two doubles, so that
the result is good to the last place for angles `Im(b log a)` up to `2**35`. Whole exponents of at most 99 are done by
multiplying (`complex_whole_power`), as in NumPy, but with sums of two doubles.

Special cases are NumPy's: `a**0` is 1, whatever `a`; 0 to a power with a positive real part is 0, and NaN otherwise;
whole powers that overflow have the parts that plain products give. Infinite and NaN parts and huge exponents give the
exponential of the product of C99, Annex G, in the precision of the operands.
"""

from __future__ import annotations

import math

from ..text import Emitter, Val
from .complex_exponential import BOUND, NORMAL, exp, exp_near_one, of_parts, small_rest
from .complex_logarithm import log
from .complex_long_log import long_log
from .complex_parts import Parts, through_double
from .complex_whole_power import is_small_whole, plain_power, precise_power
from .doubledouble import Pair, add, two_product
from .sincos import sincos

# Beyond this exponent the product with a logarithm may overflow.
HUGE = {"float": 2.0**100, "double": 2.0**1000}


def power(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """`a` to the power `b`."""
    zero, infinity = e.zero_like(ar), e.const_like(ar, math.inf)
    result = _power(e, ar, ai, br, bi)
    origin = e.op("and", e.fcmp("oeq", ar, zero), e.fcmp("oeq", ai, zero))
    whole, defined = is_small_whole(e, br, bi), e.fcmp("ord", *result)
    finite = e.op("and", *(e.fcmp("olt", e.call("fabs", part), infinity) for part in result))
    nowhere_zero = e.op("and", *(e.fcmp("one", part, zero) for part in result))
    plain = e.op("and", whole, e.not_(e.op("and", finite, nowhere_zero)))
    huge = e.op("or", *(e.fcmp("ogt", e.call("fabs", part), e.const_like(part, HUGE[part.elem])) for part in (br, bi)))
    endless = e.op("and", e.not_(whole), e.op("or", huge, e.not_(defined)))

    def special() -> Parts:
        def settle(precise: Val, by_products: Val, by_logarithm: Val, of_origin: Val) -> Val:
            """Whole powers that overflow, and the signs of their zeros, are those of plain products."""
            signed = e.select(e.fcmp("oeq", precise, zero), e.call("copysign", zero, by_products), precise)
            result = e.select(plain, e.select(finite, signed, by_products), precise)
            return e.select(origin, of_origin, e.select(endless, by_logarithm, result))

        unit = e.op("and", e.fcmp("oeq", br, zero), e.fcmp("oeq", bi, zero))
        nothing = e.select(e.fcmp("ogt", br, zero), zero, e.const_like(ar, math.nan))
        of_origin = e.select(unit, e.const_like(ar, 1.0), nothing), e.select(unit, zero, nothing)
        by_products = plain_power(e, ar, ai, e.select(plain, br, zero))
        by_logarithm = exp(e, *_product(e, br, bi, *log(e, ar, ai)))
        return tuple(settle(*given) for given in zip(result, by_products, by_logarithm, of_origin, strict=True))

    return tuple(e.rare_all(e.op("or", origin, e.op("or", plain, endless)), result, special))


@through_double
def _power(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """The power of a value that is not 0."""
    whole = is_small_whole(e, br, bi)
    usual = precise_power(e, ar, ai, e.select(whole, br, e.zero_like(br)))
    return tuple(e.rare_all(e.not_(whole), usual, lambda: _by_logarithm(e, ar, ai, br, bi)))


def _by_logarithm(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """`exp(b log a)`, or NaN where something on the way is not finite."""
    real_log, angle = long_log(e, ar, ai)
    real = add(e, _times(e, br, real_log), _times(e, e.fneg(bi), angle))
    imaginary = add(e, _times(e, br, angle), _times(e, bi, real_log))
    # The precise sum of zeros loses their sign.
    plainly = e.op("fadd", e.op("fmul", br, angle.high), e.op("fmul", bi, real_log.high))
    nothing = e.fcmp("oeq", imaginary.high, e.zero_like(ar))
    imaginary = Pair(e.select(nothing, plainly, imaginary.high), imaginary.low)
    within = e.fcmp("olt", e.call("fabs", real.high), e.const_like(ar, BOUND))
    rest = e.select(within, real.low, e.zero_like(ar))
    circle = sincos(e, *small_rest(e, imaginary))
    return of_parts(e, real.high, imaginary.high, circle, lambda x: exp_near_one(e, x, rest), NORMAL, BOUND)


def _times(e: Emitter, factor: Val, x: Pair) -> Pair:
    high, low = two_product(e, factor, x.high)
    return Pair(high, e.fma(factor, x.low, low))


def _product(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """The product of C99, Annex G: infinite, and not NaN, where a factor is infinite or a product of parts is."""
    zero, one, infinity = e.zero_like(ar), e.const_like(ar, 1.0), e.const_like(ar, math.inf)

    def products(a: Val, b: Val, c: Val, d: Val) -> list[Val]:
        return [e.op("fmul", *factors) for factors in ((a, c), (b, d), (a, d), (b, c))]

    def is_infinite(x: Val) -> Val:
        return e.fcmp("oeq", e.call("fabs", x), infinity)

    def to_number(x: Val, replace: Val) -> Val:
        return e.select(e.op("and", replace, e.fcmp("uno", x, x)), e.call("copysign", zero, x), x)

    def to_unit(x: Val, replace: Val) -> Val:
        return e.select(replace, e.call("copysign", e.select(is_infinite(x), one, zero), x), x)

    plain = products(ar, ai, br, bi)
    real, imaginary = e.op("fsub", plain[0], plain[1]), e.op("fadd", plain[2], plain[3])
    first, second = e.op("or", is_infinite(ar), is_infinite(ai)), e.op("or", is_infinite(br), is_infinite(bi))
    overflow = is_infinite(plain[0])
    for part in plain[1:]:
        overflow = e.op("or", overflow, is_infinite(part))
    either = e.op("or", e.op("or", first, second), overflow)
    ar, ai = (to_number(to_unit(x, first), either) for x in (ar, ai))
    br, bi = (to_number(to_unit(x, second), either) for x in (br, bi))
    again = products(ar, ai, br, bi)
    recover = e.op("and", either, e.op("and", e.fcmp("uno", real, real), e.fcmp("uno", imaginary, imaginary)))
    endless = (
        e.op("fmul", infinity, e.op("fsub", again[0], again[1])),
        e.op("fmul", infinity, e.op("fadd", again[2], again[3])),
    )
    return e.select(recover, endless[0], real), e.select(recover, endless[1], imaginary)

"""Emit complex products by the rules of C99, Annex G.

A factor with an infinite part is an infinity, even beside NaN, and its product is infinite unless the other factor is 0
or NaN. The parts of the usual formula are kept unless both are NaN.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .complex_parts import Parts


def product(e: Emitter, ar: Val, ai: Val, br: Val, bi: Val) -> Parts:
    """Return the product, for the rare cases in which a part is not finite or a product overflows."""
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

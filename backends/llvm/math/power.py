"""Two values in, the first raised to the power of the second out.

`x**y = 2**(y log2(x))`. For `double` the logarithm is a sum of two values with 65 good bits: with
`s = (m - 1) / (m + 1)` it is `k + 2/ln(2) (s + s**3/3 + s**5 T(s**2))`, where `s` and the first two terms carry their
rounding errors. For `float` everything is done in `double` and rounded once.

Bases that are not positive normal numbers and results that are not normal numbers take the rare branch.
"""

from __future__ import annotations

import math

from ..text import Emitter, Val
from .bits import as_integer
from .doubledouble import Pair, fast_fma, fast_two_sum, two_product
from .exponential import EXP2_POLY
from .polynomial import evaluate
from .scaling import MANTISSA_BITS, Whole, clamp, nearest_whole, not_positive_normal, scale, scale_normal, split

# Powers of two up to the first are normal numbers; beyond the second they are 0 or infinity.
NORMAL = 1021.0
OUTER = 1100.0

LN_2 = 0.6931471805599453
TWO_OVER_LN_2 = (2.8853900817779268, 4.0710547481862066e-17)
THIRD = (0.3333333333333333, 1.850371707708594e-17)
# (atanh(s) / s - 1 - s**2/3) / s**4 in powers of s**2; relative error of the logarithm 2**-73.
ATANH_POLY = (
    0.05950595513760661,
    0.05843151682312016,
    0.06667847991537255,
    0.07692287398304878,
    0.09090909287477272,
    0.11111111110143623,
    0.14285714285715947,
    0.2,
)
# For `float`: log2(1 + f) / f, relative error 2**-33.2, and 2**r on |r| <= 1/2, relative error 2**-29.
SHORT_LOG2_POLY = (
    -0.08634175731820687,
    0.15485672852071966,
    -0.15698406619306723,
    0.1590018829493095,
    -0.1790467280109093,
    0.20609621372265138,
    -0.24050418568266566,
    0.28854064503005994,
    -0.3606728002924449,
    0.48089832071929306,
    -0.7213475252147702,
    1.442695040939326,
)
SHORT_EXP2_POLY = (
    0.00015345933041994802,
    0.001339993447198375,
    0.009618488427432166,
    0.055503287690992144,
    0.24022646896604571,
    0.6931472057387291,
    1.0000000005537872,
)


def _long_log2(e: Emitter, m: Val, k: Val) -> Pair:
    """`log2(2**k * m)` to 65 bits."""
    one = e.const_like(m, 1.0)
    f = e.op("fsub", m, one)
    divisor = fast_two_sum(e, one, m)
    inverse = e.op("fdiv", one, divisor.high)
    s = e.op("fmul", f, inverse)
    left = e.fma(e.fneg(s), divisor.low, e.fma(e.fneg(s), divisor.high, f))
    s_low = e.op("fmul", left, inverse)
    square = two_product(e, s, s)
    square_low = e.fma(e.op("fadd", s, s), s_low, square.low)
    *tail, fifth = ATANH_POLY
    quintic = e.fma(square.high, evaluate(e, square.high, tail), e.const_like(m, fifth))
    bracket = fast_fma(e, square.high, quintic, e.const_like(m, THIRD[0]))
    bracket_low = e.op("fadd", e.fma(square_low, quintic, bracket.low), e.const_like(m, THIRD[1]))
    cubic = two_product(e, square.high, bracket.high)
    cubic_low = e.fma(square_low, bracket.high, e.fma(square.high, bracket_low, cubic.low))
    rest = two_product(e, s, cubic.high)
    rest_low = e.fma(s_low, cubic.high, e.fma(s, cubic_low, rest.low))
    atanh = fast_two_sum(e, s, rest.high)
    atanh_low = e.op("fadd", atanh.low, e.op("fadd", rest_low, s_low))
    factor, factor_low = (e.const_like(m, part) for part in TWO_OVER_LN_2)
    log = two_product(e, atanh.high, factor)
    log_low = e.fma(atanh.high, factor_low, e.fma(atanh_low, factor, log.low))
    total = fast_two_sum(e, k, log.high)
    return Pair(total.high, e.op("fadd", total.low, log_low))


def _log2(e: Emitter, elem: str, m: Val, k: Val) -> Pair:
    """`log2(2**k * m)`, good enough for powers of type `elem`."""
    if elem == "double":
        return _long_log2(e, m, k)
    f = e.op("fsub", m, e.const_like(m, 1.0))
    return Pair(e.fma(f, evaluate(e, f, SHORT_LOG2_POLY), k), e.zero_like(f))


def _times(e: Emitter, log: Pair, y: Val) -> Pair:
    product = two_product(e, y, log.high)
    return Pair(product.high, e.fma(y, log.low, product.low))


def _exp2(e: Emitter, elem: str, power: Pair) -> tuple[Val, Whole]:
    """`2**power` as a value near 1 and a power of two."""
    k = nearest_whole(e, power.high)
    r = e.op("fsub", power.high, k.value)
    if elem == "float":
        return e.poly(r, list(SHORT_EXP2_POLY)), k
    *tail, slope, one = EXP2_POLY["double"]
    near = fast_fma(e, r, e.const_like(r, slope), e.const_like(r, one))
    low = e.fma(e.op("fmul", r, r), evaluate(e, r, tail), near.low)
    small = e.op("fmul", power.low, e.const_like(r, LN_2))
    return e.op("fadd", near.high, e.fma(small, e.op("fadd", near.high, low), low)), k


def _widen(e: Emitter, x: Val) -> Val:
    return x if x.elem == "double" else e.cast("fpext", x, "double")


def _narrow(e: Emitter, x: Val, elem: str) -> Val:
    return x if x.elem == elem else e.cast("fptrunc", x, elem)


def _magnitude(e: Emitter, elem: str, x: Val, y: Val) -> Val:
    """`x**y` for any `x` that is not negative."""
    zero, infinity = e.zero_like(x), e.const_like(x, math.inf)
    lift = MANTISSA_BITS["double"] + 1
    below_one = e.fcmp("olt", x, e.const_like(x, 1.0))
    lifted = e.select(below_one, e.const_like(x, float(lift)), zero)
    parts = split(e, e.select(below_one, e.op("fmul", x, e.const_like(x, 2.0**lift)), x))
    log = _log2(e, elem, parts.mantissa, e.op("fsub", parts.exponent, lifted))
    high = e.select(e.fcmp("oeq", x, zero), e.const_like(x, -math.inf), log.high)
    high = e.select(e.fcmp("ueq", x, infinity), x, high)
    power = _times(e, Pair(high, log.low), y)
    finite = e.fcmp("olt", e.call("fabs", power.high), e.const_like(x, OUTER))
    within = Pair(clamp(e, power.high, -OUTER, OUTER), e.select(finite, power.low, zero))
    return scale(e, *_exp2(e, elem, within))


def _any(e: Emitter, elem: str, x: Val, y: Val) -> Val:
    """`x**y` for any numbers at all, by the rules of C."""
    zero, one = e.zero_like(x), e.const_like(x, 1.0)
    size = e.call("fabs", x)
    result = e.select(e.fcmp("oeq", size, one), one, _magnitude(e, elem, size, y))
    whole = e.fcmp("oeq", e.call("trunc", y), y)
    half = e.op("fmul", y, e.const_like(y, 0.5))
    odd = e.op("and", whole, e.fcmp("one", e.call("trunc", half), half))
    bits = as_integer(e, x)
    negative = e.icmp("slt", bits, e.zero_like(bits))
    result = e.select(e.op("and", negative, odd), e.fneg(result), result)
    finite_negative = e.op("and", e.fcmp("olt", x, zero), e.fcmp("ogt", x, e.const_like(x, -math.inf)))
    result = e.select(e.op("and", finite_negative, e.not_(whole)), e.const_like(x, math.nan), result)
    return e.select(e.op("or", e.fcmp("oeq", x, one), e.fcmp("oeq", y, zero)), one, result)


def pow(e: Emitter, x: Val, y: Val) -> Val:
    """`x` to the power `y`."""
    wide_y = _widen(e, y)
    parts = split(e, x)
    log = _log2(e, x.elem, _widen(e, parts.mantissa), _widen(e, parts.exponent))
    power = _times(e, log, wide_y)
    usual = _narrow(e, scale_normal(e, *_exp2(e, x.elem, power)), x.elem)
    beyond = e.fcmp("ugt", e.call("fabs", power.high), e.const_like(power.high, NORMAL))
    return e.rare(
        e.op("or", not_positive_normal(e, x), beyond),
        usual,
        lambda: _narrow(e, _any(e, x.elem, _widen(e, x), wide_y), x.elem),
    )

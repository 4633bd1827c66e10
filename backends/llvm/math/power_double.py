"""Emit the parts of a `double` power: the logarithm as a sum of two values, and the exponential of such a sum.

With `s = (m - 1) / (m + 1)`, `log2(2**k m) = k + 2/ln(2) (s + s**3/3 + s**5 T(s**2))`. `s` and the first two terms keep
their rounding errors, which gives 65 accurate bits. So do the first terms of the power of two.
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .doubledouble import Pair, fast_fma, fast_two_sum, two_product
from .exponential import EXP2_POLY
from .polynomial import evaluate
from .scaling import Whole, nearest_whole, scale_normal, split

# 2 / ln(2) in two parts.
TWO_OVER_LN_2 = (2.8853900817779268, 4.0710547481862066e-17)
# (atanh(s) / s - 1) / s**2 in powers of s**2; relative error of the logarithm 2**-66.5.
ATANH_POLY = (
    0.06617513858572734,
    0.06626060515329917,
    0.07693495002989655,
    0.09090889165407096,
    0.11111111303618766,
    0.14285714284704867,
    0.20000000000002463,
    0.3333333333333333,
)


def log(e: Emitter, x: Val, lifted: Val | None = None) -> Pair:
    """Return `log2(x)` of a positive normal number, minus `lifted`."""
    parts = split(e, x)
    m = parts.mantissa
    k = e.op("fsub", parts.exponent, lifted) if lifted else parts.exponent
    one = e.const_like(m, 1.0)
    f = e.op("fsub", m, one)
    divisor = fast_two_sum(e, one, m)
    inverse = e.op("fdiv", one, divisor.high)
    s = e.op("fmul", f, inverse)
    left = e.fma(e.fneg(s), divisor.low, e.fma(e.fneg(s), divisor.high, f))
    s_low = e.op("fmul", left, inverse)
    square = two_product(e, s, s)
    *higher, third = ATANH_POLY
    bracket = fast_fma(e, square.high, evaluate(e, square.high, higher), e.const_like(m, third))
    cubic = two_product(e, square.high, bracket.high)
    cubic_low = e.fma(square.low, bracket.high, e.fma(square.high, bracket.low, cubic.low))
    rest = two_product(e, s, cubic.high)
    # The derivative 1 + s**2 + s**4 + ... of atanh, to 14 bits.
    slope = e.fma(cubic.high, e.const_like(m, 3.03), one)
    rest_low = e.fma(s_low, slope, e.fma(s, cubic_low, rest.low))
    atanh = fast_two_sum(e, s, rest.high)
    atanh_low = e.op("fadd", atanh.low, rest_low)
    factor, factor_low = (e.const_like(m, part) for part in TWO_OVER_LN_2)
    log = two_product(e, atanh.high, factor)
    log_low = e.fma(atanh.high, factor_low, e.fma(atanh_low, factor, log.low))
    total = fast_two_sum(e, k, log.high)
    return Pair(total.high, e.op("fadd", total.low, log_low))


def exp(e: Emitter, power: Pair) -> tuple[Val, Whole]:
    """`2**power` as a value near 1 and a power of two."""
    k = nearest_whole(e, power.high)
    r = e.op("fadd", e.op("fsub", power.high, k.value), power.low)
    *tail, slope, one = EXP2_POLY["double"]
    near = fast_fma(e, r, e.const_like(r, slope), e.const_like(r, one))
    return e.op("fadd", near.high, e.fma(e.op("fmul", r, r), evaluate(e, r, tail), near.low)), k


def exp_normal(e: Emitter, power: Pair) -> Val:
    """`2**power` where that is a normal number."""
    return scale_normal(e, *exp(e, power))

"""A value in, its logarithm out.

`x = 2**k * (1 + f)` with `1 + f` in [sqrt(1/2), sqrt(2)), and `log(x) = k log(2) + f + remainder(f)`. The remainder is
a polynomial for `float`; for `double` it comes from `s = f / (2 + f)`, whose series is shorter. `k log(2) + f` is kept
with its rounding error, so what is lost is the last rounding and a fraction of the remainder's.

Largest errors found, in ULP (`float`: all arguments; `double`: over 10**7): log 0.87 and 0.91, log2 0.98 and 0.93,
log10 0.89 and 0.90, log1p 0.92 and 0.89.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from ..text import Emitter, Val
from .bits import as_float
from .doubledouble import Pair, fast_two_sum, two_product
from .polynomial import evaluate
from .scaling import MANTISSA_BITS, exponent_bits, not_positive_normal, split


class Base(NamedTuple):
    """`log(2)` in two parts, the first short so that its product with an exponent is exact, and `log(e)` in two."""

    of_2: tuple[float, float]
    of_e: tuple[float, float]


BASE_E = {
    "float": Base((0.693145751953125, 1.428606765330187e-06), (1.0, 0.0)),
    "double": Base((0.6931471805598903, 5.497923018708371e-14), (1.0, 0.0)),
}
BASE_2 = {
    "float": Base((1.0, 0.0), (1.4426950216293335, 1.925963033500011e-08)),
    "double": Base((1.0, 0.0), (1.4426950408889634, 2.0355273740931033e-17)),
}
BASE_10 = {
    "float": Base((0.301025390625, 4.605039066518657e-06), (0.4342944920063019, -1.0103049952192578e-08)),
    "double": Base((0.30102999566395283, 2.8363394551044964e-14), (0.4342944819032518, 1.098319650216765e-17)),
}

# (log(1 + f) - f + f**2 / 2) / f**3 for `float`; relative error of the logarithm 2**-27.3.
FRACTION_POLY = (
    -0.07636262476444244,
    0.1276424527168274,
    -0.13160598278045654,
    0.1420137882232666,
    -0.16623297333717346,
    0.2000124603509903,
    -0.250008225440979,
    0.3333333134651184,
)
# (log((1 + s) / (1 - s)) / s - 2) / s**2 in powers of s**2 for `double`; relative error of the logarithm 2**-59.4.
QUOTIENT_POLY = (
    0.14798274491035296,
    0.15313831078351328,
    0.18183572379228383,
    0.22222198428815057,
    0.28571428743685956,
    0.3999999999940936,
    0.6666666666666735,
)

# 1 / (2 (1 + f)) to 4 bits, and far better near 0.
HALF_INVERSE_POLY = (0.45, -0.5, 0.5)


def _remainder(e: Emitter, f: Val, scale: float, plus: Val) -> Val:
    """`scale * (log(1 + f) - f) + plus`."""
    if f.elem == "float":
        square = e.op("fmul", f, f)
        series = evaluate(e, f, [scale * c for c in FRACTION_POLY])
        low = e.fma(e.op("fmul", square, f), series, plus)
        return e.fma(square, e.const_like(f, -0.5 * scale), low)
    minus_s = e.op("fdiv", f, e.op("fsub", e.const_like(f, -2.0), f))
    square = e.op("fmul", minus_s, minus_s)
    series = evaluate(e, square, [-c for c in QUOTIENT_POLY])
    if scale == 1.0:
        # 2 s = f - s f
        return e.fma(minus_s, e.fma(square, series, f), plus)
    # 2 s = f - f**2 / 2 + s f**2 / 2, which leaves less to the rounding of s, for the scale would add to it.
    half = two_product(e, e.op("fmul", f, e.const_like(f, 0.5)), f)
    small = e.fma(minus_s, e.fma(square, series, e.fneg(half.high)), e.fneg(half.low))
    return e.fma(small, e.const_like(f, scale), e.fma(half.high, e.const_like(f, -scale), plus))


def _combine(e: Emitter, k: Val, f: Val, base: Base, plus: Val) -> Val:
    """The logarithm of `2**k * (1 + f)`; `plus` is a small term of it."""
    if base.of_2 == (1.0, 0.0):
        # Adding a whole number to a fraction of at most 1/2 takes nothing from the fraction that would show.
        scale, e_low = base.of_e[0], e.const_like(f, base.of_e[1])
        low = _remainder(e, f, scale, e.fma(f, e_low, plus))
        return e.op("fadd", k, e.fma(f, e.const_like(f, scale), low))
    return e.op("fadd", *_terms(e, k, f, base, plus))


def _terms(e: Emitter, k: Val, f: Val, base: Base, plus: Val) -> Pair:
    """What `_combine` adds at last."""
    two_high, two_low = (e.const_like(f, part) for part in base.of_2)
    scale, e_low = base.of_e[0], e.const_like(f, base.of_e[1])
    scaled = f
    if scale != 1.0:
        scaled, rounding = two_product(e, f, e.const_like(f, scale))
        plus = e.op("fadd", plus, e.fma(f, e_low, rounding))
    high = e.fma(k, two_high, scaled)
    lost = e.op("fadd", e.fma(k, two_high, e.fneg(high)), scaled)
    low = e.fma(k, two_low, e.op("fadd", lost, plus))
    return Pair(high, _remainder(e, f, scale, low))


def _positive_normal(e: Emitter, x: Val, base: Base, lifted: Val | None = None) -> Val:
    parts = split(e, x)
    k = e.op("fsub", parts.exponent, lifted) if lifted else parts.exponent
    f = e.op("fsub", parts.mantissa, e.const_like(x, 1.0))
    return _combine(e, k, f, base, e.const_like(x, -0.0))


def _special(e: Emitter, x: Val, positive: Val) -> Val:
    """The logarithm of `x`, if `positive` is that of positive `x`."""
    zero = e.zero_like(x)
    result = e.select(e.fcmp("oeq", x, zero), e.const_like(x, -math.inf), positive)
    return e.select(e.fcmp("ult", x, zero), e.const_like(x, math.nan), result)


def _any(e: Emitter, x: Val, base: Base) -> Val:
    """The logarithm of any number at all."""
    lift = MANTISSA_BITS[x.elem] + 1
    small = e.fcmp("olt", x, e.const_like(x, 1.0))
    lifted = e.select(small, e.const_like(x, float(lift)), e.zero_like(x))
    normal = e.select(small, e.op("fmul", x, e.const_like(x, 2.0**lift)), x)
    result = _positive_normal(e, normal, base, lifted)
    return _special(e, x, e.select(e.fcmp("oeq", x, e.const_like(x, math.inf)), x, result))


def _logarithm(e: Emitter, x: Val, base: Base) -> Val:
    return e.rare(not_positive_normal(e, x), _positive_normal(e, x, base), lambda: _any(e, x, base))


def log(e: Emitter, x: Val) -> Val:
    """The natural logarithm."""
    return _logarithm(e, x, BASE_E[x.elem])


def log2(e: Emitter, x: Val) -> Val:
    """The logarithm to base 2."""
    return _logarithm(e, x, BASE_2[x.elem])


def log10(e: Emitter, x: Val) -> Val:
    """The logarithm to base 10."""
    return _logarithm(e, x, BASE_10[x.elem])


def log_of_pair(e: Emitter, x: Pair, doublings: int) -> Val:
    """The natural logarithm of the positive normal sum `x`, doubled as often as said."""
    return e.op("fadd", *log_terms(e, x, doublings, BASE_E))


def log_terms(e: Emitter, x: Pair, doublings: int, bases: Mapping[str, Base]) -> Pair:
    """`log_of_pair` in any base before its last sum, the second term the smaller one, for those who add to it."""
    one = e.const_like(x.high, 1.0)
    parts = split(e, x.high)
    f = e.op("fsub", parts.mantissa, one)
    twice_down = as_float(e, e.op("sub", e.const_like(parts.field, exponent_bits(one.elem, 1)), parts.field))
    plus = e.op("fmul", e.op("fmul", x.low, twice_down), e.poly(f, list(HALF_INVERSE_POLY)))
    # Minus zero, because adding it changes nothing at all.
    power = e.op("fadd", parts.exponent, e.const_like(one, doublings or -0.0))
    base = bases[one.elem]
    if base.of_e[0] != 1.0:
        plus = e.op("fmul", plus, e.const_like(one, base.of_e[0]))
    return _terms(e, power, f, base, plus)


def log1p(e: Emitter, x: Val) -> Val:
    """`log(1 + x)`, good near 0 too, for `1 + x` keeps what rounding takes from it."""
    one = e.const_like(x, 1.0)
    large = e.fcmp("ogt", x, one)
    total = fast_two_sum(e, e.select(large, x, one), e.select(large, one, x))
    # The sum of opposite zeros loses the sign of a zero.
    usual = e.call("copysign", log_of_pair(e, total, doublings=0), x)
    return e.rare(not_positive_normal(e, total.high), usual, lambda: _special(e, total.high, total.high))

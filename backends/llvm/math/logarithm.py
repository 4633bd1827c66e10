"""Emit the logarithms.

`x = 2**k * (1 + f)` with `1 + f` in [sqrt(1/2), sqrt(2)), and `log(x) = k log(2) + f + remainder(f)`. The remainder is
a polynomial for `float`; for `double` it comes from `s = f / (2 + f)`, whose series is shorter. `k log(2) + f` keeps
its rounding error, so only the last rounding and a fraction of the remainder's is lost. Where they are exact, products
and sums are used instead of an FMA, which overwrites one of its operands and so costs a copy.

Largest errors found, in ULP (`float`: all arguments; `double`: over 10**8): log 0.88 and 0.91, log2 0.98 and 0.94,
log10 0.89 and 0.90, log1p 0.95 and 0.90.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from ..code.text import Emitter, Val
from .bits import as_float
from .doubledouble import Pair, fast_two_sum, two_product
from .scaling import EXPONENT_UNIT, MANTISSA_BITS, exponent_bits, not_positive_normal, split


class Base(NamedTuple):
    """The constants for one base: `log(2)` and `log(e)`, each in two parts, and the coefficients of the remainder.

    The first part of `log(2)` is short, so that its product with an exponent is exact. The coefficients are those of
    `(log(1 + f) - f log(e)) / f**2` for `float`, and for `double` those of `(2 - log((1 + s) / (1 - s)) / s) / s**2` in
    powers of `s**2`, to base e.
    """

    of_2: tuple[float, float]
    of_e: tuple[float, float]
    remainder: tuple[float, ...]


# Relative error of the logarithm 2**-59.4.
QUOTIENT_POLY = (
    -0.14798274491035296,
    -0.15313831078351328,
    -0.18183572379228383,
    -0.22222198428815057,
    -0.28571428743685956,
    -0.3999999999940936,
    -0.6666666666666735,
)
# Relative errors of the logarithms of `float` 2**-27.4, 2**-27.7 and 2**-27.7.
BASE_E = {
    "float": Base(
        (0.693145751953125, 1.428606765330187e-06),
        (1.0, 0.0),
        (
            -0.07636211812496185,
            0.1276211142539978,
            -0.13159626722335815,
            0.14201588928699493,
            -0.166234090924263,
            0.2000124156475067,
            -0.2500081956386566,
            0.3333333134651184,
            -0.5,
        ),
    ),
    "double": Base((0.6931471805598903, 5.497923018708371e-14), (1.0, 0.0), QUOTIENT_POLY),
}
BASE_2 = {
    "float": Base(
        (1.0, 0.0),
        (1.4426950216293335, 1.925963033500011e-08),
        (
            -0.11097763478755951,
            0.1872280240058899,
            -0.19119329750537872,
            0.2044484168291092,
            -0.2395811825990677,
            0.2885737717151642,
            -0.3606984317302704,
            0.4808981716632843,
            -0.7213473320007324,
        ),
    ),
    "double": Base((1.0, 0.0), (1.4426950408889634, 2.0355273740931033e-17), QUOTIENT_POLY),
}
BASE_10 = {
    "float": Base(
        (0.301025390625, 4.605039066518657e-06),
        (0.4342944920063019, -1.0103049952192578e-08),
        (
            -0.033303409814834595,
            0.056244056671857834,
            -0.057535961270332336,
            0.06156137213110924,
            -0.07212549448013306,
            0.08686871081590652,
            -0.10858084261417389,
            0.14476478099822998,
            -0.21714718639850616,
        ),
    ),
    "double": Base(
        (0.30102999566395283, 2.8363394551044964e-14), (0.4342944819032518, 1.098319650216765e-17), QUOTIENT_POLY
    ),
}

# 1 / (2 (1 + f)), accurate to 4 bits and far better near 0.
HALF_INVERSE_POLY = (0.45, -0.5, 0.5)


def _remainder(e: Emitter, f: Val, base: Base, plus: Val) -> Val:
    """Return the logarithm of `1 + f` minus its first term, `f log(e)`, plus `plus`."""
    if f.elem == "float":
        return e.fma(e.op("fmul", f, f), e.poly(f, list(base.remainder)), plus)
    scale = base.of_e[0]
    minus_s = e.op("fdiv", f, e.op("fsub", e.const_like(f, -2.0), f))
    square = e.op("fmul", minus_s, minus_s)
    series = e.poly(square, list(base.remainder))
    if scale == 1.0:
        # 2 s = f - s f
        return e.fma(minus_s, e.fma(square, series, f), plus)
    # 2 s = f - f**2 / 2 + s f**2 / 2, which depends less on the rounding of s; scaling would add another error.
    half = two_product(e, e.op("fmul", f, e.const_like(f, 0.5)), f)
    small = e.fma(minus_s, e.fma(square, series, e.fneg(half.high)), e.fneg(half.low))
    return e.fma(small, e.const_like(f, scale), e.fma(half.high, e.const_like(f, -scale), plus))


def _combine(e: Emitter, k: Val, f: Val, base: Base, plus: Val | None = None) -> Val:
    """Return the logarithm of `2**(k * EXPONENT_UNIT) * (1 + f)`; `plus` is a small term of it."""
    if base.of_2 == (1.0, 0.0):
        # Adding an integer to a fraction of at most 1/2 loses nothing of the fraction that matters.
        scale, e_low = (e.const_like(f, part) for part in base.of_e)
        small = e.op("fmul", f, e_low) if plus is None else e.fma(f, e_low, plus)
        fraction = e.fma(f, scale, _remainder(e, f, base, small))
        return e.fma(k, e.const_like(f, EXPONENT_UNIT[f.elem]), fraction)
    return e.op("fadd", *_terms(e, k, f, base, plus))


def _terms(e: Emitter, k: Val, f: Val, base: Base, plus: Val | None) -> Pair:
    """Return the terms that `_combine` adds last."""
    two_high, two_low = (e.const_like(f, part * EXPONENT_UNIT[f.elem]) for part in base.of_2)
    whole = e.op("fmul", k, two_high)
    if base.of_e == (1.0, 0.0):
        high, lost = fast_two_sum(e, whole, f)
    else:
        scale, e_low = (e.const_like(f, part) for part in base.of_e)
        high = e.op("fadd", whole, e.op("fmul", f, scale))
        added = e.op("fsub", high, whole)
        lost = e.fma(f, e_low, e.fma(f, scale, e.fneg(added)))
    low = e.fma(k, two_low, lost if plus is None else e.op("fadd", lost, plus))
    return Pair(high, _remainder(e, f, base, low))


def _positive_normal(e: Emitter, x: Val, base: Base, lifted: Val | None = None) -> Val:
    parts = split(e, x)
    k = e.op("fsub", parts.exponent, lifted) if lifted else parts.exponent
    f = e.op("fsub", parts.mantissa, e.const_like(x, 1.0))
    return _combine(e, k, f, base)


def _special(e: Emitter, x: Val, positive: Val) -> Val:
    """Return the logarithm of any `x`, given its value `positive` for positive `x`."""
    zero = e.zero_like(x)
    result = e.select(e.fcmp("oeq", x, zero), e.const_like(x, -math.inf), positive)
    return e.select(e.fcmp("ult", x, zero), e.const_like(x, math.nan), result)


def _any(e: Emitter, x: Val, base: Base) -> Val:
    """Return the logarithm of any number."""
    lift = MANTISSA_BITS[x.elem] + 1
    small = e.fcmp("olt", x, e.const_like(x, 1.0))
    lifted = e.select(small, e.const_like(x, lift / EXPONENT_UNIT[x.elem]), e.zero_like(x))
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
    """Return the natural logarithm of the positive normal sum `x`, doubled this many times."""
    return e.op("fadd", *log_terms(e, x, doublings, BASE_E))


def log_terms(e: Emitter, x: Pair, doublings: int, bases: Mapping[str, Base]) -> Pair:
    """Return `log_of_pair` in any base as two terms, the second the smaller one, for callers that add to it."""
    one = e.const_like(x.high, 1.0)
    parts = split(e, x.high)
    f = e.op("fsub", parts.mantissa, one)
    twice_down = as_float(e, e.op("sub", e.const_like(parts.field, exponent_bits(one.elem, 1)), parts.field))
    plus = e.op("fmul", e.op("fmul", x.low, twice_down), e.poly(f, list(HALF_INVERSE_POLY)))
    # -0.0, because adding it changes nothing.
    power = e.op("fadd", parts.exponent, e.const_like(one, doublings / EXPONENT_UNIT[one.elem] or -0.0))
    base = bases[one.elem]
    if base.of_e[0] != 1.0:
        plus = e.op("fmul", plus, e.const_like(one, base.of_e[0]))
    return _terms(e, power, f, base, plus)


def log_plus(e: Emitter, x: Val, plus: Val) -> Val:
    """The natural logarithm of a positive normal number, and a small term."""
    parts = split(e, x)
    f = e.op("fsub", parts.mantissa, e.const_like(x, 1.0))
    return e.op("fadd", *_terms(e, parts.exponent, f, BASE_E[x.elem], plus))


def log1p(e: Emitter, x: Val) -> Val:
    """Return `log(1 + x)`, accurate near 0 too, because `1 + x` keeps its rounding error."""
    one = e.const_like(x, 1.0)
    large = e.fcmp("ogt", x, one)
    total = fast_two_sum(e, e.select(large, x, one), e.select(large, one, x))
    # The sum of opposite zeros loses the sign of a zero.
    usual = e.call("copysign", log_of_pair(e, total, doublings=0), x)
    return e.rare(not_positive_normal(e, total.high), usual, lambda: _special(e, total.high, total.high))

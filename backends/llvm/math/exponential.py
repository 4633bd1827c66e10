"""Emit the exponential functions.

The exponent of the result is `k = round(x / ln 2)`. The remainder `r = x - k ln 2` takes two FMA steps, of which the
first is exact, and a polynomial gives `exp(r)` on `|r| <= ln(2) / 2`. Results that are not normal numbers take the rare
branch. It scales the usual result in two steps, so it needs little code and does not keep the argument in a register.
AVX-512 scales `float` by any power in one instruction, with the same bits; without the branch LLVM has a fifth less to
do. (For `double` this made short rows slower.) Lanes whose result is 0 are not scaled: underflow takes the machine a
hundred times as long. `expm1` keeps the rounding errors of the sums that cancel.

Largest errors found, in ULP (`float`: all arguments; `double`: over 10**8): exp 0.90 and 0.93, exp2 0.88 and 0.88,
expm1 0.89 and 0.90.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..code.text import Emitter, Val
from .doubledouble import fast_fma, fast_two_sum
from .polynomial import evaluate
from .scaling import Whole, fills_avx512, nearest_whole, scale, scale_normal, scaled_where

LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first is short enough for its product with any `k` to be exact.
LN_2 = {"float": (0.693145751953125, 1.4286068203094173e-06), "double": (0.6931471805598903, 5.497923018708371e-14)}

# Up to this magnitude the result is a normal number; beyond the outer bounds it is 0 or infinity.
EXP_NORMAL = {"float": 87.0, "double": 708.0}
EXP_BOUNDS = {"float": (-104.0, 89.0), "double": (-746.0, 710.0)}
EXP2_NORMAL = {"float": 126.0, "double": 1022.0}
EXP2_BOUNDS = {"float": (-151.0, 129.0), "double": (-1076.0, 1025.0)}

# exp(r) on |r| <= ln(2) / 2; relative error 2**-28.2 and 2**-57.9.
EXP_POLY = {
    "float": (
        0.0013820749009028077,
        0.008368677459657192,
        0.04166826605796814,
        0.1666652113199234,
        0.4999999403953552,
        1.0,
        1.0,
    ),
    "double": (
        2.500743199620559e-08,
        2.7630326403566405e-07,
        2.7557559653386363e-06,
        2.4801492827258412e-05,
        0.00019841269542085317,
        0.0013888888943990039,
        0.008333333333474083,
        0.04166666666652802,
        0.16666666666666455,
        0.5000000000000011,
        1.0,
        1.0,
    ),
}
# 2**r on |r| <= 1/2; relative error 2**-28.3 and 2**-57.7.
EXP2_POLY = {
    "float": (
        0.00015329245070461184,
        0.0013390973908826709,
        0.00961849931627512,
        0.05550359562039375,
        0.24022647738456726,
        0.6931471824645996,
        1.0,
    ),
    "double": (
        4.438858655636953e-10,
        7.073236476527634e-09,
        1.0178160092893836e-07,
        1.3215438818423287e-06,
        1.5252733633832778e-05,
        0.00015403530449064647,
        0.0013333558146546446,
        0.00961812910760159,
        0.05550410866482172,
        0.24022650695910108,
        0.6931471805599453,
        1.0,
    ),
}

# (exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 2; relative error of exp(r) - 1 2**-28.7 and 2**-59.6.
EXPM1_POLY = {
    "float": (
        0.00019845862698275596,
        0.001394066959619522,
        0.008333389647305012,
        0.04166635870933533,
        0.1666666567325592,
        0.5,
    ),
    "double": (
        2.087521435727026e-09,
        2.5109025695108077e-08,
        2.7557403154273735e-07,
        2.7557244250617454e-06,
        2.4801587171770944e-05,
        0.0001984126988607687,
        0.0013888888888962854,
        0.008333333333321653,
        0.041666666666666505,
        0.16666666666666677,
        0.5,
    ),
}


def _exp_parts(e: Emitter, x: Val) -> tuple[Val, Whole]:
    """`exp(x)` as a value near 1 and a power of two."""
    k = nearest_whole(e, x, LOG2_E)
    high, low = LN_2[x.elem]
    r = e.fma(k.value, e.const_like(x, -low), e.fma(k.value, e.const_like(x, -high), x))
    return e.poly(r, list(EXP_POLY[x.elem])), k


def _exp2_parts(e: Emitter, x: Val) -> tuple[Val, Whole]:
    """`2**x` as a value near 1 and a power of two."""
    k = nearest_whole(e, x)
    return e.poly(e.op("fsub", x, k.value), list(EXP2_POLY[x.elem])), k


def _of_any_size(e: Emitter, near_one: Val, k: Whole) -> Val:
    """Return `near_one * 2**k` for any `k`; if `k` is far out of range or NaN, `near_one` has no meaning."""
    low, high = (e.const_like(near_one, bound) for bound in EXP2_BOUNDS[near_one.elem])
    zero, too_small, too_large = e.zero_like(near_one), e.fcmp("olt", k.value, low), e.fcmp("ugt", k.value, high)
    power = e.select(too_large, high, e.select(too_small, zero, k.value))
    scaled = scale(e, near_one, nearest_whole(e, power))
    scaled = e.select(too_large, e.op("fadd", k.value, e.const_like(near_one, math.inf)), scaled)
    return e.select(too_small, zero, scaled)


def _scaled(e: Emitter, beyond: Val, near_one: Val, k: Whole) -> Val:
    return e.rare(beyond, scale_normal(e, near_one, k), lambda: _of_any_size(e, near_one, k))


def _at_once(
    e: Emitter, x: Val, bounds: tuple[float, float], parts: Callable[[Emitter, Val], tuple[Val, Whole]]
) -> Val:
    """Return the result of any size if `fills_avx512`: 0 up to the lower bound, infinite from the upper one on."""
    low, high = (e.const_like(x, bound) for bound in bounds)
    near_one, k = parts(e, e.select(e.fcmp("ogt", x, high), high, x))
    return scaled_where(e, e.fcmp("ugt", x, low), near_one, k.value)


def exp(e: Emitter, x: Val) -> Val:
    """e to the power `x`."""
    if fills_avx512(e, x):
        return _at_once(e, x, EXP_BOUNDS[x.elem], _exp_parts)
    beyond = e.fcmp("ugt", e.call("fabs", x), e.const_like(x, EXP_NORMAL[x.elem]))
    return _scaled(e, beyond, *_exp_parts(e, x))


def exp2(e: Emitter, x: Val) -> Val:
    """2 to the power `x`."""
    if fills_avx512(e, x):
        return _at_once(e, x, EXP2_BOUNDS[x.elem], _exp2_parts)
    beyond = e.fcmp("ugt", e.call("fabs", x), e.const_like(x, EXP2_NORMAL[x.elem]))
    return _scaled(e, beyond, *_exp2_parts(e, x))


def _expm1_normal(e: Emitter, x: Val) -> Val:
    """`2**k (r + remainder) + (2**k - 1)`, where the sums of the large parts keep their rounding errors."""
    k = nearest_whole(e, x, LOG2_E)
    high, low = (e.const_like(x, -part) for part in LN_2[x.elem])
    first = e.fma(k.value, high, x)
    second = e.op("fmul", k.value, low)
    r, r_low = fast_two_sum(e, first, second)
    *tail, half = EXPM1_POLY[x.elem]
    series = e.fma(evaluate(e, r, tail), r, e.const_like(x, half))
    # The rounding error of `r` changes `exp(r) - 1 - r` by nearly `r` times that error.
    remainder = e.fma(e.op("fmul", r, r), series, e.fma(r, r_low, second))
    one = e.const_like(x, 1.0)
    power = scale_normal(e, one, k)
    less_one = e.op("fsub", power, one)
    lost = e.op("fsub", e.op("fsub", power, less_one), one)
    total = fast_fma(e, power, first, less_one)
    rest = e.fma(power, remainder, e.op("fadd", total.low, lost))
    # The sum of opposite zeros loses the sign of a zero.
    return e.call("copysign", e.op("fadd", total.high, rest), x)


def expm1(e: Emitter, x: Val) -> Val:
    """Return `exp(x) - 1`, accurate near 0 too."""

    def handle() -> Val:
        negative = e.fcmp("olt", x, e.zero_like(x))
        return e.select(negative, e.const_like(x, -1.0), _of_any_size(e, *_exp_parts(e, x)))

    beyond = e.fcmp("ugt", e.call("fabs", x), e.const_like(x, EXP_NORMAL[x.elem]))
    return e.rare(beyond, _expm1_normal(e, x), handle)

"""Emit the hyperbolic sine and cosine.

`|x| = k ln 2 + r` with `|r| <= ln(2) / 2`, where `r` is a sum of two values. Minimax polynomials
in `r^2` give `S = sinh r` and `C = cosh r` (to 2**-61 for `double`, 2**-33 for `float`), and the addition theorems

    sinh x = C (2^k - 2^-k) / 2 + S (2^k + 2^-k) / 2
    cosh x = C (2^k + 2^-k) / 2 + S (2^k - 2^-k) / 2

have no cancellation. Results near overflow take the rare branch, where both are half of `2^k (C + S)`.

Largest errors in ULP (`float` over every argument from 2**-13 on, `double` over 10**8): `sinh` 0.94 and 0.89,
`cosh` 0.93 and 0.92.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import Emitter, Val
from .bits import as_float, at_most, flip_sign, sign_bit
from .doubledouble import fast_fma, fast_two_sum
from .exponential import LN_2, LOG2_E
from .scaling import BIAS, MANTISSA_BITS, Whole, nearest_whole, scale

# sinh r = r + r z SINH(z) and cosh r = 1 + z COSH(z), where z = r^2.
SINH = {
    "float": [0.00019974067981820554, 0.00833317544311285, 0.1666666716337204],
    "double": [
        2.5109307262079675e-08,
        2.7557243464760356e-06,
        0.00019841269886819866,
        0.008333333333321384,
        0.16666666666666677,
    ],
}
COSH = {
    "float": [0.0013935440219938755, 0.041666459292173386, 0.5],
    "double": [
        2.0921774769142818e-09,
        2.755725180797962e-07,
        2.480158734921107e-05,
        0.0013888888888873281,
        0.041666666666666685,
        0.5,
    ],
}
# Up to the first bound both powers of two are normal numbers; from the second on the result is infinite.
SINH_NORMAL = {"float": 86.0, "double": 707.0}
SINH_BOUND = {"float": 90.0, "double": 711.0}


class ReducedArgument(NamedTuple):
    """`power` is `k`, `high + low` is `r`, and with `square` the square of `high`,

    `S = r + high * square * sinh` and `C = 1 + square * cosh`."""

    power: Whole
    high: Val
    low: Val
    square: Val
    sinh: Val
    cosh: Val


def sinh(e: Emitter, x: Val) -> Val:
    """The hyperbolic sine."""
    magnitude = e.call("fabs", x)
    usual = _sinh_of_reduced(e, reduce_by_ln_2(e, magnitude))
    return flip_sign(e, _beyond(e, magnitude, usual), sign_bit(e, x))


def cosh(e: Emitter, x: Val) -> Val:
    """The hyperbolic cosine."""
    magnitude = e.call("fabs", x)
    return _beyond(e, magnitude, _cosh_of_reduced(e, reduce_by_ln_2(e, magnitude)))


def reduce_by_ln_2(e: Emitter, x: Val, rest: Val | None = None) -> ReducedArgument:
    """Subtract the multiple of `ln 2` nearest to `x` from `x + rest`, and evaluate the polynomials of the remainder."""
    power = nearest_whole(e, x, LOG2_E)
    first, second = (e.const_like(x, -part) for part in LN_2[x.elem])
    exact = e.fma(power.value, first, x)
    high = e.fma(power.value, second, exact)
    low = e.fma(power.value, second, e.op("fsub", exact, high))
    if rest:
        high, low = fast_two_sum(e, high, e.op("fadd", low, rest))
    square = e.op("fmul", high, high)
    return ReducedArgument(power, high, low, square, e.poly(square, SINH[x.elem]), e.poly(square, COSH[x.elem]))


def powers(e: Emitter, power: Whole, elem: str, halvings: int) -> tuple[Val, Val]:
    """Return `2^power` and `2^-power`, both halved this many times; both must be normal numbers."""
    mantissa = MANTISSA_BITS[elem]
    one = e.const_like(power.bits, (BIAS[elem] - halvings) << mantissa)
    step = e.op("shl", power.bits, e.const_like(power.bits, mantissa))
    return as_float(e, e.op("add", one, step)), as_float(e, e.op("sub", one, step))


def exp_rest(e: Emitter, reduced: ReducedArgument) -> Val:
    """Return the difference between `exp(high + low)` and `1 + high`."""
    return e.fma(reduced.square, e.fma(reduced.high, reduced.sinh, reduced.cosh), reduced.low)


def _sinh_of_reduced(e: Emitter, reduced: ReducedArgument) -> Val:
    power, r, low, square, sinh_part, cosh_part = reduced
    grown, shrunk = powers(e, power, r.elem, 1)
    of_cosh, of_sinh = e.op("fsub", grown, shrunk), e.op("fadd", grown, shrunk)
    lost = e.op("fsub", e.op("fsub", grown, of_cosh), shrunk)
    total = fast_fma(e, of_sinh, r, of_cosh)
    sinh_rest = e.fma(e.op("fmul", r, square), sinh_part, low)
    rest = e.fma(of_cosh, e.op("fmul", square, cosh_part), e.op("fadd", total.low, lost))
    return e.op("fadd", total.high, e.fma(of_sinh, sinh_rest, rest))


def _cosh_of_reduced(e: Emitter, reduced: ReducedArgument) -> Val:
    power, r, low, square, sinh_part, cosh_part = reduced
    grown, shrunk = powers(e, power, r.elem, 1)
    of_sinh, of_cosh = e.op("fsub", grown, shrunk), e.op("fadd", grown, shrunk)
    lost = e.op("fsub", shrunk, e.op("fsub", of_cosh, grown))
    sinh_rest = e.fma(e.op("fmul", r, square), sinh_part, low)
    rest = e.fma(of_sinh, sinh_rest, e.fma(of_cosh, e.op("fmul", square, cosh_part), lost))
    return e.op("fadd", of_cosh, e.fma(grown, r, e.fma(e.fneg(shrunk), r, rest)))


def _beyond(e: Emitter, magnitude: Val, usual: Val) -> Val:
    """Return `usual`, or half of the exponential for magnitudes near overflow or beyond."""

    def half_exp() -> Val:
        reduced = reduce_by_ln_2(e, at_most(e, magnitude, SINH_BOUND[magnitude.elem]))
        half = e.const_like(magnitude, 0.5)
        half_of_exp = e.fma(half, e.op("fadd", reduced.high, exp_rest(e, reduced)), half)
        return scale(e, half_of_exp, reduced.power)

    large = e.fcmp("ugt", magnitude, e.const_like(magnitude, SINH_NORMAL[magnitude.elem]))
    return e.rare(large, usual, half_exp)

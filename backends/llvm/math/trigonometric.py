"""Angles in radians in, sines, cosines and tangents out.

The angle is reduced to `[-pi/4, pi/4]` as a sum of two values (`pio2`); then both
`sin r = r + (low + r^3 P(r^2))` and `cos r = 1 + r^2 (-1/2 + r^2 Q(r^2))` are
evaluated and the quadrant selects one. `P` and `Q` are minimax polynomials, good to 2**-28 (`float`) and
2**-58 (`double`). Largest error of `sin` and `cos`: 0.88 ULP (`float`, every argument; `double`, 10**7 arguments).
"""

from __future__ import annotations

from ..text import BITS, Emitter, Val
from .bits import flip_sign, sign_bit
from .pio2 import MODERATE, Reduced, reduce_huge, reduce_moderate

SINE = {
    "float": [-0.00019518595945555717, 0.008332191035151482, -0.16666655242443085],
    "double": [
        1.589679152102546e-10,
        -2.505075843546637e-08,
        2.7557313697161273e-06,
        -0.0001984126982983552,
        0.008333333333322472,
        -0.16666666666666632,
    ],
}
COSINE = {
    "float": [2.4432332793367095e-05, -0.0013887309469282627, 0.04166664555668831, -0.5],
    "double": [
        -1.1358672546638231e-11,
        2.08757040876277e-09,
        -2.755731420900421e-07,
        2.4801587288981093e-05,
        -0.0013888888888873322,
        0.041666666666666595,
        -0.5,
    ],
}


def sin(e: Emitter, x: Val) -> Val:
    return flip_sign(e, _sine(e, e.call("fabs", x), 0), sign_bit(e, x))


def cos(e: Emitter, x: Val) -> Val:
    return _sine(e, e.call("fabs", x), 1)


def _sine(e: Emitter, magnitude: Val, quarter_turns: int) -> Val:
    """The sine of an angle that is not negative, advanced by some quarter turns."""
    usual = _sine_of_reduced(e, reduce_moderate(e, magnitude, quarter_turns))
    huge = e.fcmp("ugt", magnitude, e.const_like(magnitude, MODERATE[magnitude.elem]))
    return e.rare(huge, usual, lambda: _sine_of_reduced(e, reduce_huge(e, magnitude, quarter_turns)))


def _sine_of_reduced(e: Emitter, angle: Reduced) -> Val:
    quadrant, r, low = angle
    square = _square(e, angle)
    correction = e.fma(e.op("fmul", r, square), e.poly(square, SINE[r.elem]), low)
    sine = e.op("fadd", r, correction)
    cosine = e.fma(square, e.poly(square, COSINE[r.elem]), e.const_like(r, 1.0))
    odd = e.cast("trunc", quadrant, "i1")
    negative = sign_bit(e, e.op("shl", quadrant, e.const_like(quadrant, BITS[r.elem] - 2)))
    return flip_sign(e, e.select(odd, cosine, sine), negative)


def _square(e: Emitter, angle: Reduced) -> Val:
    """The square of the angle; twice the product of its parts matters to the cosine near `pi/4`."""
    r, low = angle.high, angle.low
    return e.fma(r, r, e.op("fmul", r, e.op("fadd", low, low)))

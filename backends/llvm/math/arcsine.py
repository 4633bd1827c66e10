"""Emit arcsine and arccosine.

`asin t = t + t^3 B(t^2)` on `[0, 1/2]`; beyond that, `asin x = pi/2 - 2 asin(t)` and `acos x = 2 asin(t)` with `t =
sqrt((1 - x) / 2)`. The rounding error of the root is corrected: `t^2` is exact, and an approximate `1/t` is enough.

Largest errors in ULP (`float` over every argument from 2**-13 on, `double` over 10**8 points): `asin` 0.71 and 0.69,
`acos` 0.69 and 0.65.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .bits import flip_sign, sign_bit
from .doubledouble import Pair, fast_two_sum, square_root
from .polynomial import evaluate

ASIN = {
    "float": [
        0.04215943440794945,
        0.024184124544262886,
        0.04546927288174629,
        0.07495308667421341,
        0.16666752099990845,
    ],
    "double": [
        0.03262691948741039,
        -0.02099617541564297,
        0.021705275709596503,
        0.0037073639121944484,
        0.01077998030742109,
        0.011398965039768052,
        0.013980813460518784,
        0.01735161267210367,
        0.02237221494597592,
        0.030381942709515497,
        0.04464285717456766,
        0.0749999999997086,
        0.1666666666666676,
    ],
}
# pi in two parts.
PI = {"float": (3.1415927410125732, -8.742278012618954e-08), "double": (math.pi, 1.2246467991473532e-16)}


def asin(e: Emitter, x: Val) -> Val:
    """The angle whose sine is `x`."""
    magnitude = e.call("fabs", x)
    large = e.fcmp("ogt", magnitude, e.const_like(x, 0.5))
    sine, rest = _asin_parts(e, magnitude, large)
    factor = e.select(large, e.const_like(x, -2.0), e.const_like(x, 1.0))
    turns = e.select(large, e.const_like(x, 0.5), e.zero_like(x))
    angle = _half_turns_plus(e, turns, e.op("fmul", sine, factor), e.op("fmul", rest, factor))
    return flip_sign(e, e.op("fadd", *angle), sign_bit(e, x))


def acos(e: Emitter, x: Val) -> Val:
    """The angle whose cosine is `x`."""
    magnitude = e.call("fabs", x)
    large = e.fcmp("ogt", magnitude, e.const_like(x, 0.5))
    sine, rest = _asin_parts(e, magnitude, large)
    factor = e.select(large, e.const_like(x, 2.0), e.const_like(x, -1.0))
    factor = flip_sign(e, factor, sign_bit(e, x))
    negative = e.fcmp("olt", x, e.zero_like(x))
    turns = e.select(negative, e.const_like(x, 1.0), e.zero_like(x))
    turns = e.select(large, turns, e.const_like(x, 0.5))
    return e.op("fadd", *_half_turns_plus(e, turns, e.op("fmul", sine, factor), e.op("fmul", rest, factor)))


def _half_turns_plus(e: Emitter, turns: Val, angle: Val, rest: Val) -> Pair:
    """Return `turns * pi + angle + rest`; `turns` is 0, 1/2 or 1; `angle` is the smaller term unless `turns` is 0."""
    high, low = (e.const_like(turns, part) for part in PI[turns.elem])
    total = fast_two_sum(e, e.op("fmul", turns, high), angle)
    return Pair(total.high, e.op("fadd", total.low, e.fma(turns, low, rest)))


def _asin_parts(e: Emitter, magnitude: Val, large: Val) -> Pair:
    """Return the arcsine of `magnitude`, or of `sqrt((1 - magnitude) / 2)` if it is large, and a small rest."""
    half = e.const_like(magnitude, 0.5)
    complement = e.fma(magnitude, e.const_like(magnitude, -0.5), half)
    root = square_root(e, Pair(complement, e.const_like(half, -0.0)))
    sine = e.select(large, root.high, magnitude)
    square = e.select(large, complement, e.op("fmul", magnitude, magnitude))
    lost = e.select(large, root.low, e.zero_like(half))
    return Pair(sine, e.fma(e.op("fmul", sine, square), evaluate(e, square, ASIN[magnitude.elem]), lost))

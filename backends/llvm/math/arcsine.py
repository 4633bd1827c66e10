"""Emit the inverse trigonometric functions.

`atan` and `atan2` of `float` use tables (`arctangent_float`). For `double`, from 1 on, the angle is `pi/2 - atan(1/x)`.
On `[0, 1]` a minimax polynomial gives `atan t = t + t^3 A(t^2)`. The cubic term is up to a fifth of the angle, so its
rounding errors are kept, and so is that of `1/x`. `atan2` divides the smaller magnitude by the larger in the same way;
the rare branch handles magnitudes for which the quotient or its remainder would lose digits.

`asin` and `acos`: `asin t = t + t^3 B(t^2)` on `[0, 1/2]`; beyond that, `asin x = pi/2 - 2 asin(t)` and `acos x = 2
asin(t)` with `t = sqrt((1 - x) / 2)`. The rounding error of the root is corrected: `t^2` is exact, and an approximate
`1/t` is enough.

Largest errors in ULP (`float` over every argument from 2**-13 on, `double` over 10**8 points): `atan` of `double` 0.90,
`atan2` of `double` 0.92, `asin` 0.71 and 0.69, `acos` 0.69 and 0.65.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from . import arctangent_float
from .bits import as_integer, at_most, flip_sign, sign_bit
from .doubledouble import Pair, fast_fma, fast_two_sum, square_root, two_product
from .polynomial import evaluate, evaluate_alternating

ATAN = [
    -8.663437924532605e-06,
    0.0001039708279381396,
    -0.0005933862094126068,
    0.0021531042826570357,
    -0.005615610436404649,
    0.011322674085709547,
    -0.01862014309464093,
    0.02615712128428903,
    -0.03278935997207258,
    0.03821230368503081,
    -0.04286491936769804,
    0.047449620858705195,
    -0.05259443828248813,
    0.05881718324795009,
    -0.06666584080045711,
    0.07692299755411841,
    -0.09090908551071504,
    0.11111111086674101,
    -0.14285714285045065,
    0.19999999999990617,
    -0.33333333333333287,
]
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
# From here on the arctangent is pi/2.
FLAT = 2.0**60
# Between these magnitudes a quotient and its remainder lose no digits.
SAFE = (2.0**-500, 2.0**500)
RESCALE = 2.0**512
# Below this quotient the angle is the quotient.
NEGLIGIBLE = 2.0**-28


def atan(e: Emitter, x: Val) -> Val:
    """The angle whose tangent is `x`."""
    if x.elem == "float":
        return arctangent_float.atan(e, x)
    magnitude = at_most(e, e.call("fabs", x), FLAT)
    one = e.const_like(x, 1.0)
    large = e.fcmp("ogt", magnitude, one)
    inverse = e.op("fdiv", e.const_like(x, -1.0), magnitude)
    lost = e.op("fmul", e.fma(inverse, magnitude, one), inverse)
    tangent = Pair(e.select(large, inverse, magnitude), e.select(large, lost, e.zero_like(x)))
    turns = e.select(large, e.const_like(x, 0.5), e.zero_like(x))
    angle = _half_turns_plus_atan(e, turns, tangent)
    return flip_sign(e, angle, sign_bit(e, x))


def atan2(e: Emitter, y: Val, x: Val) -> Val:
    """The angle of the point `(x, y)`, from minus pi to pi."""
    if x.elem == "float":
        return arctangent_float.atan2(e, y, x)
    width, height = e.call("fabs", x), e.call("fabs", y)
    steep = e.fcmp("ogt", height, width)
    larger, smaller = e.select(steep, height, width), e.select(steep, width, height)
    left = sign_bit(e, x)
    downward = e.select(steep, sign_bit(e, e.not_(as_integer(e, x))), left)
    turns = e.select(e.icmp("ne", left, e.zero_like(left)), e.const_like(x, 1.0), e.zero_like(x))
    turns = e.select(steep, e.const_like(x, 0.5), turns)

    def angle(tangent: Pair) -> Val:
        tangent = Pair(flip_sign(e, tangent.high, downward), flip_sign(e, tangent.low, downward))
        return _half_turns_plus_atan(e, turns, tangent)

    def of_extreme() -> Val:
        undefined = e.fcmp("uno", x, y)
        return e.select(undefined, e.op("fadd", x, y), angle(_extreme_quotient(e, smaller, larger)))

    usual = angle(_quotient(e, smaller, larger))
    return flip_sign(e, e.rare(_extreme(e, smaller, larger), usual, of_extreme), sign_bit(e, y))


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


def _half_turns_plus_atan(e: Emitter, turns: Val, tangent: Pair) -> Val:
    """Return `turns * pi + atan(tangent)`, with the rounding errors of the cubic term, a fifth of the angle at 1."""
    t = tangent.high
    square = two_product(e, t, t)
    # 1 - t^2 / 2 is close enough to the slope 1 / (1 + t^2).
    low = e.fma(e.op("fmul", square.high, tangent.low), e.const_like(t, -0.5), tangent.low)
    total = _half_turns_plus(e, turns, t, low)
    *upper, lowest = ATAN
    series = fast_fma(e, square.high, evaluate_alternating(e, square.high, upper), e.const_like(t, lowest))
    factor = two_product(e, t, series.high)
    factor_low = e.fma(t, series.low, factor.low)
    rest = e.fma(square.high, factor_low, e.fma(square.low, factor.high, total.low))
    return e.op("fadd", total.high, e.fma(square.high, factor.high, rest))


def _quotient(e: Emitter, a: Val, b: Val) -> Pair:
    reciprocal = e.op("fdiv", e.const_like(b, 1.0), b)
    high = e.op("fmul", a, reciprocal)
    return Pair(high, e.op("fmul", e.fma(e.fneg(high), b, a), reciprocal))


def _extreme(e: Emitter, smaller: Val, larger: Val) -> Val:
    """Tell whether the larger magnitude is out of the safe range, or the smaller one is below it but not zero."""
    lowest, highest = (e.const_like(larger, bound) for bound in SAFE)
    outside = e.op("or", e.fcmp("ult", larger, lowest), e.fcmp("ugt", larger, highest))
    tiny = e.op("and", e.fcmp("olt", smaller, lowest), e.fcmp("une", smaller, e.zero_like(smaller)))
    return e.op("or", outside, tiny)


def _extreme_quotient(e: Emitter, smaller: Val, larger: Val) -> Pair:
    """Return the quotient of any two magnitudes; that of two zeros is 0, and that of two infinities 1."""
    zero, one = e.zero_like(larger), e.const_like(larger, 1.0)
    quotient = e.op("fdiv", smaller, larger)
    quotient = e.select(e.fcmp("oeq", smaller, larger), one, quotient)
    quotient = e.select(e.fcmp("oeq", smaller, zero), zero, quotient)
    factor = RESCALE
    scale = e.select(e.fcmp("ogt", larger, one), e.const_like(larger, 1 / factor), e.const_like(larger, factor))
    smaller, larger = e.op("fmul", smaller, scale), e.op("fmul", larger, scale)
    rest = e.op("fdiv", e.fma(e.fneg(quotient), larger, smaller), larger)
    matters = e.fcmp("ogt", quotient, e.const_like(larger, NEGLIGIBLE))
    matters = e.op("and", matters, e.fcmp("olt", quotient, one))
    return Pair(quotient, e.select(matters, rest, zero))


def _asin_parts(e: Emitter, magnitude: Val, large: Val) -> Pair:
    """Return the arcsine of `magnitude`, or of `sqrt((1 - magnitude) / 2)` if it is large, and a small rest."""
    half = e.const_like(magnitude, 0.5)
    complement = e.fma(magnitude, e.const_like(magnitude, -0.5), half)
    root = square_root(e, Pair(complement, e.const_like(half, -0.0)))
    sine = e.select(large, root.high, magnitude)
    square = e.select(large, complement, e.op("fmul", magnitude, magnitude))
    lost = e.select(large, root.low, e.zero_like(half))
    return Pair(sine, e.fma(e.op("fmul", sine, square), evaluate(e, square, ASIN[magnitude.elem]), lost))

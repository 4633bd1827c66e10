"""Values in, inverse hyperbolic functions out.

`atanh x = k ln(2)/2 + atanh t` with `t = (x (1 + 2^-k) - (1 - 2^-k)) / (1 + 2^-k - x (1 - 2^-k))`, where `k` is near
`log2((1 + x) / (1 - x))`, read off the bits of both. It is `x` itself for `k = 0`, and `k` is biased as in `tanh`.

`asinh x = log(x + sqrt(x^2 + 1))` from 1/2 on and `acosh x = log(x + sqrt(x^2 - 1))` from 3/2 on, with the argument of
the logarithm a sum of two values. Below, minimax polynomials give `asinh x = x + x^3 P(x^2)` and, with `t = x - 1`,
`acosh x = sqrt(2 t) (1 + t Q(t))`.

Largest errors in ULP (`float` over every argument from 2**-13 to 32, `double` over 10**7): `atanh` 0.79 and 0.79,
`asinh` 0.70 and 0.67, `acosh` 0.72 and 0.66.
"""

from __future__ import annotations

import math

from ..text import Emitter, Val
from .bits import as_float, as_integer, flip_sign, sign_bit
from .doubledouble import Pair, divide, fast_two_sum, square_root, two_product, two_sum
from .exponential import LN_2
from .logarithm import log_of_pair
from .polynomial import evaluate
from .scaling import MANTISSA_BITS, exponent_bits

ASINH = {
    "float": [
        -0.013213424012064934,
        0.028156613931059837,
        -0.04438234865665436,
        0.07498638331890106,
        -0.1666664332151413,
    ],
    "double": [
        0.001716549047115477,
        -0.004745424377091229,
        0.007464369772369353,
        -0.009533731496098898,
        0.01151289832717491,
        -0.013960220682260655,
        0.017352385942631,
        -0.02237213830240052,
        0.030381943714571508,
        -0.04464285712780065,
        0.07499999999984397,
        -0.1666666666666661,
    ],
}
ACOSH = {
    "float": [
        -0.0004129195585846901,
        0.0017597884871065617,
        -0.005547793582081795,
        0.018746595829725266,
        -0.08333321660757065,
    ],
    "double": [
        -1.6400626778780735e-07,
        9.501870666285617e-07,
        -3.0772150936665166e-06,
        7.92216683561717e-06,
        -1.8959816331988148e-05,
        4.509480047307262e-05,
        -0.00010909452913186309,
        0.0002711361407766284,
        -0.0006991298962500588,
        0.0018988715232231262,
        -0.005580357142694382,
        0.018749999999997068,
        -0.08333333333333331,
    ],
}
ATANH = {
    "float": [0.1332627385854721, 0.14114870131015778, 0.20005087554454803, 0.3333328664302826],
    "double": [
        0.07929765041519331,
        0.053474038407161514,
        0.06723730586655405,
        0.07688694974298589,
        0.09091048940890414,
        0.11111107855200844,
        0.14285714328488208,
        0.19999999999724907,
        0.3333333333333394,
    ],
}
ATANH_BIAS = 0.263
# From here on the square root is the value.
LINEAR = 2.0**40


def atanh(e: Emitter, x: Val) -> Val:
    """The value whose hyperbolic tangent is `x`."""
    magnitude = e.call("fabs", x)
    one = e.const_like(x, 1.0)
    width = MANTISSA_BITS[x.elem]
    above, below = as_integer(e, e.op("fadd", one, magnitude)), as_integer(e, e.op("fsub", one, magnitude))
    bias = e.const_like(above, int(ATANH_BIAS * 2**width))
    number = e.op("lshr", e.op("add", e.op("sub", above, below), bias), e.const_like(above, width))
    shifted = e.op("or", number, e.const_like(number, exponent_bits(x.elem, width)))
    power = e.op("fsub", as_float(e, shifted), e.const_like(x, 2.0**width))
    field = e.op("shl", number, e.const_like(number, width))
    inverse = as_float(e, e.op("sub", e.const_like(field, exponent_bits(x.elem, 0)), field))
    more = e.op("fadd", one, inverse)
    less = e.fma(e.const_like(x, -2.0), inverse, more)
    product = two_product(e, magnitude, more)
    # The product is within a factor of two of what is subtracted, which makes the difference exact.
    numerator = Pair(e.op("fsub", product.high, less), product.low)
    product = two_product(e, e.fneg(magnitude), less)
    denominator = fast_two_sum(e, more, product.high)
    denominator = Pair(denominator.high, e.op("fadd", denominator.low, product.low))
    tangent = divide(e, numerator, denominator)
    half_ln_2, half_ln_2_rest = (e.const_like(x, part / 2) for part in LN_2[x.elem])
    total = fast_two_sum(e, e.op("fmul", power, half_ln_2), tangent)
    square = e.op("fmul", tangent, tangent)
    rest = e.fma(e.op("fmul", tangent, square), evaluate(e, square, ATANH[x.elem]), total.low)
    usual = flip_sign(e, e.op("fadd", total.high, e.fma(power, half_ln_2_rest, rest)), sign_bit(e, x))
    edge = e.fcmp("oeq", magnitude, one)
    infinity = e.call("copysign", e.const_like(x, math.inf), x)
    return e.rare(e.fcmp("uge", magnitude, one), usual, lambda: e.select(edge, infinity, e.const_like(x, math.nan)))


def asinh(e: Emitter, x: Val) -> Val:
    """The value whose hyperbolic sine is `x`."""
    magnitude = e.call("fabs", x)
    square = two_product(e, magnitude, magnitude)
    series = evaluate(e, square.high, ASINH[x.elem])
    small = e.fma(e.op("fmul", magnitude, square.high), series, magnitude)
    radicand = two_sum(e, square.high, e.const_like(x, 1.0))
    root = _root(e, Pair(radicand.high, e.op("fadd", radicand.low, square.low)), magnitude)
    large = _log_of_sum(e, root, Pair(magnitude, e.zero_like(x)))
    result = e.select(e.fcmp("ogt", magnitude, e.const_like(x, 0.5)), large, small)
    result = e.select(e.fcmp("olt", magnitude, e.const_like(x, math.inf)), result, magnitude)
    return flip_sign(e, result, sign_bit(e, x))


def acosh(e: Emitter, x: Val) -> Val:
    """The value, not negative, whose hyperbolic cosine is `x`."""
    one = e.const_like(x, 1.0)
    excess = e.op("fsub", x, one)
    twice = e.op("fadd", excess, excess)
    square = two_product(e, x, x)
    radicand = fast_two_sum(e, square.high, e.const_like(x, -1.0))
    near = e.fcmp("olt", x, e.const_like(x, 1.5))
    radicand = Pair(
        e.select(near, twice, radicand.high),
        e.select(near, e.zero_like(x), e.op("fadd", radicand.low, square.low)),
    )
    root = _root(e, radicand, x)
    series = evaluate(e, excess, ACOSH[x.elem])
    small = e.op("fadd", root.high, e.fma(e.op("fmul", root.high, excess), series, root.low))
    large = _log_of_sum(e, Pair(x, e.zero_like(x)), root)
    result = e.select(near, small, large)
    return e.select(e.fcmp("olt", x, e.const_like(x, math.inf)), result, x)


def _root(e: Emitter, radicand: Pair, limit: Val) -> Pair:
    """The square root as a sum of two values; beyond `LINEAR`, where squares may overflow, `limit` in its place."""
    root = square_root(e, radicand)
    linear = e.fcmp("ogt", limit, e.const_like(limit, LINEAR))
    return Pair(e.select(linear, limit, root.high), e.select(linear, e.zero_like(limit), root.low))


def _log_of_sum(e: Emitter, larger: Pair, smaller: Pair) -> Val:
    """The logarithm of a sum that is at least 1; it is halved first, lest it overflow."""
    half = e.const_like(larger.high, 0.5)
    total = fast_two_sum(e, e.op("fmul", larger.high, half), e.op("fmul", smaller.high, half))
    low = e.fma(e.op("fadd", larger.low, smaller.low), half, total.low)
    return log_of_pair(e, Pair(total.high, low), doublings=1)

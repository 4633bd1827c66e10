"""Emit the inverse hyperbolic functions.

`atanh x = k ln(2)/2 + atanh t` with `t = (x (1 + 2^-k) - (1 - 2^-k)) / (1 + 2^-k - x (1 - 2^-k))`. `k` is near `log2((1
+ x) / (1 - x))` and is read from the bits of both; it is biased as in `tanh`. For `k = 0`, `t` is `x` itself.

`asinh x = log(x + sqrt(x^2 + 1))` from 1/2 on, and `acosh x = log(x + sqrt(x^2 - 1))` from 3/2 on. The difference of
the same two terms is exact, and it is the reciprocal of their sum. So it gives the error of the square root, and the
effect of all rounding errors on the logarithm, without a division. Below these bounds minimax polynomials give `asinh x
= x + x^3 P(x^2)` and, with `t = x - 1`, `acosh x = sqrt(2 t) (1 + t Q(t))`.

Largest errors in ULP (`float` over every argument from 2**-13 on, `double` over 10**8): `atanh` 0.79 and 0.79, `asinh`
0.89 and 0.65, `acosh` 0.89 and 0.64.
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .bits import as_float, as_integer, flip_sign, sign_bit
from .doubledouble import Pair, divide, fast_two_sum, half_reciprocal_root, two_product
from .exponential import LN_2
from .logarithm import log_of_pair, log_plus
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
# From here on the square root equals the value.
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
    # The product is within a factor of two of the subtracted value, so the difference is exact.
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
    magnitude, one = e.call("fabs", x), e.const_like(x, 1.0)
    square = e.op("fmul", magnitude, magnitude)
    small = e.fma(magnitude, e.op("fmul", square, evaluate(e, square, ASINH[x.elem])), magnitude)
    radicand = e.fma(magnitude, magnitude, one)
    root = e.call("sqrt", radicand)
    total = fast_two_sum(e, root, magnitude)
    inverse = e.op("fsub", root, magnitude)
    lack = e.fma(e.fneg(inverse), total.low, e.fma(e.fneg(inverse), total.high, one))
    lost = e.fma(lack, half_reciprocal_root(e, radicand), total.low)
    large = log_plus(e, total.high, e.op("fmul", inverse, lost))
    result = e.select(e.fcmp("ogt", magnitude, e.const_like(x, 0.5)), large, small)
    return flip_sign(e, _or_linear(e, magnitude, result), sign_bit(e, x))


def acosh(e: Emitter, x: Val) -> Val:
    """The value, not negative, whose hyperbolic cosine is `x`."""
    one, minus_one = e.const_like(x, 1.0), e.const_like(x, -1.0)
    excess = e.op("fsub", x, one)
    near = e.fcmp("olt", x, e.const_like(x, 1.5))
    radicand = e.select(near, e.op("fadd", excess, excess), e.fma(x, x, minus_one))
    root, factor = e.call("sqrt", radicand), half_reciprocal_root(e, radicand)
    series = evaluate(e, excess, ACOSH[x.elem])
    root_lost = e.op("fmul", e.fma(e.fneg(root), root, radicand), factor)
    small = e.op("fadd", root, e.fma(e.op("fmul", root, excess), series, root_lost))
    total = fast_two_sum(e, x, root)
    inverse = e.op("fsub", x, root)
    lack = e.fma(inverse, total.low, e.fma(inverse, total.high, minus_one))
    large = log_plus(e, total.high, e.op("fmul", inverse, e.fma(lack, factor, total.low)))
    return _or_linear(e, x, e.select(near, small, large))


def _or_linear(e: Emitter, x: Val, usual: Val) -> Val:
    """Return `usual`, or the logarithm of `2 x` where squares may overflow and the square root equals the value."""

    def log_of_double() -> Val:
        log = log_of_pair(e, Pair(x, e.zero_like(x)), doublings=1)
        return e.select(e.fcmp("olt", x, e.const_like(x, math.inf)), log, x)

    return e.rare(e.fcmp("ugt", x, e.const_like(x, LINEAR)), usual, log_of_double)

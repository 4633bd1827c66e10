"""Emit the error function and its complement.

`erf x = x + x Q(x^2)` up to 0.86, and beyond that `1 - 2^P / 8` with a polynomial `P` for `log2(8 erfc x)`. Errors of
`P` count little, because the power is at most a quarter; where they would count most, `P` is near 0.

`erfc x = 1 - x - x Q(x^2)` up to 0.65, and beyond that `exp(-x^2) g(t) / (1 + 2 x)` with a polynomial `g` in `t = (x -
3) / (x + 3)`. There every step is a sum of two values, because the relative error must stay small down to the smallest
numbers. For negative arguments it is `2 - erfc(-x)`.

Largest errors in ULP (`float` over every argument, `double` over 10**8): `erf` 0.82 and 0.81, `erfc` 0.83 and 0.92.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..code.text import Emitter, Val
from .bits import at_most
from .doubledouble import Pair, divide, fast_fma, fast_two_sum, two_product
from .exponential import EXP2_POLY
from .hyperbolic import exp_rest, reduce_by_ln_2
from .polynomial import evaluate
from .scaling import nearest_whole, scale, scale_normal

# Q: erf x / x - 1 in powers of x^2, to 2**-29.4 and 2**-56.4.
ERF = {
    "float": [
        7.846108201192692e-05,
        -0.0008007878204807639,
        0.005188073962926865,
        -0.026853691786527634,
        0.1128358319401741,
        -0.3761262595653534,
        0.12837916612625122,
    ],
    "double": [
        6.692620194982503e-11,
        -1.1835190617668874e-09,
        1.4787732572372008e-08,
        -1.637081251556322e-07,
        1.646310323600844e-06,
        -1.492573948180228e-05,
        0.00012055337816691964,
        -0.000854832719059879,
        0.005223977629110987,
        -0.02686617064562081,
        0.11283791670958747,
        -0.37612638903183876,
        0.1283791670955126,
    ],
}
# P: log2(8 erfc x) in powers of x - EIGHTH (there erfc is 1/8), from 0.85 to where erf x is 1. The error function is
# accurate to 2**-31 and 2**-57.
EIGHTH = 1.0847870111465454
LOG2_ERFC = {
    "float": [
        -3.0968221835792065e-05,
        0.00039700986235402524,
        -0.0026900216471403837,
        0.013303106650710106,
        -0.055249735713005066,
        -1.230991005897522,
        -4.014744758605957,
        1.1558943668887878e-07,
    ],
    "double": [
        1.730035645705805e-14,
        -6.741865306226348e-13,
        1.2130717211891067e-11,
        -1.3403927410448867e-10,
        1.0189399607795133e-09,
        -5.629971188660637e-09,
        2.296073173262278e-08,
        -6.572174304819034e-08,
        9.175793438303185e-08,
        2.87422060564057e-07,
        -2.7037557170284112e-06,
        1.142799174376e-05,
        -2.9535721359784617e-05,
        1.4706449084330164e-05,
        0.00035767576843494334,
        -0.0026748590913006826,
        0.013303641670404435,
        -0.05525146872437801,
        -1.2309908840541892,
        -4.014744704141036,
        1.1611740914895712e-07,
    ],
}
LARGE = 0.86
ERF_BOUND = {"float": 3.95, "double": 5.95}
# g: exp(x^2) erfc(x) (1 + 2 x) in powers of t, to 2**-29.0 and 2**-59.1; the lowest coefficient is in two parts.
TAIL_BEGIN = 0.65
TAIL_CENTRE = 3.0
TAIL = {
    "float": [
        -0.0005965379532426596,
        0.001809347770176828,
        0.0024393200874328613,
        -0.023748714476823807,
        0.06832635402679443,
        -0.11927620321512222,
        0.12964366376399994,
        -0.04756218567490578,
        -0.1356210708618164,
    ],
    "double": [
        -1.781415688573681e-08,
        2.7301162485814747e-08,
        1.1485518784434054e-07,
        -1.3102275230773869e-07,
        -6.301837953181819e-07,
        3.5325502438904856e-07,
        3.4800714162516713e-06,
        -7.31262793584889e-07,
        -2.0103211190261385e-05,
        4.949714615462913e-06,
        0.00012509993208524253,
        -0.0001051598853980401,
        -0.0007798323529331528,
        0.0018886903727157044,
        0.0025293918229878872,
        -0.023770514919707407,
        0.06830802734364327,
        -0.11927366341527026,
        0.1296451587027683,
        -0.04756229435345125,
        -0.13562110612458123,
    ],
}
TAIL_START = {
    "float": (1.2530080080032349, 4.944904219428281e-08),
    "double": (1.2530080582697296, 4.5418758083816095e-17),
}
ERFC_BOUND = {"float": 10.4, "double": 27.5}


def erf(e: Emitter, x: Val) -> Val:
    """The error function."""
    magnitude = e.call("fabs", x)
    one = e.const_like(x, 1.0)
    small = e.fma(x, _slope_less_one(e, x), x)
    distance = e.op("fsub", at_most(e, magnitude, ERF_BOUND[x.elem]), e.const_like(x, EIGHTH))
    exponent = _ending_in_horner(e, distance, LOG2_ERFC[x.elem])
    whole = nearest_whole(e, exponent)
    power = _ending_in_horner(e, e.op("fsub", exponent, whole.value), EXP2_POLY[x.elem])
    large = e.fma(scale_normal(e, power, whole), e.const_like(x, -0.125), one)
    return e.select(e.fcmp("ogt", magnitude, e.const_like(x, LARGE)), e.call("copysign", large, x), small)


def erfc(e: Emitter, x: Val) -> Val:
    """Return 1 minus the error function, accurate where that is near 1 too."""
    magnitude = e.call("fabs", x)
    one, two, minus = e.const_like(x, 1.0), e.const_like(x, 2.0), e.fneg(x)
    near = fast_two_sum(e, one, minus)
    small = e.op("fadd", near.high, e.fma(minus, _slope_less_one(e, x), near.low))
    tail = _tail(e, at_most(e, magnitude, ERFC_BOUND[x.elem]))
    large = e.select(e.fcmp("olt", x, e.zero_like(x)), e.op("fsub", two, tail), tail)
    return e.select(e.fcmp("ogt", magnitude, e.const_like(x, TAIL_BEGIN)), large, small)


def _slope_less_one(e: Emitter, x: Val) -> Val:
    """`erf(x) / x - 1`."""
    return _ending_in_horner(e, e.op("fmul", x, x), ERF[x.elem])


def _ending_in_horner(e: Emitter, x: Val, coefficients: Sequence[float]) -> Val:
    """Evaluate a polynomial whose lowest powers outweigh the others; they are added last, each with one rounding."""
    total = evaluate(e, x, coefficients[:-3])
    for coefficient in coefficients[-3:]:
        total = e.fma(total, x, e.const_like(x, coefficient))
    return total


def _tail(e: Emitter, x: Val) -> Val:
    """`erfc(x)` for `x >= TAIL_BEGIN`."""
    one = e.const_like(x, 1.0)
    square = two_product(e, x, x)
    reduced = reduce_by_ln_2(e, e.fneg(square.high), e.fneg(square.low))
    rest = fast_two_sum(e, reduced.high, exp_rest(e, reduced))
    gauss = fast_two_sum(e, one, rest.high)
    gauss_low = e.op("fadd", gauss.low, rest.low)

    centre = e.const_like(x, TAIL_CENTRE)
    t = e.op("fdiv", e.op("fsub", x, centre), e.op("fadd", x, centre))
    start, start_low = (e.const_like(x, part) for part in TAIL_START[x.elem])
    factor = fast_fma(e, t, evaluate(e, t, TAIL[x.elem]), start)
    factor_low = e.op("fadd", factor.low, start_low)

    product = two_product(e, gauss.high, factor.high)
    product_low = e.fma(gauss.high, factor_low, e.fma(gauss_low, factor.high, product.low))
    below = fast_two_sum(e, e.op("fadd", x, x), one)
    return scale(e, divide(e, Pair(product.high, product_low), below), reduced.power)

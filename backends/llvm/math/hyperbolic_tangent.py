"""Emit the hyperbolic tangent.

`|x|` is a node plus a remainder `r`, and `t = tanh r` is a short polynomial. For `double` the nodes are the multiples
of `ln(2)/2`, because

    tanh x = (1 - 2^-k + (1 + 2^-k) t) / (1 + 2^-k + (1 - 2^-k) t)

which is `t` itself for `k = 0`. `k` is rounded with a bias so that `r` is small where `k = 1` begins: there the result
is small too, and the rounding of `t` would count.

For `float` there are sixteen nodes in tables, chosen so that their tangents `T` are nearly `float`s, and

    tanh x = T + (1 - T^2) t / (1 + T t)

where the first term is 0, or the second is at most a fifth of it.

Largest errors in ULP: 0.95 for `float` (every argument from 2**-13 on) and 0.88 for `double` (over 10**7).
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .bits import as_integer, at_most, flip_sign, sign_bit
from .doubledouble import divide, fast_fma
from .exponential import LOG2_E
from .hyperbolic import powers
from .scaling import MANTISSA_BITS, nearest_whole
from .tables import RegisterTable, lookup

# From here on the tangent is 1.
TANH_BOUND = {"float": 9.1, "double": 20.0}
TANH_BIAS = 0.237
# ln(2)/2 in two parts.
HALF_LN_2 = (0.34657359027997264, 1.1595234069231498e-17)
# tanh r = r + r z TANH(z), where z = r^2, for |r| < 0.305 (`float`), -0.091 < r < 0.256 (`double`).
TANH = {
    "float": [0.017607081681489944, -0.05334163084626198, 0.1332993507385254, -0.33333277702331543],
    "double": [
        -0.0013117955228003886,
        0.0035772927044175826,
        -0.008862435421578593,
        0.021869464726335906,
        -0.05396825358863447,
        0.13333333333046177,
        -0.333333333333326,
    ],
}
# Each quarter of an octave of 1 + NODE_DENSITY * x has a node, whose tangent is a `float` to 2**-33. The index consists
# of the last two bits of the exponent and the first two of the fraction: it begins with 12 for 1.
NODE_DENSITY = 1.64
NODES = RegisterTable(
    "tanh_nodes",
    (
        0.746669352054596,
        1.0669971704483032,
        1.3717960119247437,
        1.6770210266113281,
        2.1348495483398438,
        2.744396448135376,
        3.3538835048675537,
        3.9634311199188232,
        4.878059387207031,
        6.096437931060791,
        7.310314655303955,
        8.664340019226074,
        0.0,
        0.0,
        0.3733161687850952,
        0.5281155109405518,
    ),
)
TANH_OF_NODES = RegisterTable(
    "tanh_of_nodes",
    (
        0.6331577301025391,
        0.7883272171020508,
        0.8791008591651917,
        0.93247389793396,
        0.9724138379096985,
        0.9917683601379395,
        0.9975602030754089,
        0.9992784261703491,
        0.9998841285705566,
        0.9999898672103882,
        0.9999991059303284,
        0.9999999403953552,
        0.0,
        0.0,
        0.35688892006874084,
        0.4839392602443695,
    ),
)
SLOPE_AT_NODES = RegisterTable(
    "tanh_slope_at_nodes",
    (
        0.5991113185882568,
        0.37854018807411194,
        0.22718167304992676,
        0.1304924339056015,
        0.054411329329013824,
        0.01639552041888237,
        0.004873641300946474,
        0.001442626933567226,
        0.00023172938381321728,
        2.0265479179215617e-05,
        1.7881377516459906e-06,
        1.1920921849650767e-07,
        1.0,
        1.0,
        0.8726302981376648,
        0.765802800655365,
    ),
)


def tanh(e: Emitter, x: Val) -> Val:
    """The hyperbolic tangent."""
    magnitude = at_most(e, e.call("fabs", x), TANH_BOUND[x.elem])
    return flip_sign(e, (_by_table if x.elem == "float" else _by_powers)(e, magnitude), sign_bit(e, x))


def _by_table(e: Emitter, magnitude: Val) -> Val:
    one = e.const_like(magnitude, 1.0)
    bits = as_integer(e, e.fma(magnitude, e.const_like(magnitude, NODE_DENSITY), one))
    index = e.op("lshr", bits, e.const_like(bits, MANTISSA_BITS["float"] - 2))
    node, known = lookup(e, index, NODES), lookup(e, index, TANH_OF_NODES)
    tangent = _near_zero(e, e.op("fsub", magnitude, node))
    rest = e.op("fmul", tangent, lookup(e, index, SLOPE_AT_NODES))
    return e.op("fadd", known, e.op("fdiv", rest, e.fma(known, tangent, one)))


def _by_powers(e: Emitter, magnitude: Val) -> Val:
    halves = nearest_whole(
        e, e.fma(magnitude, e.const_like(magnitude, 2 * LOG2_E), e.const_like(magnitude, -TANH_BIAS))
    )
    rest = magnitude
    for part in HALF_LN_2:
        rest = e.fma(halves.value, e.const_like(magnitude, -part), rest)
    tangent = _near_zero(e, rest)
    _, inverse = powers(e, halves, magnitude.elem, 0)
    # In this order the difference is exact even if the sum rounds.
    more = e.op("fadd", e.const_like(magnitude, 1.0), inverse)
    less = e.fma(e.const_like(magnitude, -2.0), inverse, more)
    return divide(e, fast_fma(e, more, tangent, less), fast_fma(e, less, tangent, more))


def _near_zero(e: Emitter, r: Val) -> Val:
    square = e.op("fmul", r, r)
    return e.fma(r, e.op("fmul", square, e.poly(square, TANH[r.elem])), r)

"""Emit `arctan` and `arctan2` of `float` ratios.

A table gives a node `c` near the ratio `y / x`, and

    atan(y / x) = atan(c) + atan(t),  t = (y - c x) / (x + c y)

where `atan t = t + t^3 A(t^2)`. Either `c` is 0, or `t` is at most a seventh of the angle, so its rounding errors
hardly count. For `c = 0`, `atan2` adds the rounding error of the quotient. The difference of the bits of `y` and `x` is
close enough to the logarithm of their ratio to select the node, one for each quarter of an octave. Nodes are chosen so
that their angles are nearly `float`s. `atan2` leaves magnitudes for which these steps might lose digits to the rare
branch.

Largest errors in ULP: `atan` 0.75 (every argument), `atan2` 0.76 (over 10**8 points).
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .bits import as_integer, at_most, flip_sign, sign_bit
from .scaling import exponent_bits
from .tables import RegisterTable, lookup

# A, to 2**-29.2 for |t| < 0.316.
ATAN = [0.09176342934370041, -0.141312837600708, 0.1999504268169403, -0.3333328366279602]
# Up to a quarter the node is 0, and from 4 on it is the last one; that for 1 comes first.
NODES = RegisterTable(
    "atan_nodes",
    (
        1.0920531749725342,
        1.2927817106246948,
        1.5353312492370605,
        1.8217082023620605,
        2.1624069213867188,
        2.568782091140747,
        3.0539774894714355,
        6.496458530426025,
        0.0,
        0.3241395950317383,
        0.38590776920318604,
        0.458244651556015,
        0.5442103743553162,
        0.6473855972290039,
        0.7717685103416443,
        0.91640305519104,
    ),
)
ANGLES = RegisterTable(
    "atan_of_nodes",
    (
        0.8293711543083191,
        0.9124079346656799,
        0.9934900403022766,
        1.0687708854675293,
        1.1376392841339111,
        1.1995570659637451,
        1.2543574571609497,
        1.418065071105957,
        0.0,
        0.3134534955024719,
        0.3682991862297058,
        0.4296889901161194,
        0.49838733673095703,
        0.5745351314544678,
        0.6572880148887634,
        0.7418040037155151,
    ),
)
SUPPLEMENTS = RegisterTable(
    "atan_supplements",
    (
        2.3122215270996094,
        2.229184627532959,
        2.1481025218963623,
        2.072821855545044,
        2.003953456878662,
        1.9420355558395386,
        1.887235164642334,
        1.7235275506973267,
        3.1415927410125732,
        2.828139066696167,
        2.7732934951782227,
        2.7119035720825195,
        2.643205404281616,
        2.5670576095581055,
        2.484304666519165,
        2.3997886180877686,
    ),
)
SUPPLEMENTS_REST = RegisterTable(
    "atan_supplements_rest",
    (
        -2.781843555510477e-08,
        9.139237988620152e-08,
        9.139044720996026e-08,
        -8.742178891907315e-08,
        -8.742560453356418e-08,
        3.178519492053056e-08,
        3.178864815822635e-08,
        3.178753260613121e-08,
        -8.742277657347586e-08,
        9.139164092175633e-08,
        -2.781855812372669e-08,
        9.13911932798328e-08,
        -8.742294710373244e-08,
        -8.742244261839005e-08,
        -2.7818186865147254e-08,
        3.178802288061888e-08,
    ),
)
OCTAVE = 1 << 23
# From here on the arctangent is pi/2.
FLAT = 2.0**30
# Between these powers of two no step of `atan2` loses digits; factors bring smaller and larger sides there.
LEAST, MOST = -100, 124
LARGE, LIFT, LOWER = 2.0**60, 2.0**64, 2.0**-8


def atan(e: Emitter, x: Val) -> Val:
    """The angle whose tangent is `x`."""
    magnitude, one = at_most(e, e.call("fabs", x), FLAT), e.const_like(x, 1.0)
    index = _node_index(e, magnitude, one)
    node = lookup(e, index, NODES)
    tangent = e.op("fdiv", e.op("fsub", magnitude, node), e.fma(magnitude, node, one))
    return flip_sign(e, e.op("fadd", lookup(e, index, ANGLES), _small_angle(e, tangent)), sign_bit(e, x))


def atan2(e: Emitter, y: Val, x: Val) -> Val:
    """The angle of the point `(x, y)`, from minus pi to pi."""
    width, height = e.call("fabs", x), e.call("fabs", y)
    left = sign_bit(e, x)

    def angle(height: Val, width: Val) -> tuple[Val, Val]:
        """Return the angle from the positive side of `x`, and the divisor."""
        index = _node_index(e, height, width)
        node = lookup(e, index, NODES)
        numerator, divisor = e.fma(e.fneg(node), width, height), e.fma(node, height, width)
        inverse = e.op("fdiv", e.const_like(x, 1.0), divisor)
        tangent = e.op("fmul", numerator, inverse)
        lost = e.op("fmul", e.fma(e.fneg(tangent), divisor, numerator), inverse)
        is_left = e.icmp("ne", left, e.zero_like(left))
        known = e.select(is_left, lookup(e, index, SUPPLEMENTS), lookup(e, index, ANGLES))
        rest = e.select(is_left, lookup(e, index, SUPPLEMENTS_REST), e.zero_like(x))
        low = e.op("fadd", flip_sign(e, lost, left), rest)
        return e.op("fadd", known, _small_angle(e, flip_sign(e, tangent, left), low)), divisor

    def of_extreme() -> Val:
        found, _ = angle(*_within_range(e, height, width))
        return e.select(e.fcmp("uno", x, y), e.op("fadd", x, y), found)

    usual, divisor = angle(height, width)
    return flip_sign(e, e.rare(_extreme(e, height, divisor), usual, of_extreme), sign_bit(e, y))


def _node_index(e: Emitter, height: Val, width: Val) -> Val:
    """Return, in the lowest bits, by how many quarters of an octave `height` exceeds `width`, from -8 to 7."""
    octaves = e.op("sub", as_integer(e, height), as_integer(e, width))
    octaves = e.call("smax", octaves, e.const_like(octaves, -2 * OCTAVE))
    octaves = e.call("smin", octaves, e.const_like(octaves, 2 * OCTAVE - 1))
    return e.op("lshr", octaves, e.const_like(octaves, 21))


def _small_angle(e: Emitter, tangent: Val, low: Val | None = None) -> Val:
    """Return the arctangent of `tangent` plus a small angle `low`."""
    square = e.op("fmul", tangent, tangent)
    factor = e.op("fmul", square, e.poly(square, ATAN))
    if low is None:
        return e.fma(tangent, factor, tangent)
    return e.op("fadd", tangent, e.fma(tangent, factor, low))


def _extreme(e: Emitter, height: Val, divisor: Val) -> Val:
    """Tell whether the divisor is out of the safe range or NaN, or the height is below it but not zero."""
    bits, height_bits = as_integer(e, divisor), as_integer(e, height)
    least, most = exponent_bits("float", LEAST), exponent_bits("float", MOST)
    outside = e.icmp("ugt", e.op("sub", bits, e.const_like(bits, least)), e.const_like(bits, most - least))
    less_one = e.op("sub", height_bits, e.const_like(bits, 1))
    return e.op("or", outside, e.icmp("ult", less_one, e.const_like(bits, least)))


def _within_range(e: Emitter, height: Val, width: Val) -> tuple[Val, Val]:
    """Return sides of the same ratio within the safe range, also for infinities and zeros; for NaN any numbers."""
    zero, one, infinity = e.zero_like(width), e.const_like(width, 1.0), e.const_like(width, math.inf)
    large = e.fcmp("ogt", e.op("fadd", height, width), e.const_like(width, LARGE))
    factor = e.select(large, e.const_like(width, LOWER), e.const_like(width, LIFT))
    high, wide = e.fcmp("oeq", height, infinity), e.fcmp("oeq", width, infinity)
    nothing = e.fcmp("oeq", e.op("fadd", height, width), zero)

    def side(length: Val, endless: Val, other_endless: Val) -> Val:
        beside = e.select(other_endless, zero, e.op("fmul", length, factor))
        return e.select(endless, one, beside)

    return side(height, high, wide), e.select(nothing, one, side(width, wide, high))

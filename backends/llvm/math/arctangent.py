"""Emit `arctan` and `arctan2`.

A table gives a node `c` near the ratio `y / x`, and

    atan(y / x) = atan(c) + atan(t),  t = (y - c x) / (x + c y)

where `atan t = t + t^3 A(t^2)`. Either `c` is 0, or `t` is at most a quarter of the angle, so its rounding errors
hardly count. For `c = 0`, `atan2` adds the rounding error of the quotient. The difference of the bits of `y` and `x` is
close enough to the logarithm of their ratio to select the node: one for each quarter of an octave, or half of one for
`double`. `atan2` leaves magnitudes for which these steps might lose digits to the rare branch.

Largest errors in ULP: `atan` 0.69 and 0.80, `atan2` 0.76 and 0.79 (`atan` of `float` over every argument, the others
over 10**8 points).
"""

from __future__ import annotations

import math

from ..code.text import Emitter, Val
from .arctangent_nodes import NODES
from .bits import as_integer, at_most, flip_sign, sign_bit
from .doubledouble import fast_two_sum
from .scaling import exponent_bits
from .tables import ENTRIES, lookup


def atan(e: Emitter, x: Val) -> Val:
    """The angle whose tangent is `x`."""
    magnitude, one = at_most(e, e.call("fabs", x), NODES[x.elem].flat), e.const_like(x, 1.0)
    index = _node_index(e, magnitude, one)
    node = lookup(e, index, NODES[x.elem].nodes)
    tangent = e.op("fdiv", e.op("fsub", magnitude, node), e.fma(magnitude, node, one))
    angle = _plus_small(e, lookup(e, index, NODES[x.elem].angles), tangent, e.const_like(x, -0.0))
    return flip_sign(e, angle, sign_bit(e, x))


def atan2(e: Emitter, y: Val, x: Val) -> Val:
    """The angle of the point `(x, y)`, from minus pi to pi."""
    width, height = e.call("fabs", x), e.call("fabs", y)
    left = sign_bit(e, x)

    def angle(height: Val, width: Val) -> tuple[Val, Val]:
        """Return the angle from the positive side of `x`, and the divisor."""
        index = _node_index(e, height, width)
        node = lookup(e, index, NODES[x.elem].nodes)
        numerator, divisor = e.fma(e.fneg(node), width, height), e.fma(node, height, width)
        inverse = e.op("fdiv", e.const_like(x, 1.0), divisor)
        tangent = e.op("fmul", numerator, inverse)
        lost = e.op("fmul", e.fma(e.fneg(tangent), divisor, numerator), inverse)
        is_left = e.icmp("ne", left, e.zero_like(left))
        known = e.select(is_left, lookup(e, index, NODES[x.elem].supplements), lookup(e, index, NODES[x.elem].angles))
        rest = e.select(is_left, lookup(e, index, NODES[x.elem].supplements_rest), e.zero_like(x))
        low = e.op("fadd", flip_sign(e, lost, left), rest)
        return _plus_small(e, known, flip_sign(e, tangent, left), low), divisor

    def of_extreme() -> Val:
        found, _ = angle(*_within_range(e, height, width))
        return e.select(e.fcmp("uno", x, y), e.op("fadd", x, y), found)

    usual, divisor = angle(height, width)
    return flip_sign(e, e.rare(_extreme(e, height, divisor), usual, of_extreme), sign_bit(e, y))


def _node_index(e: Emitter, height: Val, width: Val) -> Val:
    """Return the node of the ratio in the lowest bits: by how many steps `height` exceeds `width`, from -8 to 7."""
    bounds = NODES[height.elem]
    most = bounds.octaves << bounds.mantissa_bits
    steps = e.op("sub", as_integer(e, height), as_integer(e, width))
    steps = e.call("smax", steps, e.const_like(steps, -most))
    steps = e.call("smin", steps, e.const_like(steps, most - 1))
    return e.op("lshr", steps, e.const_like(steps, (2 * most // ENTRIES).bit_length() - 1))


def _plus_small(e: Emitter, known: Val, tangent: Val, low: Val) -> Val:
    """Return the angle `known`, which is 0 or larger than `tangent`, plus the angle of `tangent`, plus `low`."""
    square = e.op("fmul", tangent, tangent)
    factor = e.op("fmul", square, e.poly(square, list(NODES[tangent.elem].series)))
    total = fast_two_sum(e, known, tangent)
    return e.op("fadd", total.high, e.op("fadd", total.low, e.fma(tangent, factor, low)))


def _extreme(e: Emitter, height: Val, divisor: Val) -> Val:
    """Tell whether the divisor is out of the safe range or NaN, or the height is below it but not zero."""
    bits, height_bits = as_integer(e, divisor), as_integer(e, height)
    least, most = (
        exponent_bits(divisor.elem, power) for power in (NODES[divisor.elem].least, NODES[divisor.elem].most)
    )
    outside = e.icmp("ugt", e.op("sub", bits, e.const_like(bits, least)), e.const_like(bits, most - least))
    less_one = e.op("sub", height_bits, e.const_like(bits, 1))
    return e.op("or", outside, e.icmp("ult", less_one, e.const_like(bits, least)))


def _within_range(e: Emitter, height: Val, width: Val) -> tuple[Val, Val]:
    """Return sides of the same ratio within the safe range, also for infinities and zeros; for NaN any numbers."""
    zero, one, infinity = e.zero_like(width), e.const_like(width, 1.0), e.const_like(width, math.inf)
    bounds = NODES[width.elem]
    large = e.fcmp("ogt", e.op("fadd", height, width), e.const_like(width, bounds.large))
    factor = e.select(large, e.const_like(width, bounds.lower), e.const_like(width, bounds.lift))
    high, wide = e.fcmp("oeq", height, infinity), e.fcmp("oeq", width, infinity)
    nothing = e.fcmp("oeq", e.op("fadd", height, width), zero)

    def side(length: Val, endless: Val, other_endless: Val) -> Val:
        beside = e.select(other_endless, zero, e.op("fmul", length, factor))
        return e.select(endless, one, beside)

    return side(height, high, wide), e.select(nothing, one, side(width, wide, high))

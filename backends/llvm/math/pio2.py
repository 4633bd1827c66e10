"""A magnitude in, its quadrant and what is left over out: range reduction by a quarter turn.

`x = quadrant * pi/2 + high + low` with `|high| <= pi/4` (a hair more at the edges).

Moderate arguments (Cody and Waite): `k = round(x * 2/pi)` and three FMA steps. The first is exact because the
constant is on the grid of `x`; the second constant is short enough for `k` times it to be exact, so the sum with
it can be split into two parts without error; the third enters the low part. The result is good to 2**-70
(2**-30 for `float`) relative to `high`, even at the arguments nearest to a multiple of `pi/2`.

Huge arguments (Payne and Hanek): an integer product of the mantissa with the 192 bits of `2/pi` that matter,
those above being whole turns. 126 bits of the fraction are right, of which nearness to a multiple of `pi/2` takes 62 at most.
"""

from __future__ import annotations

from typing import NamedTuple

from ..text import Emitter, Val
from .bits import as_float, as_integer
from .doubledouble import fast_two_sum

# The largest argument of `reduce_moderate`, and minus pi/2 in three parts.
MODERATE = {"float": 6400.0, "double": 1e8}
MINUS_PI_2 = {
    "float": (-1.5707963705062866, 4.371395334601402e-08, -2.5633440682570896e-12),
    "double": (-1.5707963267948966, -6.123234014771656e-17, 1.9034889620193266e-25),
}
TWO_OVER_PI = 0.6366197723675814
# Adding it to a small number leaves the nearest integer in the lowest bits of the sum.
ROUNDER = {"float": 1.5 * 2.0**23, "double": 1.5 * 2.0**52}

TABLE = "@weft.two_over_pi"
TABLE_WORDS = 36
TABLE_BITS = 1162
TWO_OVER_PI_BITS = int(
)


class Reduced(NamedTuple):
    """The quadrant in the lowest two bits of an integer, and the rest of the angle as a sum of two values."""

    quadrant: Val
    high: Val
    low: Val


def reduce_moderate(e: Emitter, x: Val, quarter_turns: int) -> Reduced:
    """Reduce `0 <= x <= MODERATE`; `quarter_turns` are added to the quadrant."""
    first, second, third = (e.const_like(x, c) for c in MINUS_PI_2[x.elem])
    rounder = e.const_like(x, ROUNDER[x.elem] + quarter_turns)
    rounded = e.fma(x, e.const_like(x, TWO_OVER_PI), rounder)
    k = e.op("fsub", rounded, rounder)
    exact = e.fma(k, first, x)
    high = e.fma(k, second, exact)
    low = e.fma(k, third, e.fma(k, second, e.op("fsub", exact, high)))
    return Reduced(as_integer(e, rounded), high, low)


def reduce_huge(e: Emitter, x: Val, quarter_turns: int) -> Reduced:
    """Reduce any `x >= 2048`; infinities and NaN give NaN."""
    if x.elem == "float":
        wide = reduce_huge(e, e.cast("fpext", x, "double"), quarter_turns)
        high = e.cast("fptrunc", wide.high, "float")
        low = e.op("fsub", wide.high, e.cast("fpext", high, "double"))
        return Reduced(e.cast("trunc", wide.quadrant, "i32"), high, e.cast("fptrunc", low, "float"))
    top, rest = _turns(e, as_integer(e, x))
    quadrant = e.op("lshr", e.op("add", top, e.const_like(top, 1 << 61)), e.const_like(top, 62))
    fraction = e.op("sub", top, e.op("shl", quadrant, e.const_like(top, 62)))
    low_digit = e.const_like(top, 0xFFFFFFFF)
    digit = e.const_like(top, 32)
    upper = _small_to_double(e, e.op("ashr", fraction, digit))
    sum_ = fast_two_sum(
        e, e.op("fmul", upper, e.const_like(upper, 2.0**32)), _small_to_double(e, e.op("and", fraction, low_digit))
    )
    tail = e.fma(
        _small_to_double(e, e.op("lshr", rest, digit)),
        e.const_like(upper, 2.0**32),
        _small_to_double(e, e.op("and", rest, low_digit)),
    )
    sum_ = fast_two_sum(e, sum_.high, e.fma(tail, e.const_like(tail, 2.0**-64), sum_.low))
    unit, unit_error = (e.const_like(upper, c) for c in QUARTER_TURN)
    high = e.op("fmul", sum_.high, unit)
    low = e.fma(sum_.high, unit, e.fneg(high))
    low = e.op("fadd", low, e.fma(sum_.high, unit_error, e.op("fmul", sum_.low, unit)))
    nan_unless_finite = e.op("fsub", x, x)
    return Reduced(
        e.op("add", quadrant, e.const_like(quadrant, quarter_turns)), e.op("fadd", high, nan_unless_finite), low
    )

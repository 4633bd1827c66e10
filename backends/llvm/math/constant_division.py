"""Divide single numbers by a constant with a product and an FMA, with the bits of a division.

A division takes about twice as long as both, which counts in loops that wait for it from step to step. The constant is
`c = d * 2**k` with an odd `d`. Its reciprocal is `high + low`, where `high` is rounded towards zero, so both have the
sign of `c`. The value before the last rounding, `x * high + fl(x * low)`, is off by at most 2**(2 - p) units of the
last place (p bits of precision). The true quotient is at least 1 / (2 * d) of them away from the middle of two floats.
So both round alike if `d` is small.

Zeros, infinities and NaN come out as from a division, because both parts have one sign. Numbers so small that
`x * low` loses bits take the division itself, in a branch that is hardly ever taken.
"""

from __future__ import annotations

import math
import struct

from ..code.text import Emitter, Val

PRECISION = {"float": 24, "double": 53}
INTEGER = {"float": "i32", "double": "i64"}
LARGEST_ODD = {"float": 1 << 16, "double": 1 << 32}
LARGEST_POWER = {"float": 16, "double": 64}  # of two, in the constant
SMALLEST = {"float": 2.0**-60, "double": 2.0**-800}  # of a dividend


def divide(e: Emitter, x: Val, y: Val) -> Val:
    """Emit a division of floats."""
    parts = None if x.lanes else _reciprocal(x.elem, y)
    if parts is None:
        return e.op("fdiv", x, y)
    high, low = (e.const(x.elem, part) for part in parts)
    quick = e.fma(x, high, e.op("fmul", x, low))
    magnitude = e.cast("bitcast", e.call("fabs", x), INTEGER[x.elem])
    one = e.const_like(magnitude, 1)
    limit = e.const_like(magnitude, _bits(x.elem, SMALLEST[x.elem]) - 1)
    is_small = e.icmp("ult", e.op("sub", magnitude, one), limit)  # and not 0, which has become the largest number
    return e.rare(is_small, quick, lambda: e.op("fdiv", x, y))


def _bits(elem: str, value: float) -> int:
    kinds = "<fI" if elem == "float" else "<dQ"
    return int(struct.unpack("<" + kinds[2], struct.pack(kinds[:2], value))[0])


def _reciprocal(elem: str, y: Val) -> tuple[float, float] | None:
    """Return both parts of the reciprocal of a constant, or None if it is no such constant."""
    if elem not in PRECISION or not y.text.startswith("0x"):
        return None
    value = struct.unpack("<d", struct.pack("<Q", int(y.text, 16)))[0]
    if not 2.0 ** -LARGEST_POWER[elem] <= abs(value) <= 2.0 ** LARGEST_POWER[elem]:
        return None
    top, bottom = value.as_integer_ratio()  # one of them is a power of two
    odd = abs(top) // (top & -top)
    if odd == 1 or odd > LARGEST_ODD[elem]:
        return None
    high, low = _split(bottom, abs(top), PRECISION[elem])
    if elem == "float":
        low = struct.unpack("<f", struct.pack("<f", low))[0]
    return math.copysign(high, value), math.copysign(low, value)


def _split(top: int, bottom: int, precision: int) -> tuple[float, float]:
    """Return the first bits of a quotient of positive numbers, and the rest, rounded.

    It is computed with whole numbers, because importing fractions takes memory that a compile may be short of.
    """
    shift = precision - top.bit_length() + bottom.bit_length()
    if (top << max(shift, 0)) >= (bottom << max(-shift, 0)) << precision:
        shift -= 1
    scaled, divisor = top << max(shift, 0), bottom << max(-shift, 0)
    first, rest = divmod(scaled, divisor)
    return math.ldexp(first, -shift), math.ldexp(rest / divisor, -shift)

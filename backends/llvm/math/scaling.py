"""Emit products with powers of two, and integers as floats without slow conversions.

AVX2 has no conversion between `double` and `i64`. So integers are read from the low bits of `x + 1.5 * 2**52` (`2**23`
for `float`), where rounding puts them.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import BITS, Emitter, Val
from .bits import as_float, as_integer

MANTISSA_BITS = {"float": 23, "double": 52}
BIAS = {"float": 127, "double": 1023}
EVERY_OTHER_CLASS = 0xFF  # the mask of all classes other than positive normal numbers
AS_ELSEWHERE = 4  # round to nearest, like all other instructions
# The exponent of a `float` stays at its bit position, which saves a shift.
EXPONENT_UNIT = {"float": 2.0**-23, "double": 1.0}
SQRT_HALF_BITS = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}


class Whole(NamedTuple):
    """An integer as a float, and as the lowest bits of an integer whose other bits are known."""

    value: Val
    bits: Val


def rounder(elem: str) -> float:
    return 1.5 * 2.0 ** MANTISSA_BITS[elem]


def rounder_bits(elem: str) -> int:
    mantissa = MANTISSA_BITS[elem]
    return ((BIAS[elem] + mantissa) << mantissa) + (1 << (mantissa - 1))


def exponent_bits(elem: str, power: int) -> int:
    """The bits of `2**power`."""
    return (BIAS[elem] + power) << MANTISSA_BITS[elem]


def nearest_whole(e: Emitter, x: Val, factor: float = 1.0) -> Whole:
    """Return the integer nearest to `x * factor`, whose magnitude is below `2**22` (`2**51` for `double`)."""
    magic = e.const_like(x, rounder(x.elem))
    shifted = e.op("fadd", x, magic) if factor == 1.0 else e.fma(x, e.const_like(x, factor), magic)
    return Whole(e.op("fsub", shifted, magic), as_integer(e, shifted))


def scale_normal(e: Emitter, x: Val, power: Whole) -> Val:
    """`x * 2**power`, where `x` and the result are normal numbers."""
    step = e.op("shl", power.bits, e.const_like(power.bits, MANTISSA_BITS[x.elem]))
    return as_float(e, e.op("add", as_integer(e, x), step))


def scale(e: Emitter, x: Val, power: Whole) -> Val:
    """`x * 2**power` with one rounding, for `x` near 1 and any power from below all subnormals to above overflow."""
    bias, mantissa = BIAS[x.elem], e.const_like(power.bits, MANTISSA_BITS[x.elem])
    fields = e.op("sub", power.bits, e.const_like(power.bits, rounder_bits(x.elem) - 2 * bias))
    first = e.op("lshr", fields, e.const_like(fields, 1))
    second = e.op("sub", fields, first)
    for field in (first, second):
        x = e.op("fmul", x, as_float(e, e.op("shl", field, mantissa)))
    return x


def fills_avx512(e: Emitter, x: Val) -> bool:
    """Tell whether 16 `float` are one register of AVX-512.

    They may be two registers of AVX2, because elementwise programs compute in `float` beside narrower arrays.
    """
    return x.elem == "float" and x.lanes == 16 and e.vector_bytes >= 64


def scaled_where(e: Emitter, mask: Val, x: Val, power: Val) -> Val:
    """Return `x * 2**power` with one rounding, for any numbers, and 0 in other lanes, if `fills_avx512`."""
    lanes = e.emit(f"bitcast {mask.typed} to i16", "i16", 0)
    rounding = e.const("i32", AS_ELSEWHERE)
    return e.call("x86.avx512.mask.scalef.ps.512", x, power, e.zero_like(x), lanes, rounding, suffix="")


def clamp(e: Emitter, x: Val, low: float, high: float) -> Val:
    """`x` kept between two bounds; NaN stays NaN."""
    lowest, highest = e.const_like(x, low), e.const_like(x, high)
    x = e.select(e.fcmp("olt", x, lowest), lowest, x)
    return e.select(e.fcmp("ogt", x, highest), highest, x)


class Split(NamedTuple):
    """`2**(exponent * EXPONENT_UNIT) * mantissa`, with the mantissa in [sqrt(1/2), sqrt(2)).

    `field` holds the exponent at its usual bits.
    """

    exponent: Val
    mantissa: Val
    field: Val


def split(e: Emitter, x: Val) -> Split:
    """The parts of a positive normal number."""
    width, lowest = MANTISSA_BITS[x.elem], SQRT_HALF_BITS[x.elem]
    bits = as_integer(e, x)
    above = e.op("sub", bits, e.const_like(bits, lowest))
    field = e.op("and", above, e.const_like(bits, -(1 << width)))
    mantissa = as_float(e, e.op("sub", bits, field))
    if x.elem == "float":
        return Split(e.cast("sitofp", field, "float"), mantissa, field)
    # An integer this short needs no conversion from 64 bits, which AVX2 lacks.
    exponent = e.cast("sitofp", e.op("ashr", above, e.const_like(bits, width)), "double")
    return Split(exponent, mantissa, field)


def not_finite_from(e: Emitter, x: Val, power: int) -> Val:
    """Whether `x` is below `2**power` (a normal number), infinite or NaN."""
    bits = as_integer(e, x)
    # Subtracting the bound and flipping the sign makes it one signed comparison.
    flip = 1 << (BITS[bits.elem] - 1)
    least, infinity = exponent_bits(x.elem, power), exponent_bits(x.elem, BIAS[x.elem] + 1)
    above = e.op("sub", bits, e.const_like(bits, least - flip))
    return e.icmp("sge", above, e.const_like(bits, infinity - least - flip))


def not_positive_normal(e: Emitter, x: Val) -> Val:
    """Whether `x` is zero, subnormal, negative, infinite or NaN."""
    if fills_avx512(e, x):
        # This tests for all those classes at once.
        return e.call("x86.avx512.fpclass.ps.512", x, e.const("i32", EVERY_OTHER_CLASS), elem="i1", suffix="")
    return not_finite_from(e, x, 1 - BIAS[x.elem])


def far_steps(e: Emitter, power: Val) -> list[Val]:
    """Return three normal doubles whose product is `2**power`, for an integer power of at most 3000."""
    one, steps = e.const_like(power, 1.0), []
    for _ in range(3):
        step = clamp(e, power, -1000.0, 1000.0)
        steps.append(scale_normal(e, one, nearest_whole(e, step)))
        power = e.op("fsub", power, step)
    return steps

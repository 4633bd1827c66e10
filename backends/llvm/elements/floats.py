"""Emit exact operations on the parts, signs and neighbours of floats.

Steps to neighbouring numbers work on bits, so they serve f16 and bf16 too, whose values are `i16`.
"""

from __future__ import annotations

import math

from ....ir.dtypes import BF16, F16, DType
from ..code.text import BITS, Emitter, Val
from ..math.bits import as_float, as_integer
from ..math.scaling import BIAS, MANTISSA_BITS
from .halves import narrow, widen

INFINITY_BITS = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}
NAN_BITS = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}


def copysign(e: Emitter, x: Val, sign: Val) -> Val:
    return e.call("copysign", x, sign)


def signbit(e: Emitter, x: Val) -> Val:
    bits = as_integer(e, x)
    return e.icmp("slt", bits, e.zero_like(bits))


def number_first(e: Emitter, intrinsic: str, a: Val, b: Val) -> Val:
    """`minimum` or `maximum` that ignores NaN."""
    both = e.call(intrinsic, a, b)
    found = e.select(e.fcmp("uno", a, a), b, both)
    return e.select(e.fcmp("uno", b, b), a, found)


def heaviside(e: Emitter, x: Val, at_zero: Val) -> Val:
    zero = e.zero_like(x)
    step = e.select(e.fcmp("ogt", x, zero), e.const_like(x, 1.0), zero)
    step = e.select(e.fcmp("oeq", x, zero), at_zero, step)
    return e.select(e.fcmp("uno", x, x), x, step)


def modf(e: Emitter, x: Val) -> tuple[Val, Val]:
    """The fractional and the integral part; both have the sign of the number."""
    whole = e.call("trunc", x)
    # The difference of infinities is NaN.
    rest = e.select(e.fcmp("oeq", x, whole), e.zero_like(x), e.op("fsub", x, whole))
    return e.call("copysign", rest, x), whole


def frexp(e: Emitter, x: Val) -> tuple[Val, Val]:
    """Return a mantissa from 1/2 to 1 and an exponent as `i32`; zeros, infinities and NaN stay, with exponent 0."""
    width, bias = MANTISSA_BITS[x.elem], BIAS[x.elem]
    smallest = e.const_like(x, 2.0 ** (1 - bias))
    subnormal = e.fcmp("olt", e.call("fabs", x), smallest)
    scaled = e.select(subnormal, e.op("fmul", x, e.const_like(x, 2.0 ** (width + 1))), x)
    bits = as_integer(e, scaled)
    mask = ((1 << (BITS[x.elem] - 1 - width)) - 1) << width
    field = e.op("lshr", e.op("and", bits, e.const_like(bits, mask)), e.const_like(bits, width))
    shift = e.select(subnormal, e.const_like(bits, bias + width), e.const_like(bits, bias - 1))
    rest = e.op("or", e.op("and", bits, e.const_like(bits, ~mask)), e.const_like(bits, (bias - 1) << width))
    finite = e.fcmp("olt", e.call("fabs", x), e.const_like(x, math.inf))
    ordinary = e.op("and", finite, e.fcmp("one", x, e.zero_like(x)))
    exponent = e.select(ordinary, e.op("sub", field, shift), e.zero_like(bits))
    mantissa = e.select(ordinary, as_float(e, rest), x)
    return mantissa, exponent if exponent.elem == "i32" else e.cast("trunc", exponent, "i32")


def ldexp(e: Emitter, x: Val, power: Val) -> Val:
    """Compute `x * 2**power` with one rounding, for any power.

    It multiplies by three factors, which reach from the largest number to below the smallest. Only the last factor may
    round to a subnormal number, unless the result is so small that the next factor makes it 0.
    """
    width, bias = MANTISSA_BITS[x.elem], BIAS[x.elem]
    limit = 4 * bias
    power = e.call("smax", e.call("smin", power, e.const_like(power, limit)), e.const_like(power, -limit))
    if BITS[power.elem] != BITS[x.elem]:
        power = e.cast("trunc" if BITS[power.elem] > BITS[x.elem] else "sext", power, f"i{BITS[x.elem]}")
    lowest, highest = e.const_like(power, 1 - bias), e.const_like(power, bias)
    for _ in range(3):
        least = e.select(e.icmp("slt", power, lowest), e.const_like(power, width + 2 - bias), power)
        step = e.call("smin", least, highest)
        power = e.op("sub", power, step)
        factor = e.op("shl", e.op("add", step, highest), e.const_like(step, width))
        x = e.op("fmul", x, as_float(e, factor))
    return x


def nextafter(e: Emitter, dtype: DType, x: Val, y: Val) -> Val:
    """The next number from `x` towards `y`. For two zeros it is `y`, but for f16 `x`, as in NumPy."""
    bits, goal = _bits(e, dtype, x), _bits(e, dtype, y)
    here, there = _ordered(e, bits), _ordered(e, goal)
    one = e.const_like(bits, 1)
    step = e.op("add", here, e.select(e.icmp("slt", here, there), one, e.const_like(bits, -1)))
    lowest = e.const_like(bits, -(1 << (dtype.bits - 1)))
    found = e.select(e.icmp("slt", step, e.zero_like(bits)), e.op("sub", lowest, step), step)
    # From the smallest negative number the next is -0.0.
    arrived = e.icmp("eq", step, e.zero_like(bits))
    found = e.select(arrived, e.op("and", bits, lowest), found)
    found = e.select(e.icmp("eq", here, there), bits if dtype == F16 else goal, found)
    nan = e.op("or", _is_nan(e, dtype, bits), _is_nan(e, dtype, goal))
    return _float(e, dtype, e.select(nan, e.const_like(bits, NAN_BITS[dtype.name]), found))


def spacing(e: Emitter, dtype: DType, x: Val) -> Val:
    """The distance to the next number away from zero; NaN for infinities and NaN."""
    bits = _bits(e, dtype, x)
    magnitude = e.op("and", bits, e.const_like(bits, (1 << (dtype.bits - 1)) - 1))
    beyond = e.icmp("sge", magnitude, e.const_like(bits, INFINITY_BITS[dtype.name]))
    nan = e.const_like(bits, NAN_BITS[dtype.name])
    return _float(e, dtype, e.select(beyond, nan, _distance(e, dtype, bits, magnitude)))


def _distance(e: Emitter, dtype: DType, bits: Val, magnitude: Val) -> Val:
    """The bits of the spacing. It has the sign of the number, but is positive for zeros and for f16."""
    if dtype == F16:
        return _half_distance(e, bits, magnitude)
    following = e.op("add", magnitude, e.const_like(bits, 1))
    sign = e.op("xor", bits, magnitude)
    if dtype == BF16:
        wide = e.op("fsub", widen(e, following, dtype), widen(e, magnitude, dtype))
        return e.op("or", narrow(e, wide, dtype), sign)
    distance = as_integer(e, e.op("fsub", as_float(e, following), as_float(e, magnitude)))
    zero = e.icmp("eq", magnitude, e.zero_like(bits))
    return e.select(zero, distance, e.op("or", distance, sign))


def _half_distance(e: Emitter, bits: Val, magnitude: Val) -> Val:
    """Follow NumPy's rule for f16: the spacing of a negative power of two is that towards zero."""
    one, zero = e.const_like(bits, 1), e.zero_like(bits)
    field = e.op("and", magnitude, e.const_like(bits, 0x7C00))
    power_of_two = e.icmp("eq", field, magnitude)
    boundary = e.op("and", power_of_two, e.icmp("slt", bits, zero))
    less = e.select(boundary, e.const_like(bits, 11), e.const_like(bits, 10))
    exponent = e.op("lshr", field, e.const_like(bits, 10))
    normal = e.op("sub", field, e.op("shl", less, e.const_like(bits, 10)))
    count = e.op("sub", exponent, e.op("sub", less, e.const_like(bits, 9)))
    small = e.icmp("sgt", exponent, one)
    subnormal = e.op("shl", one, e.select(small, e.op("and", count, e.const_like(bits, 15)), zero))
    found = e.select(e.icmp("sgt", exponent, less), normal, subnormal)
    largest = e.icmp("eq", bits, e.const_like(bits, 0x7BFF))
    return e.select(largest, e.const_like(bits, INFINITY_BITS["f16"]), found)


def _bits(e: Emitter, dtype: DType, x: Val) -> Val:
    return x if dtype in (F16, BF16) else as_integer(e, x)


def _float(e: Emitter, dtype: DType, bits: Val) -> Val:
    return bits if dtype in (F16, BF16) else as_float(e, bits)


def _is_nan(e: Emitter, dtype: DType, bits: Val) -> Val:
    magnitude = e.op("and", bits, e.const_like(bits, (1 << (dtype.bits - 1)) - 1))
    return e.icmp("sgt", magnitude, e.const_like(bits, INFINITY_BITS[dtype.name]))


def _ordered(e: Emitter, bits: Val) -> Val:
    """An integer that grows with the number; both zeros are 0."""
    lowest = e.const_like(bits, -(1 << (BITS[bits.elem] - 1)))
    return e.select(e.icmp("slt", bits, e.zero_like(bits)), e.op("sub", lowest, bits), bits)

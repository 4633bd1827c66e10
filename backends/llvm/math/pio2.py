"""Emit range reduction by a quarter turn: the quadrant and the remainder of a magnitude.

`x = quadrant * pi/2 + high + low` with `|high| <= pi/4` (slightly more at the edges).

Moderate arguments (Cody and Waite): `k = round(x * 2/pi)` and three FMA steps. The first is exact because the constant
is on the grid of `x`. The second constant is so short that `k` times it is exact, so its sum can be split into two
parts without error. The third goes into the low part. The result is accurate to 2**-70 (2**-30 for `float`) relative to
`high`, even at the arguments nearest to a multiple of `pi/2`.

Huge arguments (Payne and Hanek): the mantissa is multiplied, as an integer, by the 192 bits of `2/pi` that matter; the
bits above them are whole turns. 126 bits of the fraction are right, and an argument close to a multiple of `pi/2` loses
at most 62 of them. Huge arguments are rare, so lanes are reduced one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import Emitter, Val
from .bits import as_integer
from .doubledouble import Pair, fast_two_sum, two_product
from .scaling import rounder

# The largest argument of `reduce_moderate`, and minus pi/2 in three parts.
MODERATE = {"float": 6400.0, "double": 1e8}
MINUS_PI_2 = {
    "float": (-1.5707963705062866, 4.371395334601402e-08, -2.5633440682570896e-12),
    "double": (-1.5707963267948966, -6.123234014771656e-17, 1.9034889620193266e-25),
}
TWO_OVER_PI = 0.6366197723675814

# pi/2 / 2**62 in two parts: the unit of the fraction that `_turns` leaves.
QUARTER_TURN = (3.4061215800865545e-19, 1.3277647201629795e-35)

# floor(2/pi * 2**1162) as little-endian words, followed by zeros for the smallest exponents.
TABLE = "@weft.two_over_pi"
TABLE_WORDS = 36
TWO_OVER_PI_BITS = int(
    "28be60db9391054a7f09d5f47d4d377036d8a5664f10e4107f9458eaf7aef1586dc91b8e909374b801924bba82746487"
    "3f877ac72c4a69cfba208d7d4baed1213a671c09ad17df904e64758e60d4ce7d272117e2ef7e4a0ec7fe25fff7816603"
    "fbcbc462d6829b47db4d9fb3c9f2c26dd3d18fd9a797fa8b5d49eeb1faf97c5ecf41ce7de294a4ba9afed7ec47e35742"
    "158",
    16,
)


class ReducedAngle(NamedTuple):
    """The quadrant in the lowest two bits of an integer, and the rest of the angle as a sum of two values."""

    quadrant: Val
    high: Val
    low: Val


def reduce_moderate(e: Emitter, x: Val, quarter_turns: int) -> ReducedAngle:
    """Reduce `0 <= x <= MODERATE`; `quarter_turns` are added to the quadrant."""
    first, second, third = (e.const_like(x, c) for c in MINUS_PI_2[x.elem])
    shift = e.const_like(x, rounder(x.elem) + quarter_turns)
    rounded = e.fma(x, e.const_like(x, TWO_OVER_PI), shift)
    k = e.op("fsub", rounded, shift)
    exact = e.fma(k, first, x)
    high = e.fma(k, second, exact)
    low = e.fma(k, third, e.fma(k, second, e.op("fsub", exact, high)))
    return ReducedAngle(as_integer(e, rounded), high, low)


def reduce_huge(e: Emitter, x: Val, quarter_turns: int) -> ReducedAngle:
    """Reduce a scalar `x >= 2048`; infinities and NaN give NaN."""
    if x.elem == "float":
        wide = reduce_huge(e, e.cast("fpext", x, "double"), quarter_turns)
        narrow = e.cast("fptrunc", wide.high, "float")
        rest = e.op("fsub", wide.high, e.cast("fpext", narrow, "double"))
        return ReducedAngle(e.cast("trunc", wide.quadrant, "i32"), narrow, e.cast("fptrunc", rest, "float"))
    first, second = _turns(e, as_integer(e, x))
    quadrant = e.op("lshr", e.op("add", first, e.const("i64", 1 << 61)), e.const("i64", 62))
    first = e.op("sub", first, e.op("shl", quadrant, e.const("i64", 62)))
    fraction = _fixed_point(e, first, second)
    unit, unit_error = (e.const("double", part) for part in QUARTER_TURN)
    high, low = two_product(e, fraction.high, unit)
    low = e.op("fadd", low, e.fma(fraction.high, unit_error, e.op("fmul", fraction.low, unit)))
    nan_unless_finite = e.op("fsub", x, x)
    quadrant = e.op("add", quadrant, e.const("i64", quarter_turns))
    return ReducedAngle(quadrant, e.op("fadd", high, nan_unless_finite), low)


def _turns(e: Emitter, bits: Val) -> tuple[Val, Val]:
    """Return `x * 2/pi` modulo 4, in units of `2**-62` and `2**-126`, for the double with these bits."""
    exponent = e.op("lshr", bits, e.const("i64", 52))
    mantissa = e.op("and", bits, e.const("i64", (1 << 52) - 1))
    mantissa = e.op("or", mantissa, e.const("i64", 1 << 52))
    # The table can only be read at whole bytes; the mantissa is shifted by the remaining bits.
    shift = e.op("and", e.op("add", exponent, e.const("i64", 1)), e.const("i64", 7))
    mantissa = e.op("shl", mantissa, shift)
    skipped = e.op("lshr", e.op("sub", e.const("i64", 2054), exponent), e.const("i64", 3))
    lowest, middle, highest = _table_words(e, skipped)
    word = e.const("i128", 64)
    wide = e.cast("zext", mantissa, "i128")
    carry = e.op("lshr", e.op("mul", wide, e.cast("zext", lowest, "i128")), word)
    product = e.op("add", e.op("mul", wide, e.cast("zext", middle, "i128")), carry)
    upper = e.cast("trunc", e.op("lshr", product, word), "i64")
    return e.op("add", e.op("mul", mantissa, highest), upper), e.cast("trunc", product, "i64")


def _table_words(e: Emitter, byte_offset: Val) -> list[Val]:
    """Return three words of the table from an offset on, the lowest first."""
    words = [TWO_OVER_PI_BITS >> (64 * i) & (1 << 64) - 1 for i in range(TABLE_WORDS)]
    text = ", ".join(f"i64 {word}" for word in words)
    e.declared[TABLE] = f"{TABLE} = private unnamed_addr constant [{TABLE_WORDS} x i64] [{text}]"
    address = e.offset(Val(TABLE, "ptr", 0), byte_offset)
    return [e.load(e.offset(address, e.const("i64", 8 * i)), "i64", 0, 1) for i in range(3)]


def _fixed_point(e: Emitter, first: Val, second: Val) -> Pair:
    """The signed integer `first` plus `second / 2**64` as two doubles, from digits of 32 bits."""
    scale = e.const("double", 2.0**32)
    upper, lower = (e.cast("sitofp", digit, "double") for digit in _digits(e, first, "ashr"))
    whole = fast_two_sum(e, e.op("fmul", upper, scale), lower)
    upper, lower = (e.cast("sitofp", digit, "double") for digit in _digits(e, second, "lshr"))
    tail = e.fma(upper, scale, lower)
    return fast_two_sum(e, whole.high, e.fma(tail, e.const("double", 2.0**-64), whole.low))


def _digits(e: Emitter, n: Val, shift: str) -> tuple[Val, Val]:
    return e.op(shift, n, e.const("i64", 32)), e.op("and", n, e.const("i64", 0xFFFFFFFF))

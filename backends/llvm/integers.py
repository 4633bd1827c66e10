"""Integer division, remainder, powers and shifts as NumPy defines them where C leaves them open."""

from __future__ import annotations

from ...ir.dtypes import DType
from .text import BITS, Emitter, Val


def floor_divmod(e: Emitter, dtype: DType, a: Val, b: Val) -> tuple[Val, Val]:
    """The quotient rounded down and what it leaves, with the sign of the divisor; 0 and 0 for a zero divisor.

    The smallest number divided by -1 is itself.
    """
    zero = e.zero_like(a)
    by_zero = _is_zero(e, b)
    quotient, rest = _divide(e, dtype, a, b, by_zero)
    if dtype.kind == "int":
        above = _rounds_up(e, rest, b)
        quotient = e.op("add", quotient, e.cast("sext", above, a.elem))
        rest = e.select(above, e.op("add", rest, b), rest)
    return e.select(by_zero, zero, quotient), e.select(by_zero, zero, rest)


def _divide(e: Emitter, dtype: DType, a: Val, b: Val, by_zero: Val) -> tuple[Val, Val]:
    """Quotient towards zero and remainder, with the divisors that trap made harmless."""
    one = e.const_like(b, 1)
    if dtype.kind == "uint":
        quotient = e.op("udiv", a, e.select(by_zero, one, b))
    else:
        minus_one = e.icmp("eq", b, e.const_like(b, -1))
        quotient = e.op("sdiv", a, e.select(e.op("or", by_zero, minus_one), one, b))
        quotient = e.select(minus_one, e.op("sub", e.zero_like(a), a), quotient)
    return quotient, e.op("sub", a, e.op("mul", quotient, b))


def _is_zero(e: Emitter, x: Val) -> Val:
    return e.icmp("eq", x, e.zero_like(x))


def _rounds_up(e: Emitter, rest: Val, b: Val) -> Val:
    """Whether division towards zero went above the quotient."""
    differ = e.icmp("slt", e.op("xor", rest, b), e.zero_like(b))
    return e.op("and", e.icmp("ne", rest, e.zero_like(rest)), differ)


def shift(e: Emitter, opcode: str, a: Val, count: Val) -> Val:
    """A shift by the width or more, or by a negative count, moves every bit out."""
    width = BITS[a.elem]
    small = e.icmp("ult", count, e.const_like(count, width))
    moved = e.op(opcode, a, e.select(small, count, e.zero_like(count)))
    gone = e.op("ashr", a, e.const_like(a, width - 1)) if opcode == "ashr" else e.zero_like(a)
    return e.select(small, moved, gone)


def whole_power(e: Emitter, x: Val, exponent: int) -> Val:
    """A fixed power, wrapping around."""
    total = x
    for _ in range(exponent - 1):
        total = e.op("mul", total, x)
    return total


def power(e: Emitter, base: Val, exponent: Val) -> Val:
    """By repeated squaring, wrapping around; a negative exponent is the caller's error, as in NumPy."""
    e.fail_where(e.icmp("slt", exponent, e.zero_like(exponent)))
    one = e.const_like(base, 1)

    def step(carried: list[Val]) -> list[Val]:
        total, factor, rest = carried
        odd = e.icmp("ne", e.op("and", rest, one), e.zero_like(rest))
        total = e.op("mul", total, e.select(odd, factor, one))
        return [total, e.op("mul", factor, factor), e.op("lshr", rest, one)]

    def unfinished(carried: list[Val]) -> Val:
        return e.any(e.icmp("ne", carried[2], e.zero_like(exponent)))

    return e.repeat([one, base, exponent], unfinished, step)[0]

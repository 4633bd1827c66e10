"""Emit integer division, powers, shifts and divisors as NumPy defines them where C does not."""

from __future__ import annotations

from ....ir.dtypes import DType
from ..code.text import BITS, Emitter, Val


def floor_divmod(e: Emitter, dtype: DType, a: Val, b: Val) -> tuple[Val, Val]:
    """The quotient rounded down, and the remainder with the sign of the divisor; 0 and 0 for a zero divisor.

    The smallest number divided by -1 is itself.
    """
    if (bits := _power_of_two(b)) is not None:
        shift = "ashr" if dtype.kind == "int" else "lshr"
        return e.op(shift, a, e.const_like(a, bits)), e.op("and", a, e.const_like(a, (1 << bits) - 1))
    zero = e.zero_like(a)
    by_zero = _is_zero(e, b)
    quotient, rest = _divide(e, dtype, a, b, by_zero)
    if dtype.kind == "int":
        above = _rounds_up(e, rest, b)
        quotient = e.op("add", quotient, e.cast("sext", above, a.elem))
        rest = e.select(above, e.op("add", rest, b), rest)
    return e.select(by_zero, zero, quotient), e.select(by_zero, zero, rest)


def _divide(e: Emitter, dtype: DType, a: Val, b: Val, by_zero: Val) -> tuple[Val, Val]:
    """The quotient towards zero and the remainder; divisors that would trap are replaced first."""
    one = e.const_like(b, 1)
    if _is_plain_constant(b):
        quotient = e.op("udiv" if dtype.kind == "uint" else "sdiv", a, b)  # LLVM multiplies
    elif dtype.kind == "uint":
        quotient = _quotient(e, dtype, a, e.select(by_zero, one, b))
    else:
        minus_one = e.icmp("eq", b, e.const_like(b, -1))
        quotient = _quotient(e, dtype, a, e.select(e.op("or", by_zero, minus_one), one, b))
        quotient = e.select(minus_one, e.op("sub", e.zero_like(a), a), quotient)
    return quotient, e.op("sub", a, e.op("mul", quotient, b))


def _is_plain_constant(b: Val) -> bool:
    """Whether a divisor is a constant by which division never traps."""
    return not b.text.startswith("%") and b.text not in [
        text for x in (0, 1, -1) for text in (f"{x}", f"splat ({b.elem} {x})", "zeroinitializer")
    ]


def _power_of_two(b: Val) -> int | None:
    """The exponent of a divisor that is a constant power of two, and not negative."""
    text = b.text.removeprefix(f"splat ({b.elem} ").removesuffix(")")
    return int(text).bit_length() - 1 if text.isdecimal() and int(text).bit_count() == 1 else None


def _quotient(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
    """Divide and round towards zero.

    CPUs only divide vectors of floats. A quotient of n-bit integers that is not an integer is more than 2**-n away from
    the next one. So a float with a few more digits than n, rounded towards zero, gives the right quotient.
    """
    sign = "s" if dtype.kind == "int" else "u"
    if not a.lanes or dtype.bits == 64:
        return e.op(f"{sign}div", a, b)
    wide, elem = ("i32", "float") if dtype.bits < 32 else (a.elem, "double")
    if wide != a.elem:
        a, b = (e.cast("sext" if sign == "s" else "zext", x, wide) for x in (a, b))
        sign = "s"
    x, y = (e.cast(f"{sign}itofp", v, elem) for v in (a, b))
    quotient = e.cast(f"fpto{sign}i", e.op("fdiv", x, y), wide)
    return quotient if wide == f"i{dtype.bits}" else e.cast("trunc", quotient, f"i{dtype.bits}")


def _is_zero(e: Emitter, x: Val) -> Val:
    return e.icmp("eq", x, e.zero_like(x))


def _rounds_up(e: Emitter, rest: Val, b: Val) -> Val:
    """Whether division towards zero went above the quotient."""
    differ = e.icmp("slt", e.op("xor", rest, b), e.zero_like(b))
    return e.op("and", e.icmp("ne", rest, e.zero_like(rest)), differ)


def fmod(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
    """The remainder of division towards zero; 0 for a zero divisor."""
    by_zero = _is_zero(e, b)
    return e.select(by_zero, e.zero_like(a), _divide(e, dtype, a, b, by_zero)[1])


def reciprocal(e: Emitter, dtype: DType, x: Val) -> Val:
    """Compute the reciprocal: 1 and -1 stay, other numbers give 0, and 0 gives the smallest i32 or i64, or 0 for other
    dtypes.
    """
    one, zero = e.const_like(x, 1), e.zero_like(x)
    found = e.select(e.icmp("eq", x, one), one, zero)
    if dtype.kind == "int":
        found = e.select(e.icmp("eq", x, e.const_like(x, -1)), x, found)
        if dtype.bits >= 32:
            found = e.select(_is_zero(e, x), e.const_like(x, -(1 << (dtype.bits - 1))), found)
    return found


def absolute(e: Emitter, dtype: DType, x: Val) -> Val:
    """Return the absolute value; the smallest number of a signed dtype is its own."""
    if dtype.kind != "int":
        return x
    return e.select(e.icmp("slt", x, e.zero_like(x)), e.op("sub", e.zero_like(x), x), x)


def sign(e: Emitter, dtype: DType, x: Val) -> Val:
    zero, one = e.zero_like(x), e.const_like(x, 1)
    found = e.select(e.icmp("ne", x, zero), one, zero)
    return e.select(e.icmp("slt", x, zero), e.const_like(x, -1), found) if dtype.kind == "int" else found


def bit_count(e: Emitter, dtype: DType, x: Val) -> Val:
    """The number of set bits of the absolute value, as an `i8`."""
    count = e.call("ctpop", absolute(e, dtype, x))
    return count if count.elem == "i8" else e.cast("trunc", count, "i8")


def _shift(e: Emitter, opcode: str, a: Val, count: Val) -> Val:
    """Shifts; a count of the width or more, or a negative one, shifts every bit out."""
    width = BITS[a.elem]
    small = e.icmp("ult", count, e.const_like(count, width))
    moved = e.op(opcode, a, e.select(small, count, e.zero_like(count)))
    gone = e.op("ashr", a, e.const_like(a, width - 1)) if opcode == "ashr" else e.zero_like(a)
    return e.select(small, moved, gone)


def left_shift(e: Emitter, dtype: DType, a: Val, count: Val) -> Val:
    return _shift(e, "shl", a, count)


def right_shift(e: Emitter, dtype: DType, a: Val, count: Val) -> Val:
    """Shifts right; a signed number shifts in its sign."""
    return _shift(e, "ashr" if dtype.kind == "int" else "lshr", a, count)


def gcd(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
    """Halves and subtracts in all lanes at once (binary GCD)."""
    a, b = absolute(e, dtype, a), absolute(e, dtype, b)
    none = _is_zero(e, a)
    first, second = e.select(none, b, a), e.select(none, a, b)
    common = _trailing_zeros(e, e.op("or", a, b))

    def step(carried: list[Val]) -> list[Val]:
        odd, rest = carried
        rest = e.select(_is_zero(e, rest), odd, e.op("lshr", rest, _trailing_zeros(e, rest)))
        smaller = e.call("umin", odd, rest)
        return [smaller, e.op("sub", e.call("umax", odd, rest), smaller)]

    def unfinished(carried: list[Val]) -> Val:
        return e.any(e.icmp("ne", carried[1], e.zero_like(b)))

    odd, _ = e.repeat([e.op("lshr", first, _trailing_zeros(e, first)), second], unfinished, step)
    return e.op("shl", odd, common)


def lcm(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
    """The least common multiple; it wraps around on overflow and is 0 if one number is 0."""
    divisor = gcd(e, dtype, a, b)
    a, b = absolute(e, dtype, a), absolute(e, dtype, b)
    unsigned = DType(f"u{dtype.bits}", "uint", dtype.bits)
    quotient = _quotient(e, unsigned, a, e.select(_is_zero(e, divisor), e.const_like(a, 1), divisor))
    return e.op("mul", quotient, b)


def _trailing_zeros(e: Emitter, x: Val) -> Val:
    """How many low bits are 0; 0 for 0 itself, which may then be shifted by it."""
    count = e.call("cttz", x, Val("false", "i1", 0))
    return e.op("and", count, e.const_like(x, BITS[x.elem] - 1))


def whole_power(e: Emitter, x: Val, exponent: int) -> Val:
    """A constant power, which wraps around."""
    total = x
    for _ in range(exponent - 1):
        total = e.op("mul", total, x)
    return total


def power(e: Emitter, dtype: DType, base: Val, exponent: Val) -> Val:
    """A power by repeated squaring, which wraps around; a negative exponent is the caller's error, as in NumPy."""
    if dtype.kind == "int":
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


def compare_signs(e: Emitter, predicate: str, a: Val, b: Val, signed: int) -> Val:
    """Compares a signed number, the operand `signed`, with an unsigned one that may be beyond its range."""
    x = (a, b)[signed]
    negative = e.icmp("slt", x, e.zero_like(x))
    equality = predicate in ("eq", "ne")
    found = e.icmp(predicate if equality else f"u{predicate}", a, b)
    # The unsigned number is the larger one.
    holds = predicate == "ne" if equality else predicate in (("lt", "le"), ("gt", "ge"))[signed]
    return e.op("or", negative, found) if holds else e.op("and", e.not_(negative), found)

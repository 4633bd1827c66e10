"""Emit floor division and remainder of floats, with the same bits as NumPy's.

The remainder of magnitudes is exact. With precision p and a quotient below 2**(p - 1), `q = trunc(x / y)` is the true
integer quotient or one more, and `x - q*y` by one FMA is exact. Larger quotients are first reduced by the same step
with `y` scaled up by a power of two, which does not change the remainder modulo `y`. The loop ends when every lane is
below its divisor, after one iteration for ordinary numbers.
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .bits import as_float, as_integer

PRECISION = {"float": 24, "double": 53}
EXPONENT_BIAS = {"float": 127, "double": 1023}
SMALLEST_NORMAL = {"float": 2.0**-126, "double": 2.0**-1022}


def floor_divmod(e: Emitter, a: Val, b: Val) -> tuple[Val, Val]:
    """Return the quotient rounded down (`a / b` for a zero divisor), and the remainder with the sign of the divisor."""
    rest = truncated_remainder(e, a, b)
    quotient = e.op("fdiv", e.op("fsub", a, rest), b)
    exact = e.fcmp("oeq", rest, e.zero_like(rest))
    negative_b, negative_rest = (e.fcmp("olt", x, e.zero_like(x)) for x in (b, rest))
    differ = e.op("and", e.op("xor", negative_b, negative_rest), e.not_(exact))
    quotient = e.select(differ, e.op("fsub", quotient, e.const_like(a, 1.0)), quotient)
    adjusted = e.select(differ, e.op("fadd", rest, b), rest)
    modulus = e.select(exact, e.call("copysign", e.zero_like(b), b), adjusted)

    floored = e.call("floor", quotient)
    above = e.fcmp("ogt", e.op("fsub", quotient, floored), e.const_like(a, 0.5))
    floored = e.select(above, e.op("fadd", floored, e.const_like(a, 1.0)), floored)
    none = e.fcmp("oeq", quotient, e.zero_like(quotient))
    plain = e.op("fdiv", a, b)
    floored = e.select(none, e.call("copysign", e.zero_like(a), plain), floored)
    return e.select(e.fcmp("oeq", b, e.zero_like(b)), plain, floored), modulus


def truncated_remainder(e: Emitter, a: Val, b: Val) -> Val:
    """C's `fmod`: exact, with the sign of the dividend."""
    x, y = e.call("fabs", a), e.call("fabs", b)
    infinity = e.const_like(x, float("inf"))
    valid = e.op("and", e.fcmp("olt", x, infinity), e.fcmp("ogt", y, e.zero_like(y)))
    finite = e.op("and", valid, e.fcmp("olt", y, infinity))
    start = e.select(finite, x, e.zero_like(x))

    def above(carried: list[Val]) -> Val:
        return e.any(e.op("and", finite, e.fcmp("oge", carried[0], y)))

    def step(carried: list[Val]) -> list[Val]:
        left = carried[0]
        divisor = _scaled(e, left, y)
        quotient = e.call("trunc", e.op("fdiv", left, divisor))
        rest = e.fma(e.fneg(quotient), divisor, left)
        rest = e.select(e.fcmp("olt", rest, e.zero_like(rest)), e.op("fadd", rest, divisor), rest)
        return [e.select(e.fcmp("oge", left, y), rest, left)]

    rest = e.repeat([start], above, step)[0]
    rest = e.select(finite, rest, e.select(valid, x, e.const_like(x, float("nan"))))
    return e.call("copysign", rest, a)


def _scaled(e: Emitter, x: Val, y: Val) -> Val:
    """Scale `y` by the power of two that brings the quotient of `x` and `y` below 2**(p - 1), or return `y` if it is.

    If `y` is subnormal, the power may be twice as large as a float holds, so it is applied in two steps.
    """
    excess = e.op("sub", _exponent(e, x), _exponent(e, y))
    excess = e.op("sub", excess, e.const_like(excess, PRECISION[x.elem] - 2))
    power = e.select(e.icmp("sgt", excess, e.zero_like(excess)), excess, e.zero_like(excess))
    half = e.op("lshr", power, e.const_like(power, 1))
    for part in (half, e.op("sub", power, half)):
        biased = e.op("add", part, e.const_like(part, EXPONENT_BIAS[x.elem]))
        y = e.op("fmul", y, as_float(e, e.op("shl", biased, e.const_like(biased, PRECISION[x.elem] - 1))))
    return y


def _exponent(e: Emitter, x: Val) -> Val:
    """The exponent of a number that is not negative, subnormal ones included."""
    digits = PRECISION[x.elem]
    small = e.fcmp("olt", x, e.const_like(x, SMALLEST_NORMAL[x.elem]))
    scaled = e.select(small, e.op("fmul", x, e.const_like(x, 2.0**digits)), x)
    exponent = e.op("lshr", as_integer(e, scaled), e.const_like(as_integer(e, scaled), digits - 1))
    return e.select(small, e.op("sub", exponent, e.const_like(exponent, digits)), exponent)

"""Simplify arithmetic by identities and strength reduction, bit for bit for every value: finite, NaN, infinite, zero.

    x + -0.0 = x - 0.0 = x * 1 = x / 1 = x ** 1 = x      x * -1 = -0.0 - x = neg(x)      x / 2**k = x * 2**-k
    integers: x + 0 = x      x * 0 = 0      x * 2**k = x << k      x // 2**k = x >> k      x % 2**k = x & 2**k - 1

`x + 0.0` is not among them, because it turns -0.0 into 0.0.
"""

from __future__ import annotations

import math

from ...ir.dtypes import F16, F32, F64
from ...ir.graph import Value
from ...ir.ops import TABLE, WHOLE_POWER, OpDef
from .site import Rule, Site, constant_of, is_exactly, made_by

ADD, SUB, MUL, DIV, POWER = (TABLE[n] for n in ("add", "sub", "mul", "div", "power"))
FLOOR_DIVIDE, REMAINDER = TABLE["floor_divide"], TABLE["remainder"]
NEG, POSITIVE, ABS, SQUARE = (TABLE[n] for n in ("neg", "positive", "abs", "square"))
LEFT_SHIFT, RIGHT_SHIFT, BITWISE_AND = TABLE["left_shift"], TABLE["right_shift"], TABLE["bitwise_and"]
EXTREMES = tuple(TABLE[n] for n in ("minimum", "maximum", "fmin", "fmax"))
CONJUGATE = TABLE["conjugate"]
_LARGEST_EXPONENT = {F16: 15, F32: 127, F64: 1023}
ROUNDINGS = tuple(TABLE[n] for n in ("floor", "ceil", "trunc", "rint"))

WHOLE_EXPONENTS = range(3, 9)  # exponents for which multiplying is faster than a logarithm


def add(site: Site) -> Value | None:
    x, y = site.operands
    return x if is_exactly(y, -0.0 if site.dtype.kind == "float" else 0) else None


def sub(site: Site) -> Value | None:
    x, y = site.operands
    if is_exactly(y, 0):
        return x
    if site.dtype.kind == "float" and is_exactly(x, -0.0):
        return site.make(NEG, y)
    if site.dtype.is_integer:
        if x is y:
            return site.filled(0)
        if is_exactly(x, 0):
            return site.make(NEG, y)
    return None


def mul(site: Site) -> Value | None:
    x, y = site.operands
    if site.dtype.kind == "complex":
        return None
    if is_exactly(y, 1):
        return x
    if is_exactly(y, -1):
        return site.make(NEG, x)
    if not site.dtype.is_integer:
        return site.filled(False) if site.dtype.kind == "bool" and is_exactly(y, 0) else None
    if is_exactly(y, 0):
        return site.filled(0)
    shift = _whole_log2(y)
    return site.make(LEFT_SHIFT, x, site.number(shift)) if shift is not None else None


def div(site: Site) -> Value | None:
    """Multiplies by the reciprocal of a power of two, which is exact, so both round the same number once."""
    x, y = site.operands
    divisor = constant_of(y)
    if site.dtype.kind != "float" or not isinstance(divisor, float) or not math.isfinite(divisor):
        return None
    if abs(math.frexp(divisor)[0]) != 0.5:
        return None
    if abs(divisor) == 1:
        return x if divisor == 1 else site.make(NEG, x)
    # Beyond the range there is no exact reciprocal, and below the normal numbers multiplying is slower than dividing.
    exponent, limit = 1 - math.frexp(divisor)[1], _LARGEST_EXPONENT.get(site.dtype, 0)
    if not -limit < exponent <= limit:
        return None
    return site.make(MUL, x, site.number(math.copysign(math.ldexp(1.0, exponent), divisor)))


def floor_divide(site: Site) -> Value | None:
    x, y = site.operands
    if not site.dtype.is_integer:
        return None
    if is_exactly(y, 1):
        return x
    shift = _whole_log2(y)
    return site.make(RIGHT_SHIFT, x, site.number(shift)) if shift is not None else None


def remainder(site: Site) -> Value | None:
    x, y = site.operands
    if not site.dtype.is_integer:
        return None
    if is_exactly(y, 1):
        return site.filled(0)
    shift = _whole_log2(y)
    return site.make(BITWISE_AND, x, site.number((1 << shift) - 1)) if shift is not None else None


def power(site: Site) -> Value | None:
    x, y = site.operands
    if site.dtype.kind not in ("int", "uint", "float"):
        return None
    if is_exactly(y, 1):
        return x
    if is_exactly(y, 2):
        return site.make(SQUARE, x)
    exponent = constant_of(y)
    if exponent in WHOLE_EXPONENTS and not y.type.shape:
        assert isinstance(exponent, (int, float))
        return site.make(WHOLE_POWER, x, exponent=int(exponent))
    return site.filled(1.0 if site.dtype.kind == "float" else 1) if constant_of(y) == 0 else None


def neg(site: Site) -> Value | None:
    inner = site.operands[0].node
    return inner.operands[0] if inner is not None and inner.op is NEG else None


def positive(site: Site) -> Value | None:
    return site.operands[0]


def without_sign(site: Site) -> Value | None:
    """Drops sign changes under `abs` and `square`; `abs` of an unsigned number is the number itself."""
    inner = site.operands[0].node
    if site.op is ABS and site.dtype.kind in ("bool", "uint"):
        return site.operands[0]
    if site.dtype.kind == "complex" or inner is None:
        return None
    if site.op is ABS and inner.op is ABS:
        return site.operands[0]
    if inner.op is NEG or inner.op is ABS:
        return site.make(site.op, inner.operands[0])
    return None


def conjugate(site: Site) -> Value | None:
    return site.operands[0] if site.dtype.kind != "complex" else None


def rounding(site: Site) -> Value | None:
    """Drops rounding of whole numbers."""
    inner = site.operands[0].node
    if site.dtype.kind in ("bool", "int", "uint") or (inner is not None and inner.op in ROUNDINGS):
        return site.operands[0]
    return None


def same_twice(site: Site) -> Value | None:
    x, y = site.operands
    return x if x is y else None


def join_constants(site: Site) -> Value | None:
    """Turns `(x + 1) + 2` of integers into `x + 3`, which is exact because they wrap."""
    x, y = site.operands
    if not site.dtype.is_integer or constant_of(y) is None or not made_by(x, site.op):
        return None
    assert x.node is not None
    inner, first = x.node.operands
    return site.make(site.op, inner, site.make(site.op, first, y)) if constant_of(first) is not None else None


def _whole_log2(value: Value) -> int | None:
    """The k of an integer constant 2**k of at least 2."""
    number = constant_of(value)
    if not isinstance(number, int) or number < 2 or number & (number - 1):
        return None
    return number.bit_length() - 1


RULES: dict[OpDef, tuple[Rule, ...]] = {
    ADD: (add, join_constants),
    SUB: (sub,),
    MUL: (mul, join_constants),
    DIV: (div,),
    FLOOR_DIVIDE: (floor_divide,),
    REMAINDER: (remainder,),
    POWER: (power,),
    NEG: (neg,),
    POSITIVE: (positive,),
    ABS: (without_sign,),
    SQUARE: (without_sign,),
    CONJUGATE: (conjugate,),
    **dict.fromkeys(EXTREMES, (same_twice,)),
    **dict.fromkeys(ROUNDINGS, (rounding,)),
}

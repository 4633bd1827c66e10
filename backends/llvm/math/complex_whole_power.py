"""Emit complex powers with small integer exponents by repeated squaring.

`precise_power` multiplies sums of two doubles, which leaves the last rounding and gives exact results if they are
representable. `plain_power` multiplies and divides in the order of NumPy's loop. It is used for `float` operands in
`double`, for overflows, and for the signs of zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..code.text import Emitter, Val
from .complex_arithmetic import divide
from .complex_parts import Parts
from .doubledouble import Pair, add, multiply, quotient, rounded
from .scaling import nearest_whole

# Exponents of larger magnitude are left to logarithms.
LARGEST = 99.0
EXPONENT_MASK = 127


def is_small_whole(e: Emitter, br: Val, bi: Val) -> Val:
    """Tell whether the exponent `br + i bi` is an integer of magnitude at most 99."""
    small = e.fcmp("ole", e.call("fabs", br), e.const_like(br, LARGEST))
    whole = e.op("and", small, e.fcmp("oeq", e.call("roundeven", br), br))
    return e.op("and", whole, e.fcmp("oeq", bi, e.zero_like(bi)))


def _raise(
    e: Emitter, base: Sequence[Val], one: Sequence[Val], exponent: Val, product: Callable[..., Sequence[Val]]
) -> list[Val]:
    """Raise the base to the magnitudes of integer exponents; `product` multiplies values given as lists of parts."""
    bits = nearest_whole(e, e.call("fabs", exponent)).bits
    count = e.op("and", bits, e.const_like(bits, EXPONENT_MASK))
    size = len(base)

    def step(carried: list[Val]) -> list[Val]:
        left, total, power = carried[0], carried[1 : size + 1], carried[size + 1 :]
        odd = e.cast("trunc", left, "i1")
        grown = product(total, power)
        chosen = [e.select(odd, new, old) for new, old in zip(grown, total, strict=True)]
        return [e.op("lshr", left, e.const_like(left, 1)), *chosen, *product(power, power)]

    def unfinished(carried: list[Val]) -> Val:
        return e.any(e.icmp("ne", carried[0], e.zero_like(carried[0])))

    return e.repeat([count, *one, *base], unfinished, step)[1 : size + 1]


def precise_power(e: Emitter, re: Val, im: Val, exponent: Val) -> Parts:
    """Raise doubles to integer powers of magnitude at most 99; the sign of a zero is not kept."""
    zero, one = e.zero_like(re), e.const_like(re, 1.0)

    def product(a: Sequence[Val], b: Sequence[Val]) -> Sequence[Val]:
        (ar, ai), (br, bi) = _pairs(a), _pairs(b)
        across = multiply(e, ai, bi)
        real = add(e, multiply(e, ar, br), Pair(e.fneg(across.high), e.fneg(across.low)))
        return [*real, *add(e, multiply(e, ar, bi), multiply(e, ai, br))]

    real, imaginary = _pairs(_raise(e, [re, zero, im, zero], [one, zero, zero, zero], exponent, product))
    usual = rounded(e, real), rounded(e, imaginary)
    negative = e.fcmp("olt", exponent, zero)
    return tuple(e.rare_all(negative, usual, lambda: _inverse(e, real, imaginary)))


def _pairs(parts: Sequence[Val]) -> tuple[Pair, Pair]:
    return Pair(*parts[:2]), Pair(*parts[2:])


def _inverse(e: Emitter, re: Pair, im: Pair) -> Parts:
    """The reciprocal by Smith's method."""
    flat = e.fcmp("oge", e.call("fabs", re.high), e.call("fabs", im.high))

    def choose(yes: Pair, no: Pair) -> Pair:
        return Pair(e.select(flat, yes.high, no.high), e.select(flat, yes.low, no.low))

    longer, shorter = choose(re, im), choose(im, re)
    ratio = quotient(e, shorter, longer)
    one = Pair(e.const_like(re.high, 1.0), e.zero_like(re.high))
    along = quotient(e, one, add(e, longer, multiply(e, shorter, ratio)))
    across = multiply(e, along, ratio)
    return rounded(e, choose(along, across)), e.fneg(rounded(e, choose(across, along)))


def plain_power(e: Emitter, re: Val, im: Val, exponent: Val) -> tuple[Parts, Val]:
    """Raise to integer powers of magnitude at most 99 in NumPy's order of operations, and tell if products overflow."""
    zero, one = e.zero_like(re), e.const_like(re, 1.0)

    def product(a: Sequence[Val], b: Sequence[Val]) -> Sequence[Val]:
        (ar, ai), (br, bi) = a, b
        real = e.op("fsub", e.op("fmul", ar, br), e.op("fmul", ai, bi))
        return real, e.op("fadd", e.op("fmul", ar, bi), e.op("fmul", ai, br))

    power = _raise(e, (re, im), (one, zero), exponent, product)
    finite = e.op("and", *(e.fcmp("olt", e.call("fabs", part), e.const_like(part, math.inf)) for part in power))
    inverse = divide(e, one, zero, *power)
    negative = e.fcmp("olt", exponent, zero)
    result = [e.select(negative, new, old) for new, old in zip(inverse, power, strict=True)]
    square = product((re, im), (re, im))
    for number, value in ((1.0, (re, im)), (2.0, square), (3.0, product((re, im), square))):
        same = e.fcmp("oeq", exponent, e.const_like(exponent, number))
        result = [e.select(same, new, old) for new, old in zip(value, result, strict=True)]
    return tuple(result), e.not_(finite)

"""Emit the error-free steps that the mathematical functions share: unevaluated sums of two values.

A `Pair` stands for `high + low`, where `low` holds the rounding error of `high`.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import Emitter, Val
from .bits import as_float, as_integer

# This minus half the bits of x are the bits of 1 / (2 sqrt(x)), to about 3 %.
HALF_RECIPROCAL_ROOT = {"float": 0x5EB759DF, "double": 0x5FD6EB50C7B537A9}


class Pair(NamedTuple):
    high: Val
    low: Val


def fast_two_sum(e: Emitter, a: Val, b: Val) -> Pair:
    """`a + b` exactly, where `|a| >= |b|`, or `a` is zero, or `a` is a multiple of the last place of `b`."""
    high = e.op("fadd", a, b)
    return Pair(high, e.op("fsub", b, e.op("fsub", high, a)))


def two_sum(e: Emitter, a: Val, b: Val) -> Pair:
    """`a + b` exactly, whichever is larger."""
    high = e.op("fadd", a, b)
    share_of_b = e.op("fsub", high, a)
    share_of_a = e.op("fsub", high, share_of_b)
    return Pair(high, e.op("fadd", e.op("fsub", a, share_of_a), e.op("fsub", b, share_of_b)))


def two_product(e: Emitter, a: Val, b: Val) -> Pair:
    """`a * b` exactly, unless the low part underflows."""
    high = e.op("fmul", a, b)
    return Pair(high, e.fma(a, b, e.fneg(high)))


def fast_fma(e: Emitter, a: Val, b: Val, c: Val) -> Pair:
    """Return `a * b + c` and its rounding error, where `c` is zero or larger than the product."""
    high = e.fma(a, b, c)
    return Pair(high, e.fma(a, b, e.op("fsub", c, high)))


def divide(e: Emitter, a: Pair, b: Pair) -> Val:
    """Return `a / b`, rounded once except for a small part of the error of the low parts."""
    high, rest, inverse = _quotient_and_rest(e, a, b)
    return e.fma(rest, inverse, high)


def quotient(e: Emitter, a: Pair, b: Pair) -> Pair:
    """Return `a / b` and its rounding error."""
    high, rest, inverse = _quotient_and_rest(e, a, b)
    return Pair(high, e.op("fmul", rest, inverse))


def _quotient_and_rest(e: Emitter, a: Pair, b: Pair) -> tuple[Val, Val, Val]:
    """Return approximations of `a / b` and `1 / b`, and the remainder of the first."""
    inverse = e.op("fdiv", e.const_like(b.high, 1.0), b.high)
    high = e.op("fmul", a.high, inverse)
    minus = e.fneg(high)
    return high, e.fma(minus, b.low, e.op("fadd", e.fma(minus, b.high, a.high), a.low)), inverse


def reciprocal(e: Emitter, a: Pair) -> Val:
    """`1 / a`, rounded as in `divide`."""
    one = e.const_like(a.high, 1.0)
    first = e.op("fdiv", one, a.high)
    minus = e.fneg(first)
    return e.fma(e.fma(minus, a.low, e.fma(minus, a.high, one)), first, first)


def square_root(e: Emitter, a: Pair) -> Pair:
    """Return the square root of a positive sum; an approximate reciprocal is enough to correct the root's rounding."""
    high = e.call("sqrt", a.high)
    rest = e.op("fadd", e.fma(e.fneg(high), high, a.high), a.low)
    return Pair(high, e.op("fmul", rest, half_reciprocal_root(e, a.high)))


def half_reciprocal_root(e: Emitter, a: Val) -> Val:
    """`1 / (2 sqrt(a))` to about 3 %."""
    bits = as_integer(e, a)
    magic = e.const_like(bits, HALF_RECIPROCAL_ROOT[a.elem])
    return as_float(e, e.op("sub", magic, e.op("lshr", bits, e.const_like(bits, 1))))


def multiply(e: Emitter, a: Pair, b: Pair) -> Pair:
    """`a * b` to nearly twice the precision."""
    high, low = two_product(e, a.high, b.high)
    return Pair(high, e.fma(a.high, b.low, e.fma(a.low, b.high, low)))


def add(e: Emitter, a: Pair, b: Pair) -> Pair:
    """`a + b` to nearly twice the precision, unless they cancel to less than their low parts."""
    total = two_sum(e, a.high, b.high)
    return fast_two_sum(e, total.high, e.op("fadd", total.low, e.op("fadd", a.low, b.low)))


def product(e: Emitter, a: Pair, b: Pair) -> Val:
    """Return `a * b`, rounded nearly once; a zero may have either sign."""
    return e.fma(a.high, b.high, e.fma(a.high, b.low, e.op("fmul", a.low, b.high)))


def rounded(e: Emitter, a: Pair) -> Val:
    """The sum as one value."""
    return e.op("fadd", a.high, a.low)

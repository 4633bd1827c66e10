"""Emit operations on the bits and signs of `float` and `double` values, and clamps."""

from __future__ import annotations

from ..code.text import BITS, Emitter, Val


def as_integer(e: Emitter, x: Val) -> Val:
    """The bits of a float as an integer of the same width."""
    return e.cast("bitcast", x, f"i{BITS[x.elem]}")


def as_float(e: Emitter, bits: Val) -> Val:
    """The float of an integer's bits."""
    return e.cast("bitcast", bits, {"i32": "float", "i64": "double"}[bits.elem])


def sign_bit(e: Emitter, x: Val) -> Val:
    """Return the sign of a float, or the highest bit of an integer, as the only bit of an integer."""
    bits = x if x.elem in ("i32", "i64") else as_integer(e, x)
    return e.op("and", bits, e.const_like(bits, -(1 << (BITS[bits.elem] - 1))))


def flip_sign(e: Emitter, x: Val, sign: Val) -> Val:
    """`x`, negated where the highest bit of the integer `sign` is set; its other bits are clear."""
    return as_float(e, e.op("xor", as_integer(e, x), sign))


def at_most(e: Emitter, x: Val, bound: float) -> Val:
    """The smaller of `x` and the bound; NaN stays NaN."""
    limit = e.const_like(x, bound)
    return e.select(e.fcmp("ogt", x, limit), limit, x)

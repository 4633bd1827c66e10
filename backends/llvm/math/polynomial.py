"""Emit a polynomial from its coefficients, the highest power first.

Horner's rule has the fewest instructions and the longest chain. Splitting a long polynomial into its even and its
odd powers halves the chain for one instruction more, which pays because a core can look ahead only so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..code.text import Emitter, Val

LONGEST_CHAIN = 6


def evaluate(e: Emitter, x: Val, coefficients: Sequence[float]) -> Val:
    """The polynomial, by Horner's rule if it is short and as `even(x*x) + x * odd(x*x)` if it is long."""
    if len(coefficients) <= LONGEST_CHAIN:
        return e.poly(x, list(coefficients))
    square = e.op("fmul", x, x)
    ascending = coefficients[::-1]
    even, odd = (evaluate(e, square, ascending[first::2][::-1]) for first in (0, 1))
    return e.fma(odd, x, even)


def evaluate_alternating(e: Emitter, x: Val, coefficients: Sequence[float]) -> Val:
    """An even number of coefficients whose signs alternate, for `0 <= x <= 1`: neighbours are joined first, since the
    even powers and the odd ones would cancel each other."""
    square = e.op("fmul", x, x)
    pairs = [
        e.fma(x, e.const_like(x, odd), e.const_like(x, even))
        for odd, even in zip(coefficients[0::2], coefficients[1::2], strict=True)
    ]
    total, *rest = pairs
    for pair in rest:
        total = e.fma(total, square, pair)
    return total

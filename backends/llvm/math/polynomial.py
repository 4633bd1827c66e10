"""Coefficients and a variable in, a polynomial's value out; the highest power comes first.

Horner's rule has the fewest instructions and the longest chain. Splitting a long polynomial into its even and its
odd powers halves the chain for one instruction more, which pays because a core can look ahead only so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..text import Emitter, Val

LONGEST_CHAIN = 6


def evaluate(e: Emitter, x: Val, coefficients: Sequence[float]) -> Val:
    """The polynomial, by Horner's rule if it is short and as `even(x*x) + x * odd(x*x)` if it is long."""
    if len(coefficients) <= LONGEST_CHAIN:
        return e.poly(x, list(coefficients))
    square = e.op("fmul", x, x)
    ascending = coefficients[::-1]
    even, odd = (evaluate(e, square, ascending[first::2][::-1]) for first in (0, 1))
    return e.fma(odd, x, even)

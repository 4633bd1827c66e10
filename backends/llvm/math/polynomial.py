"""Emit a polynomial from its coefficients, the highest power first.

Horner's rule has the fewest instructions but the longest dependence chain. Splitting a long polynomial into even and
odd powers halves the chain for one more instruction, which pays because a core can only look ahead so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..code.text import Emitter, Val

LONGEST_CHAIN = 6


def evaluate(e: Emitter, x: Val, coefficients: Sequence[float]) -> Val:
    """Evaluate the polynomial by Horner's rule if it is short, else as `even(x*x) + x * odd(x*x)`."""
    if len(coefficients) <= LONGEST_CHAIN:
        return e.poly(x, list(coefficients))
    square = e.op("fmul", x, x)
    ascending = coefficients[::-1]
    even, odd = (evaluate(e, square, ascending[first::2][::-1]) for first in (0, 1))
    return e.fma(odd, x, even)

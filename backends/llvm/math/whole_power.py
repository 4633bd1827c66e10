"""Emit powers with small whole exponents by multiplication.

Plain products lose up to half a unit in each step (1.29 ULP for a cube). Here each product keeps what its rounding
took, found by one FMA, and carries it along; the sum at the end is within 0.51 ULP, and within 1 ULP where the result
is subnormal. Products that overflow are what they are: the low part is then no number and is left out.
"""

from __future__ import annotations

from ..code.text import Emitter, Val
from .doubledouble import two_product


def whole_power(e: Emitter, x: Val, exponent: int) -> Val:
    """`x` to a power of at least 2."""
    high, low = two_product(e, x, x)
    for _ in range(exponent - 2):
        product = two_product(e, high, x)
        high, low = product.high, e.fma(low, x, product.low)
    finite = e.fcmp("olt", e.call("fabs", high), e.const_like(x, float("inf")))
    # The sum of -0.0 and a low part of 0.0 would lose the sign.
    return e.select(finite, e.call("copysign", e.op("fadd", high, low), high), high)

"""Emit powers with small integer exponents by multiplication.

Plain products lose up to half a unit in each step (1.29 ULP for a cube). Here one FMA finds the rounding error of each
product, and the error is carried along. The final sum is within 0.51 ULP, or within 1 ULP if the result is subnormal.
If products overflow, the low part is NaN and is left out.
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

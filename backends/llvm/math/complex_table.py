"""Map op names to the functions that emit them for complex operands.

Each function takes the emitter and the real and imaginary parts of its operands, in order. It returns the parts of its
result: two, or one if the result is real. Comparisons, and ops that work on each part separately, are not here: a pass
turns them into real ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import (
    complex_arithmetic,
    complex_exponential,
    complex_hyperbolic,
    complex_inverse,
    complex_log_base,
    complex_logarithm,
    complex_power,
    complex_root,
)
from .complex_parts import Function

COMPLEX: Mapping[str, Function] = MappingProxyType(
    {
        "mul": complex_arithmetic.multiply,
        "div": complex_arithmetic.divide,
        "power": complex_power.power,
        "abs": complex_arithmetic.absolute,
        "sign": complex_arithmetic.sign,
        "square": complex_arithmetic.square,
        "reciprocal": complex_arithmetic.reciprocal,
        "sqrt": complex_root.sqrt,
        "exp": complex_exponential.exp,
        "exp2": complex_exponential.exp2,
        "expm1": complex_exponential.expm1,
        "log": complex_logarithm.log,
        "log2": complex_log_base.log2,
        "log10": complex_log_base.log10,
        "log1p": complex_logarithm.log1p,
        "sin": complex_hyperbolic.sin,
        "cos": complex_hyperbolic.cos,
        "tan": complex_hyperbolic.tan,
        "sinh": complex_hyperbolic.sinh,
        "cosh": complex_hyperbolic.cosh,
        "tanh": complex_hyperbolic.tanh,
        "arcsin": complex_inverse.asin,
        "arccos": complex_inverse.acos,
        "arctan": complex_inverse.atan,
        "arcsinh": complex_inverse.asinh,
        "arccosh": complex_inverse.acosh,
        "arctanh": complex_inverse.atanh,
    }
)

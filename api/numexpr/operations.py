"""Compute each operation by NumPy's functions, on arrays or on the traced values that Weft compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .kinds import DTYPES

OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.mod, "pow": np.power, "lshift": np.left_shift, "rshift": np.right_shift, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "invert": np.invert, "neg": np.negative, "gt": np.greater,
    "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "arcsinh": np.arcsinh, "arccosh": np.arccosh, "arctanh": np.arctanh, "log": np.log,
    "log1p": np.log1p, "log10": np.log10, "log2": np.log2, "exp": np.exp, "expm1": np.expm1, "conj": np.conjugate,
    "abs": np.absolute, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.round, "sign": np.sign,
    "fmod": np.fmod, "arctan2": np.arctan2, "hypot": np.hypot, "nextafter": np.nextafter, "copysign": np.copysign,
    "maximum": np.maximum, "minimum": np.minimum, "isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf,
    "signbit": np.signbit, "where": np.where, "real": np.real, "imag": np.imag, "copy": np.copy,
    "ones_like": np.ones_like, "complex": lambda a, b: a + 1j * b,
    "contains": lambda text, part: np.strings.find(text, part) >= 0,
}  # fmt: skip
REDUCED: Final[dict[str, Callable[..., Any]]] = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max}

EXACT: Final = frozenset((*OPERATIONS, "min", "max")) - {
    "pow", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "log", "log1p", "log10", "log2", "exp", "expm1", "arctan2", "hypot", "fmod",
}  # fmt: skip
"""Operations on real numbers whose bits are NumPy's in compiled code too."""
EXACT_COMPLEX: Final = frozenset(("add", "sub", "neg", "copy", "where", "conj", "ones_like"))
"""Operations with complex results for which the same holds."""


def operate(name: str, operands: list[Any], kind: str, axis: int | None) -> Any:
    """Apply one operation to values that have the kinds of its signature; the result has `kind`."""
    if name in REDUCED:
        if name in ("sum", "prod"):
            return REDUCED[name](operands[0], axis=axis, dtype=DTYPES[kind])
        return REDUCED[name](operands[0], axis=axis)
    result = OPERATIONS[name](*operands)
    return result if kind == "bytes" or result.dtype == DTYPES[kind] else result.astype(DTYPES[kind])

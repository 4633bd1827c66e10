"""Define the ops that split complex numbers into parts and join parts again: their rules and NumPy meanings.

`real` and `imag` are the parts of a number, `complex` is the number with two parts, and `complex_function` computes one
part of a complex function from the parts of its operands: `exp` of (re, im), `mul` of (re, im, re, im).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import C64, C128, F32, F64, WEAK_COMPLEX, WEAK_FLOAT, DType
from .errors import TypeProblem
from .rules import Attrs, DTypes

PARTS = {C64: F32, C128: F64, WEAK_COMPLEX: WEAK_FLOAT}
WHOLE = {part: whole for whole, part in PARTS.items()}

# Functions of complex numbers that backends compute from the parts; functions without special code are not here.
FUNCTIONS = frozenset((
    "mul", "square", "div", "reciprocal", "abs", "sign", "power", "sqrt", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
    "arctanh",
))  # fmt: skip


def part_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    """The dtype of a complex number's parts."""
    if operands[0] not in PARTS:
        raise TypeProblem(f"dtype {operands[0]} has no real and imaginary parts")
    return operands, (PARTS[operands[0]],)


def whole_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    return operands, (WHOLE[_common(operands)],)


def function_dtypes(operands: DTypes, attrs: Attrs) -> tuple[DTypes, DTypes]:
    return operands, (_common(operands),)


def _common(operands: DTypes) -> DType:
    if operands[0] not in WHOLE or len(set(operands)) != 1:
        raise TypeProblem(f"{' and '.join(map(str, operands))} can't be the parts of a complex number")
    return operands[0]


def whole(re: Any, im: Any) -> Any:
    """Joins two parts exactly; `re + 1j * im` would turn infinities into NaN."""
    shape = np.broadcast_shapes(np.shape(re), np.shape(im))
    made = np.empty(shape, np.result_type(np.asarray(re).dtype, np.complex64))
    made.real, made.imag = re, im
    return made


def function_part(find: Callable[[str], Callable[..., Any] | None]) -> Callable[..., Any]:
    """Computes one part of a complex function from the parts of its operands; `find` looks the function up by name."""

    def meaning(*parts: Any, function: str, part: int) -> Any:
        compute = find(function)
        if compute is None:
            raise TypeProblem(f"unknown op '{function}'")
        result = compute(*(whole(parts[k], parts[k + 1]) for k in range(0, len(parts), 2)))
        return np.imag(result) if part else np.real(result)

    return meaning

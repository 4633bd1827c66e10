"""Define powers by the operations that NumPy uses for certain exponents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...ir import rules
from ...ir.builder import is_scalar_result
from ...ir.dims import Dim
from ...ir.dtypes import BF16, BOOL, F16, DType
from ...ir.errors import ValueProblem
from ...ir.graph import Value
from ...ir.ops import TABLE, OpDef
from ..maker import Make, Maker, NumberNeeded, Operand, literal, number_of
from ..sizes import guard_reaches

POWER, SQRT, SQUARE, RECIPROCAL = (TABLE[name] for name in ("power", "sqrt", "square", "reciprocal"))
_FLOAT_POWER = rules.ufunc_dtypes(np.float_power)
OPERATOR = "**"  # the name of the operator, which differs from the function for a few dtypes


def power(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    """Define `np.power`: exponents 2, 1/2 and -1 are square, root and reciprocal, which differ at -inf and -0."""
    x2 = _settled(m, x2)
    exponent, dtype = _checked(m, x1, x2)
    # For f16, unlike f32 and f64, NumPy's own loop takes no root.
    return _power(m, x1, x2, dtype, _short(exponent, dtype, roots=dtype not in (F16, BF16)))


def raised(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    """Define the operator `**` on arrays, which looks at a Python number as exponent before it looks at dtypes."""
    base, x2 = m.dtype_of(x1), _settled(m, x2)
    is_bools = base == BOOL and not (is_scalar_result(x1) if isinstance(x1, Value) else isinstance(x1, np.generic))
    if literal(x2) == 2 and (is_bools or not (base.weak or base == BOOL)):
        return m.op(SQUARE, x1)  # an array of bools gives i8, whereas `np.power` and a scalar give i64
    exponent, dtype = _checked(m, x1, x2)
    if is_bools and isinstance(x2, Value) and exponent is None and m.dtype_of(x2).weak and m.dtype_of(x2).kind == "int":
        raise NumberNeeded(x2, "the dtype of bools to a power depends on the exponent", m.span)
    if dtype.kind == "complex" and not base.weak and m.dtype_of(x2).weak:
        inverse, root = type(exponent) is int and exponent == -1, type(exponent) is float and exponent == 0.5
        return _power(m, x1, x2, dtype, RECIPROCAL if inverse else SQRT if root else None)
    return _power(m, x1, x2, dtype, _short(exponent, dtype, roots=dtype != BF16))


def _settled(m: Maker, x2: Operand) -> Operand:
    """Decide whether an exponent that is a size is 2, and guard the answer."""
    number = m.builder.facts.number(x2) if isinstance(x2, Dim) else None
    if number is None or not isinstance(x2, Dim):
        return x2
    if number == 2:
        m.builder.facts.assume_equal(x2, 2)
        return 2
    guard_reaches(m.builder.facts, x2, 3 if number > 2 else 2)
    return x2


def _checked(m: Maker, x1: Operand, x2: Operand) -> tuple[float | complex | None, DType]:
    """Return the exponent, if it is a known number, and the dtype of the power."""
    exponent = number_of(x2)
    dtype = POWER.dtypes((m.dtype_of(x1), m.dtype_of(x2)), {})[0][0]
    negative = exponent is not None and not isinstance(exponent, complex) and exponent < 0
    if dtype.kind == "int" and negative:
        raise ValueProblem(
            "Integers to negative integer powers are not allowed.", m.span, "make the base a float, as in x.astype(f64)"
        )
    return exponent, dtype


def _short(exponent: float | complex | None, dtype: DType, roots: bool) -> OpDef | None:
    if exponent is None or isinstance(exponent, complex) or abs(exponent) > 2:
        return None
    if dtype.is_integer:
        return SQUARE if exponent == 2 else None
    if dtype.kind != "float" or (exponent == 0.5 and not roots):
        return None
    return {2.0: SQUARE, 0.5: SQRT, -1.0: RECIPROCAL}.get(float(exponent))


def _power(m: Maker, x1: Operand, x2: Operand, dtype: DType, short: OpDef | None) -> Value:
    if short is None:
        return m.op(POWER, x1, x2)
    are_pythons = m.dtype_of(x1).weak and m.dtype_of(x2).weak
    return m.op(short, x1 if are_pythons else m.cast(x1, dtype))


def float_power(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    """Define `np.float_power`, which always computes in f64 or c128 and uses no roots."""
    dtypes, _ = _FLOAT_POWER((m.dtype_of(x1).strong, m.dtype_of(x2).strong), {})
    return m.op(POWER, m.cast(x1, dtypes[0]), m.cast(x2, dtypes[1]))


POWERS: Mapping[str, Make] = {"power": power, "float_power": float_power}

"""Convert values to a dtype under NumPy's casting rules."""

from __future__ import annotations

import numpy as np

from ...ir.dtypes import WEAK_INT, DType
from ...ir.errors import OverflowProblem, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import TABLE
from ..maker import Maker, Operand, as_dtype, fits, literal
from ..memory import copied, laid_out

MAXIMUM = TABLE["maximum"]


def astype(m: Maker, x: Operand, /, dtype: object, order: str = "K", casting: str = "unsafe", subok: bool = True,
           copy: bool = True) -> Value:  # fmt: skip
    value, wanted = m.lift(x), as_dtype(dtype, m.span)
    demand_cast(m, value.type.dtype.strong, wanted, casting)
    return laid_out(m, m.cast(copied(m, value), wanted), order)


def assigned(m: Maker, x: Operand, dtype: DType) -> Value:
    """Convert a number to the dtype of the array it is stored in; a Python integer must fit, now and in later calls."""
    if not dtype.is_integer or m.dtype_of(x) != WEAK_INT:
        return m.cast(x, dtype)
    number = literal(x)
    if number is None:  # calls check that all numbers combined with arrays of this dtype fit it
        return m.op(MAXIMUM, x, m.builder.constant(int(np.iinfo(dtype.numpy).min), dtype, m.span))
    if not fits(number, dtype):
        raise OverflowProblem(f"Python integer {number} out of bounds for {dtype.numpy}", m.span)
    return m.builder.constant(number, dtype, m.span)


def demand_cast(m: Maker, have: DType, wanted: DType, casting: str) -> None:
    """Refuse a conversion that NumPy's casting rule does not allow."""
    if casting == "same_value":
        raise m.refuse("casting='same_value'")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueProblem(
            f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe', not '{casting}'", m.span
        )
    if not np.can_cast(have.numpy, wanted.numpy, casting):  # type: ignore[arg-type]
        raise TypeProblem(
            f"Cannot cast array data from {have} to {wanted} according to the rule '{casting}'",
            m.span,
            "convert with .astype(...) first",
        )

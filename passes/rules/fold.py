"""Fold constants: an operation on constants becomes the constant that NumPy computes.

Only ops whose result is fixed by IEEE 754 or integer arithmetic are folded. A mathematical function is left to the
backend, whose last bit may differ from NumPy's. So are results that NumPy leaves open: a float beyond an integer's
range, the choice between zeros of either sign, complex arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from ...ir.dtypes import BF16, DType, in_range
from ...ir.graph import Value
from ...ir.ops import CAST, TABLE, OpDef
from .literals import as_python
from .site import Rule, Site, constant_of

POWER, RECIPROCAL, MINIMUM, MAXIMUM = (TABLE[n] for n in ("power", "reciprocal", "minimum", "maximum"))
EXACT = tuple(
    TABLE[name]
    for name in (
        "add", "sub", "mul", "div", "floor_divide", "remainder", "power", "neg", "positive", "abs", "sign", "square",
        "reciprocal", "sqrt", "floor", "ceil", "trunc", "rint", "minimum", "maximum", "eq", "ne", "lt", "le", "gt",
        "ge", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
        "invert", "left_shift", "right_shift", "isnan", "isinf", "isfinite",
    )
)  # fmt: skip


def fold(site: Site) -> Value | None:
    """Computes an exact op on constants."""
    numbers = [constant_of(v) for v in site.operands]
    if None in numbers or not all(_foldable(v.type.dtype) for v in site.operands):
        return None
    if site.op is POWER and not site.dtype.is_integer:
        return None
    if site.op is RECIPROCAL and site.dtype.is_integer:
        return None
    if site.op in (MINIMUM, MAXIMUM) and numbers[0] == numbers[1] == 0:
        return None
    arrays = [np.asarray(n, v.type.dtype.numpy)[()] for n, v in zip(numbers, site.operands, strict=True)]
    assert site.op.numpy is not None
    try:
        with np.errstate(all="ignore"):
            result = site.op.numpy(*arrays)
    except ValueError:  # an integer to a negative power, which the call itself has to report
        return None
    return site.filled(as_python(result, site.type.dtype))


def fold_cast(site: Site) -> Value | None:
    """Converts a constant to another dtype."""
    number = constant_of(site.operands[0])
    have, want = site.dtype, site.type.dtype
    if number is None or not (_foldable(have) and _foldable(want)):
        return None
    if want.is_integer and isinstance(number, float) and not _converts(number, want):
        return None
    with np.errstate(all="ignore"):
        return site.filled(as_python(np.asarray(number, have.numpy).astype(want.numpy), want))


def _foldable(dtype: DType) -> bool:
    return dtype.kind != "complex" and dtype != BF16


def _converts(number: float, dtype: DType) -> bool:
    """Whether every conversion of a float to an integer dtype gives the same value."""
    return math.isfinite(number) and in_range(math.trunc(number), dtype)


RULES: dict[OpDef, tuple[Rule, ...]] = {**dict.fromkeys(EXACT, (fold,)), CAST: (fold_cast,)}

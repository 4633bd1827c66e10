"""Convert a Python number to the number that a dtype holds, as literals become strong constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ir.dtypes import DType, in_range
from ...ir.errors import OverflowProblem, Span

Number = bool | int | float | complex


def fits(value: Number, dtype: DType) -> bool:
    """Whether NumPy accepts a Python number as this dtype; it refuses only integers."""
    if isinstance(value, bool) or not isinstance(value, int):
        return True
    if dtype.is_integer:
        return in_range(value, dtype)
    return dtype.kind == "bool" or abs(value) <= _LARGEST_FLOAT


def literal(value: Number, dtype: DType, span: Span | None) -> Number:
    """Converts a Python number as NumPy does when it is combined with an array of `dtype`."""
    if not fits(value, dtype):
        raise OverflowProblem(
            f"Python integer {_short(value)} out of bounds for {dtype.numpy.name}",
            span,
            "take a smaller number, or give the array a wider dtype first, as with .astype(np.int64)",
        )
    if isinstance(value, int) and dtype.kind in ("float", "complex"):
        value = float(value)
    return converted(value, dtype)


def converted(value: Number, dtype: DType) -> Number:
    """Converts a number as `astype` does: integers wrap."""
    with np.errstate(all="ignore"):
        return as_python(np.asarray(value).astype(dtype.numpy), dtype)


def as_python(value: Any, dtype: DType) -> Number:
    """Converts a NumPy scalar to the Python number that an attribute holds; NaN payloads are not kept."""
    if dtype.kind == "bool":
        return bool(value)
    if dtype.is_integer:
        return int(value)
    if dtype.kind == "complex":
        return complex(value)
    return math.nan if np.isnan(value) else float(value)


def _short(value: Number) -> str:
    return str(value) if not isinstance(value, int) or value.bit_length() < 256 else f"of {value.bit_length()} bits"


_LARGEST_FLOAT = (1 << 1024) - (1 << 970) - 1  # the largest integer that rounds to a finite double

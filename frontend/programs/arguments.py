"""Bind the arguments of calls to the parameters of NumPy's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.dtypes import F64, DType, from_numpy
from ...ir.errors import TypeProblem
from .kinds import Known
from .values import Abstract, CutProblem


def bound_arguments(
    names: Sequence[str], args: Sequence[Abstract], named: Mapping[str, Abstract]
) -> dict[str, Abstract]:
    """Return arguments by the names of their parameters."""
    found = dict(zip(names, args, strict=False))
    if len(args) > len(names) or set(named) - set(names) or set(named) & set(found):
        raise CutProblem("these arguments are not compiled")
    return {**found, **named}


def dtype_argument(value: Abstract | None, default: DType = F64) -> DType:
    """Return the dtype that an argument names, or the default if there is none."""
    if value is None or (isinstance(value, Known) and value.value is None):
        return default
    if not isinstance(value, Known):
        raise CutProblem("a dtype must be known at compile time")
    try:
        return from_numpy(np.dtype(value.value))
    except (TypeProblem, TypeError) as error:
        raise CutProblem(f"this dtype is not supported: {value.value}") from error

"""Compare a library's result with NumPy's answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.records import record
from .library import NumPy
from .row import Case

TOLERANCE = {np.dtype(np.float32): 2e-4, np.dtype(np.float64): 1e-9, np.dtype(np.complex128): 1e-9}
"""Of the largest value in the answer. Wide, because running sums and plain loops add up without a tree."""


@record
class Answer:
    """The right result: NumPy's shape and dtype, and its values computed in f64."""

    values: Any
    dtype: np.dtype[Any]


def answer(case: Case) -> Answer:
    """Compute NumPy's answer; float inputs are widened to f64."""
    call, *_ = NumPy().calls(case)
    plain = np.array(call.result())
    if plain.dtype.kind != "f" or case.row.into is not None:
        return Answer(plain, plain.dtype)
    wide = tuple(x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x for x in case.args)
    return Answer(np.asarray(case.row.make(np)(*wide)), plain.dtype)


def problem(result: Any, right: Answer) -> str:
    """Describe what is wrong with a result, or return nothing. A Python number has no dtype to check."""
    found = np.asarray(result)
    if found.shape != right.values.shape:
        return f"gives shape {found.shape}"
    if found.dtype != right.dtype and not isinstance(result, (bool, int, float)):
        return f"gives {found.dtype}"
    if right.dtype not in TOLERANCE:
        return "" if np.array_equal(found, right.values) else "gives other values"
    if not found.size:
        return ""
    allowed = TOLERANCE[right.dtype] * np.abs(right.values).max()
    with np.errstate(invalid="ignore"):
        near = np.abs(found - right.values) <= allowed
    return "" if near.all() else "gives other values"

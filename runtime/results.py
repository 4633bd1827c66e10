"""Allocate results in NumPy's axis order, or check the array that the caller gave as `out`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.dtypes import DType
from ..ir.errors import ShapeProblem, TypeProblem, ValueProblem
from .memory import empty

Array = np.ndarray[Any, Any]


def fresh(shape: tuple[int, ...], dtype: DType, order: tuple[int, ...]) -> Array:
    """Allocate an array whose axes have this order in memory."""
    return empty(shape, dtype.numpy, order if is_permuted(order) else None)


def is_permuted(order: tuple[int, ...]) -> bool:
    """Tell whether axes are in another order than C's."""
    return order != tuple(range(len(order)))


def as_outputs(out: Any, count: int) -> tuple[Array | None, ...]:
    """Turn the `out` argument into one array (or None) for each result."""
    given = out if isinstance(out, (tuple, list)) else (out,)
    if len(given) != count:
        raise ValueProblem(f"out must have one array for each result: {count}, not {len(given)}")
    for x in given:
        if x is not None and type(x) is not np.ndarray:
            raise TypeProblem(f"out must be an array, not a {type(x).__qualname__}")
        if x is not None and not x.flags.writeable:
            raise ValueProblem("out must be writable", hint="pass another array, or omit out")
    return tuple(given)


def check_out(out: Array, shape: tuple[int, ...], dtype: DType, nth: int, count: int) -> None:
    """Refuse an `out` of the wrong shape or dtype before anything is computed."""
    which = f"out[{nth}]" if count > 1 else "out"
    if out.shape != shape:
        raise ShapeProblem(f"{which} must have the shape {shape} of the result, not {out.shape}")
    if out.dtype != dtype.numpy:
        raise TypeProblem(f"{which} must have the dtype {dtype} of the result, not {out.dtype}")


def overlaps(out: Array, others: Sequence[Array]) -> bool:
    """Tell whether writing to `out` could change data that is still to be read."""
    return any(np.may_share_memory(out, x) for x in others)

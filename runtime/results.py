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
    """An array whose axes lie in memory in this order."""
    return empty(shape, dtype.numpy, order if is_permuted(order) else None)


def is_permuted(order: tuple[int, ...]) -> bool:
    """Whether axes lie in memory otherwise than in C."""
    return order != tuple(range(len(order)))


def as_outputs(out: Any, count: int) -> tuple[Array | None, ...]:
    """The `out` argument as one array (or None) for each result."""
    given = out if isinstance(out, (tuple, list)) else (out,)
    if len(given) != count:
        raise ValueProblem(f"out has {len(given)} arrays for {count} results", hint="pass a tuple with one for each")
    for x in given:
        if x is not None and type(x) is not np.ndarray:
            raise TypeProblem(f"out must be an array, not a {type(x).__qualname__}")
        if x is not None and not x.flags.writeable:
            raise ValueProblem("out is read-only", hint="pass an array that can be written, or leave out away")
    return tuple(given)


def check_out(out: Array, shape: tuple[int, ...], dtype: DType, nth: int, count: int) -> None:
    """Refuses an `out` that does not fit before anything is computed."""
    which = f"out[{nth}]" if count > 1 else "out"
    if out.shape != shape:
        raise ShapeProblem(f"{which} has shape {out.shape}, the result has {shape}", hint="make it with that shape")
    if out.dtype != dtype.numpy:
        raise TypeProblem(f"{which} has dtype {out.dtype}, the result has {dtype}", hint="make it with that dtype")


def overlaps(out: Array, others: Sequence[Array]) -> bool:
    """Whether writing to `out` could change what is still to be read."""
    return any(np.may_share_memory(out, x) for x in others)

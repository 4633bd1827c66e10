"""Run a recurrence along an axis of an array: exponential averages, filters, running maxima."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .compiling import jit
from .ir.errors import AxisProblem, TypeProblem
from .ir.types import normalize_axis

__all__ = ["scan"]
KEPT = 64  # functions whose compiled loops are kept


def scan(f: Callable[[Any, Any], Any], init: Any, x: Any, axis: int = -1) -> Any:
    """Return the values of `y = f(y, element)` for the elements of an array along an axis, one after another.

        smooth = weft.scan(lambda y, v: 0.9 * y + 0.1 * v, 0.0, signal)
        highest = weft.scan(np.maximum, -np.inf, prices, axis=0)

    f: takes the value before and the next element, and returns the next value.
    init: the value before the first element: a number, or an array of the other axes' shape.
    x: an array.
    axis: the axis to walk along.

    The loop is compiled. With more axes, `f` gets whole slices, so it must be written for arrays: `np.maximum`, not
    `max`. Python runs the first two steps, to find the dtype of the result.
    """
    given = np.asarray(x)
    place = normalize_axis(axis, given.ndim)
    if place is None:
        raise AxisProblem(f"axis {axis} is out of range for an array of {given.ndim} dimensions")
    moved = np.moveaxis(given, place, 0)
    first = [init]
    for element in moved[:2]:
        first.append(f(first[-1], element))
    values = first[1:]
    shape, dtype = np.shape(values[-1]) if values else moved.shape[1:], np.asarray(values[-1:] or moved).dtype
    if any(np.asarray(value).dtype != dtype or np.shape(value) != shape for value in values):
        raise TypeProblem("the function of a scan must return the same dtype and shape in each step")
    out = np.empty((len(moved), *shape), dtype)
    for k, value in enumerate(values):
        out[k] = value
    if len(moved) > len(values):
        _loop(f)(moved[2:], np.asarray(values[-1])[()], out[2:])
    return np.moveaxis(out, 0, place) if out.ndim == given.ndim else out


@lru_cache(KEPT)
def _loop(f: Callable[[Any, Any], Any]) -> Any:
    def run(x: Any, y: Any, out: Any) -> None:
        for i in range(x.shape[0]):
            y = f(y, x[i])
            out[i] = y

    return jit(run)

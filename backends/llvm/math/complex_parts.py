"""Widen functions of `double` parts so that they serve `float` parts too.

A complex value is two real ones here: its real and its imaginary part. Complex `float` functions are computed in
`double` and rounded once, which leaves each part within 0.51 ULP and needs no second set of constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

from ..code.text import Emitter, Val

Parts = tuple[Val, ...]
Function = Callable[..., Parts]


def through_double(function: Function) -> Function:
    """Return a function that converts `float` arguments to `double` and its results back to `float`."""

    @wraps(function)
    def serve(e: Emitter, *parts: Val) -> Parts:
        if parts[0].elem == "double":
            return function(e, *parts)
        return to_float(e, function(e, *to_double(e, parts)))

    return serve


def to_double(e: Emitter, parts: Sequence[Val]) -> Parts:
    return tuple(part if part.elem == "double" else e.cast("fpext", part, "double") for part in parts)


def to_float(e: Emitter, parts: Sequence[Val]) -> Parts:
    return tuple(e.cast("fptrunc", part, "float") for part in parts)

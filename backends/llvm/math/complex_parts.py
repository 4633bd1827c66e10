"""A function of `double` parts in, one that serves `float` parts too out.

A complex value is two real ones here: its real and its imaginary part. Complex `float` functions are computed in
`double` and rounded once, which leaves each part within 0.51 ULP and needs no second set of constants.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from ..text import Emitter, Val

Parts = tuple[Val, ...]
Function = Callable[..., Parts]


def through_double(function: Function) -> Function:
    """The function with `float` arguments made `double`, and its results made `float` again."""

    @wraps(function)
    def serve(e: Emitter, *parts: Val) -> Parts:
        if parts[0].elem == "double":
            return function(e, *parts)
        results = function(e, *(e.cast("fpext", part, "double") for part in parts))
        return tuple(e.cast("fptrunc", result, "float") for result in results)

    return serve

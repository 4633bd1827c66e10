"""Describe the kinds of a call's arguments, which decide who runs the call of a jitted function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..frontend.tracing.tracer import Tracer
from .reasons import Reason

_PLAIN = (np.ndarray, np.memmap, Tracer)


def is_foreign(x: Any) -> bool:
    """Tell whether an argument is an array of another library, or a subclass, whose operators are its own."""
    kind = type(x)
    if kind in _PLAIN or issubclass(kind, np.generic):
        return False
    return issubclass(kind, np.ndarray) or hasattr(kind, "__array_ufunc__")


def foreign_reason(x: Any) -> Reason:
    """Say why Python runs a call with such an argument."""
    kind = type(x)
    return Reason(f"an argument is a {kind.__module__.partition('.')[0]} {kind.__name__}, which has its own operators")


def kinds_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Describe the arguments of a call, as far as a refusal depends on them."""
    return tuple(map(_kind, args)), tuple((name, _kind(x)) for name, x in kwargs.items())


def _kind(x: Any) -> Any:
    if type(x) is np.ndarray:
        return x.dtype, x.ndim
    if isinstance(x, (list, tuple)):
        return type(x), tuple(map(_kind, x))
    return type(x)


def is_data(value: Any) -> bool:
    """Whether a value from outside is an array or a number, which a piece takes as an argument."""
    return isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))

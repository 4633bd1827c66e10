"""Implement NumPy's protocols for array-likes (NEP 13 and NEP 18) on top of a recorder.

Functions that only ask about the type of an array are answered at once. A call that would write a traced value into an
array, or take it out of the trace, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.dtypes import python_type
from ...ir.errors import TraceProblem
from ...ir.graph import Value
from .callables import UfuncMethod
from .locate import here

if TYPE_CHECKING:
    from .tracer import Recorder

_WRITES = "write y = y + x instead of y += x, and do not pass out="


def ufunc_call(
    recorder: Recorder, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Handle a ufunc call (NEP 13)."""
    if method == "at":
        problem = f"'{ufunc.__name__}' would write a traced value into an array"
        raise recorder.noted(TraceProblem(problem, here(), _WRITES))
    return recorder.apply(ufunc if method == "__call__" else UfuncMethod(ufunc, method), inputs, kwargs)


def function_call(
    recorder: Recorder, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Handle a call of a NumPy function (NEP 18)."""
    if function in ANSWERS:
        try:
            return ANSWERS[function](*args, **kwargs)
        except TraceProblem as problem:
            raise recorder.noted(problem) from None
    return recorder.apply(function, args, kwargs)


def _one(x: Any) -> Any:
    """Return a traced value. NumPy makes an array of a list of them, which is not known to have one shape."""
    if not isinstance(getattr(x, "value", None), Value):
        raise TraceProblem("a list that holds traced values was used as an array", here(), "use np.stack")
    return x


def _size(a: Any, axis: Any = None) -> Any:
    shape = _one(a).own_shape
    total = 1
    for one in range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,):
        total = total * shape[one]
    return total


def _sample(x: Any) -> Any:
    """Replace a tracer by its dtype, or by a Python number if it is weak."""
    value = getattr(x, "value", None)
    if not isinstance(value, Value):
        return x
    dtype = value.type.dtype
    return python_type(dtype)(0) if dtype.weak else dtype.numpy


def _refuse(name: str) -> Callable[..., Any]:
    def answer(*args: Any, **kwargs: Any) -> Any:
        raise TraceProblem(
            f"np.{name} of a traced value would leave the trace", here(), "call it on the result, after the call"
        )

    return answer


_OUTSIDE = ("array_repr", "array_str", "array2string", "save", "savez", "savez_compressed", "savetxt", "shares_memory",
            "may_share_memory")  # fmt: skip

ANSWERS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.shape: lambda a: _one(a).own_shape,
    np.ndim: lambda a: _one(a).value.type.rank,
    np.size: _size,
    np.result_type: lambda *args: np.result_type(*map(_sample, args)),
    np.can_cast: lambda from_, to, casting="safe": np.can_cast(from_.dtype, to, casting),
    np.common_type: lambda *args: np.common_type(*(np.empty(0, x.dtype) for x in args)),
    np.iscomplexobj: lambda x: _one(x).value.type.dtype.kind == "complex",
    np.isrealobj: lambda x: _one(x).value.type.dtype.kind != "complex",
    **{getattr(np, name): _refuse(name) for name in _OUTSIDE},
}

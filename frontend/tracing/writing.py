"""Record calls that write into an array of the trace through `out=`, by position or by name.

The array then stands for the results, under all its names. If NumPy's rules for `out` may give different values than a
plain call (`where=`, `casting=`, another dtype), NumPy runs the call on a copy of the array.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.builder import is_scalar_result
from ...ir.errors import Span, TraceProblem, TypeProblem
from ...ir.ops import BROADCAST
from ...ir.records import record
from ..maker import Maker
from ..memory import laid_out
from .callables import Method, UfuncMethod
from .tracer import Tracer

if TYPE_CHECKING:
    from .trace import Trace

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]
_ADVICE = "write y = f(x) instead of f(x, out=y)"


@record
class Into:
    """A NumPy function that writes into copies of arrays, which are its first arguments."""

    function: Callable[..., Any]
    count: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outs = tuple(None if x is None else np.array(x, order="K") for x in args[: self.count])
        made = self.function(*args[self.count :], out=outs if self.count > 1 else outs[0], **kwargs)
        if self.count == 1:
            return outs[0]
        return tuple(result if out is None else out for out, result in zip(outs, made, strict=True))


def split_out(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Arguments, Any]:
    """Split the arguments of a call into `out` and the others."""
    place = _place_of_out(function)
    if place is not None and place < len(args):
        return ((args, kwargs), None) if len(args) > place + 1 else ((args[:place], kwargs), args[place])
    out = kwargs.get("out")
    if out is None or (isinstance(out, tuple) and all(x is None for x in out)):
        return (args, kwargs), None
    return (args, {key: x for key, x in kwargs.items() if key != "out"}), out


@lru_cache(maxsize=512)
def _place_of_out(function: Callable[..., Any]) -> int | None:
    if isinstance(function, (np.ufunc, UfuncMethod)):
        return None  # NumPy passes it by name
    named = getattr(np, function.name, None) if isinstance(function, Method) else function
    try:
        names = list(inspect.signature(named).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return next((k for k, p in enumerate(names) if p.name == "out" and p.kind is not p.KEYWORD_ONLY), None)


def written(trace: Trace, function: Callable[..., Any], given: Arguments, out: Any, span: Span | None) -> Any:
    """Record the call and return the arrays of `out`, which stand for its results from now on."""
    outs = out if isinstance(out, tuple) else (out,)
    for array in outs:
        _demand_array(array, function, span)
    if (plain := _plainly(trace, function, given, outs, span)) is not None:
        made = plain
    else:
        call = Into(function, len(outs))
        made = trace.fallback(call, (*outs, *given[0]), given[1], span)
    results = made if isinstance(made, tuple) else (made,)
    what = f"'{_name(function)}'"
    final = [r if array is None else array._change(r, what, _ADVICE) for array, r in zip(outs, results, strict=True)]
    return tuple(final) if len(final) > 1 else final[0]


def _plainly(
    trace: Trace, function: Callable[..., Any], given: Arguments, outs: tuple[Any, ...], span: Span | None
) -> Any:
    """Return the results of the call without `out` if the same values would be written, or None if NumPy must
    run it.
    """
    args, kwargs = given
    # `concatenate` and `stack` take either `out` or `dtype`.
    asks = {"where", "casting"} if isinstance(function, (np.ufunc, UfuncMethod)) else {"where", "casting", "dtype"}
    if any(array is not None and not array.ndim for array in outs) or not asks.isdisjoint(kwargs):
        return None
    made = trace.apply(function, args, kwargs)
    results = made if isinstance(made, tuple) else (made,)
    found: list[Tracer] = []
    for array, result in zip(outs, results, strict=True):
        if array is None:
            found.append(result)
            continue
        if not isinstance(function, np.ufunc) and (result.dtype != array.dtype or result.shape != array.shape):
            return None
        if result.shape != array.shape:
            result = trace.apply(np.broadcast_to, (result, array.shape), {})
        if array.value.node is not None and array.value.node.op is BROADCAST:  # of one number, as `np.zeros` makes it
            result = Tracer(trace, laid_out(Maker(trace.builder, span), result.value, "C"))
        found.append(result)
    return tuple(found) if len(found) > 1 else found[0]


def _demand_array(array: Any, function: Callable[..., Any], span: Span | None) -> None:
    if array is None:
        return
    if not isinstance(array, Tracer):
        raise TraceProblem(
            f"'{_name(function)}' would write a traced value into an array", span,
            "write y = y + x instead of y += x, and do not pass out=",
        )  # fmt: skip
    if array.value.type.dtype.weak or is_scalar_result(array.value):
        raise TypeProblem("return arrays must be of ArrayType", span, "'out' must be an array, not a number")


def _name(function: Callable[..., Any]) -> str:
    if isinstance(function, UfuncMethod):
        return f"{function.ufunc.__name__}.{function.name}"
    return str(getattr(function, "name", None) or getattr(function, "__name__", "the call"))

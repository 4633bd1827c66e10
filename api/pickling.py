"""Pickle jitted functions: by reference if Python can import them, else as the function and its options.

Machine code is never in a pickle. The other process compiles the function at its first call, or finds the code in its
disk cache. `cloudpickle` (joblib, dask and loky use it) sends functions of `__main__` and local ones by value.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType, MethodType
from typing import TYPE_CHECKING, Any

from .ir.errors import TypeProblem
from .ir.support.pickles import token

if TYPE_CHECKING:
    from .function import JitFunction


def reduced(function: JitFunction, state: Mapping[str, Any], frame: FrameType | None) -> Any:
    """Reduce a jitted function for a pickler; `frame` is the frame that called the pickler."""
    if isinstance(function.__wrapped__, MethodType):
        return _bound, (function.__wrapped__, {key: x for key, x in state.items() if key != "function"})
    if _is_named(function) and function.__module__ not in _sent_by_value(frame):
        return function.__qualname__
    return _new, (), state


def tokenized(function: JitFunction, state: Mapping[str, Any]) -> Any:
    """Describe a jitted function for dask, which then describes the function itself as it does others."""
    if _is_named(function) and function.__module__ != "__main__":
        state = {**state, "function": (function.__module__, function.__qualname__)}
    return token("weft.jit", *state.items())


def runnable(state: Mapping[str, Any]) -> dict[str, Any]:
    """Check that the function of a pickle can run here, and return the rest of the state.

    `cloudpickle` sends bytecode, and the bytecode of another Python crashes the interpreter.
    """
    found = dict(state)
    version, function = tuple(found.pop("python", sys.version_info[:2])), found["function"]
    if version != sys.version_info[:2] and not _is_named(getattr(function, "__func__", function)):
        here, there = (".".join(map(str, each)) for each in (sys.version_info[:2], version))
        name = getattr(function, "__qualname__", "a function")
        raise TypeProblem(
            f"{name} was pickled by value in Python {there}, and its bytecode can't run in Python {here}",
            hint="use the same version of Python in all processes, or put the function into a module that they import",
        )
    return found


def _new() -> JitFunction:
    from .function import CallableFunction

    return CallableFunction.__new__(CallableFunction)


def _bound(method: Any, options: Mapping[str, Any]) -> JitFunction:
    """Make a jitted method. If its class has already jitted it, `method` is the result."""
    from .function import JitFunction

    if isinstance(method, JitFunction):
        return method
    made = _new()
    made.__setstate__({"function": method, **options})
    return made


def _is_named(function: Any) -> bool:
    """Tell whether the name of a function leads to it, as `import` and attributes follow names."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is function


def _sent_by_value(frame: FrameType | None) -> frozenset[str]:
    """List the modules that cloudpickle sends by value, or none if another pickler is at work."""
    while frame is not None and frame.f_globals.get("__name__") == "pickle":
        frame = frame.f_back
    if frame is None or str(frame.f_globals.get("__name__")).rpartition(".")[2] != "cloudpickle":
        return frozenset()
    registered = frame.f_globals.get("_PICKLE_BY_VALUE_MODULES", ())
    return frozenset(("__main__", *registered))

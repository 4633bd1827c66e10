"""Replace names that a traced function uses by stand-ins, where the real objects can't take tracers.

NumPy passes a call to tracers (NEP 18) only if an argument is one, not if a list contains one, and never in `np.array`.
Numba's compiled functions don't know tracers. So the function runs as a copy whose globals and closure hold stand-ins,
and so do the user's functions that it calls.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import lru_cache
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.errors import TraceProblem
from ...ir.source import contents
from .captures import is_library, nested_codes
from .locate import here
from .protocols import function_call
from .tracer import Tracer

if TYPE_CHECKING:
    from .trace import Trace

_DISPATCHER = type(np.sum)
_DISPATCHED = (FunctionType, BuiltinFunctionType, _DISPATCHER)
_ITERATORS = (np.nditer, np.ndenumerate, np.broadcast)  # classes that read elements, or where they are in memory
_WHOLE = "use NumPy's functions on whole arrays"
# Functions that can take a tracer first, though NumPy does not dispatch on it; `full` has the number second.
_UNASKED = {np.array: 0, np.asarray: 0, np.asanyarray: 0, np.ascontiguousarray: 0, np.asfortranarray: 0, np.full: 1,
            np.asarray_chkfinite: 0, np.require: 0, np.lexsort: 0}  # fmt: skip
# Functions whose first argument is a sequence of arrays, not an array.
_SEQUENCES = frozenset((
    "concatenate", "concat", "stack", "hstack", "vstack", "dstack", "column_stack", "block", "select", "einsum", "eye",
    "zeros", "ones", "empty", "full", "ravel_multi_index", "broadcast_shapes", "iterable", "ndim", "shape", "multi_dot",
    "row_stack", "lexsort", "histogramdd", "poly", "roots",
))  # fmt: skip
# Functions whose second argument is an array, too.
_PAIRS = frozenset((
    "dot", "inner", "outer", "vdot", "cross", "kron", "convolve", "correlate", "append", "array_equal", "allclose",
    "isclose", "searchsorted", "isin", "union1d", "intersect1d", "setdiff1d", "setxor1d", "where", "interp", "polyval",
    "polyadd", "polysub", "polymul", "digitize", "tensordot",
))  # fmt: skip


def seen(function: Callable[..., Any], trace: Trace) -> Callable[..., Any]:
    """Copy the function with stand-ins for names that can't take tracers."""
    return Standins(trace, _package(function)).of(function)  # type: ignore[no-any-return]


class Standins:
    """The stand-ins of one trace, one for each object. Functions of other installed packages have none."""

    def __init__(self, trace: Trace, package: str) -> None:
        self._trace = trace
        self._package = package
        self._made: dict[int, tuple[Any, Any]] = {}  # keyed by the object's id; the object is kept alive

    def of(self, value: Any) -> Any:
        """Return the stand-in for a value, or the value itself."""
        if not self._has_standin(value):
            return value
        if (found := self._made.get(id(value))) is not None:
            return found[1]
        if isinstance(value, FunctionType) and not _is_numpys(value):
            return self._copied(value)
        if isinstance(value, ModuleType):
            made: Any = NumpyNames(value, self)
        elif isinstance(value, MethodType):
            made = MethodType(self.of(value.__func__), value.__self__)
        else:
            made = (Between if _is_numba(value) else ArrayFunction)(value, self._trace)
        self._made[id(value)] = (value, made)
        return made

    def _copied(self, function: FunctionType) -> FunctionType:
        code, given = function.__code__, function.__closure__ or ()
        names, written = _names(code)
        if written is None:  # it writes globals that others must see
            return function
        own = [
            n not in written and self._has_standin(contents(c)) for n, c in zip(code.co_freevars, given, strict=True)
        ]
        cells = tuple(CellType() if new else cell for new, cell in zip(own, given, strict=True))
        space = dict(function.__globals__)
        copy = FunctionType(code, space, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
        self._made[id(function)] = (function, copy)  # before the functions that it calls, because it may call itself
        space.update({name: self.of(space[name]) for name in names & space.keys()})
        for new, cell, known in zip(own, cells, given, strict=True):
            if new:
                cell.cell_contents = self.of(known.cell_contents)
        return copy

    def _has_standin(self, value: Any) -> bool:
        if isinstance(value, MethodType):
            value = value.__func__
        if _is_numpys(value) or _is_numba(value):
            return True
        return isinstance(value, FunctionType) and not is_library(value) and not self._is_installed(value)

    def _is_installed(self, function: FunctionType) -> bool:
        file = function.__code__.co_filename
        return ("site-packages" in file or "dist-packages" in file) and _package(function) != self._package


@lru_cache(maxsize=1024)
def _names(code: CodeType) -> tuple[frozenset[str], frozenset[str] | None]:
    """Find the names that a function and its inner functions load and write; None if they write globals."""
    found = [(i.opname, i.argval) for part in nested_codes(code) for i in dis.get_instructions(part)]
    written = frozenset(str(name) for op, name in found if op in ("STORE_DEREF", "DELETE_DEREF"))
    writes_globals = any(op in ("STORE_GLOBAL", "DELETE_GLOBAL") for op, _ in found)
    return frozenset(name for part in nested_codes(code) for name in part.co_names), None if writes_globals else written


class NumpyNames:
    """A NumPy module as a traced function sees it."""

    def __init__(self, module: ModuleType, standins: Standins) -> None:
        self.__wrapped__ = module
        self._standins = standins

    def __getattr__(self, name: str) -> Any:
        return self._standins.of(getattr(self.__wrapped__, name))

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


class ArrayFunction:
    """A NumPy function that accepts tracers in lists, and where NumPy would not dispatch on them."""

    def __init__(self, function: Callable[..., Any], trace: Trace) -> None:
        self.__wrapped__ = function
        self._trace = trace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        place = _UNASKED.get(function)
        if place is not None and _holds(args[place] if len(args) > place else (*args, *kwargs.values())):
            return self._trace.apply(function, args, kwargs)
        if function in _ITERATORS and _holds((*args, *kwargs.values())):
            problem = TraceProblem(f"np.{function.__name__} of a traced value would leave the trace", here(), _WHOLE)
            raise self._trace.noted(problem)
        if getattr(function, "__module__", "").startswith("numpy.polynomial") and _holds((*args, *kwargs.values())):
            return self._trace.fallback(function, args, kwargs, here())  # Python code that needs the elements
        name = getattr(function, "__name__", "")
        count = 0 if name in _SEQUENCES else 3 if name in ("where", "interp") else 2 if name in _PAIRS else 1
        given = tuple(self._joined(x) if k < count else x for k, x in enumerate(args))
        if isinstance(function, _DISPATCHER) and _holds((*given, *kwargs.values())):
            return function_call(self._trace, function, given, kwargs)  # NumPy asks only some of the arguments
        return function(*given, **kwargs)

    def _joined(self, x: Any) -> Any:
        """Stack a list that contains tracers into one array."""
        return self._trace.apply(np.array, (x,), {}) if isinstance(x, (list, tuple)) and _holds(x) else x

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


class Between:
    """A compiled Numba function, which runs on arrays between two compiled pieces."""

    def __init__(self, function: Callable[..., Any], trace: Trace) -> None:
        self.__wrapped__ = function
        self._trace = trace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _holds((*args, *kwargs.values())):
            return self._trace.fallback(self.__wrapped__, args, kwargs, here())
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


def _holds(tree: Any) -> bool:
    """Tell whether nested lists contain tracers."""
    return any(map(_holds, tree)) if isinstance(tree, (list, tuple)) else isinstance(tree, Tracer)


def _package(function: Any) -> str:
    return str(getattr(function, "__module__", "")).partition(".")[0]


def _is_numpys(value: Any) -> bool:
    """Tell whether it is a NumPy function that may take arrays, or a module of them."""
    if isinstance(value, ModuleType):
        return value is np or value.__name__.startswith(("numpy.polynomial", "numpy.lib"))
    return (isinstance(value, _DISPATCHED) and _package(value) == "numpy") or any(value is x for x in _ITERATORS)


def _is_numba(value: Any) -> bool:
    return callable(value) and type(value).__module__.startswith("numba.") and hasattr(value, "py_func")

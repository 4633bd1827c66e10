"""Serve the calls that no recipe serves: those of a new signature, of traced values, and of interpreters whose memory
layout is not known.

Everything that Weft makes callable is called in the same way (docs/calls.md). A class says how its graph is found and
how it is added to a trace; `Called` has the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from ..ir.errors import TraceProblem
from . import threads
from .native.abi import is_known
from .native.call import CallForm
from .native.callables import with_native_calls

T = TypeVar("T")


class Callee(Protocol):
    """Something that can be called. `takes_out` means that `out` is one of its own arguments."""

    __name__: str
    takes_out: bool

    def called(self, *args: Any, **kwargs: Any) -> Any:
        """Serve a call in Python."""

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Add the call to the graph that is being traced."""

    def chunked(self, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        """Serve a call with dask arrays."""

    def served(self, form: CallForm, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        """Find or compile the graph for the arguments, run it, and learn the recipe of such calls."""


class Called:
    """Serves a call through Python."""

    takes_out = False

    def __call__(self: Callee, *args: Any, **kwargs: Any) -> Any:
        threads.raise_pending()  # a native call that was interrupted ends up here
        return self.called(*args, **kwargs)

    def called(self: Callee, *args: Any, **kwargs: Any) -> Any:
        """Serve a call. A profile replaces this method, because Python 3.12 drops native calls if `__call__` is
        replaced.
        """
        form = CallForm(len(args), tuple(kwargs))
        out = None if self.takes_out else kwargs.pop("out", None)
        trace = trace_of((*args, *kwargs.values()))
        if trace is None:
            if has_chunked((*args, *kwargs.values())):
                return self.chunked(args, kwargs, out)
            result = self.served(form, args, kwargs, out)
            chain = getattr(self, "chain", None)
            if chain is not None and chain.is_cold and len(kwargs) == len(form.names):
                chain.warm_up(self, args, kwargs)
            return result
        if out is not None:
            raise TraceProblem(f"{self.__name__} can't write a traced value into out", hint="use its result")
        return self.inlined(trace, args, kwargs)

    def chunked(self: Callee, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        from .chunks.dask_arrays import apply, check_out

        check_out(self.__name__, out)
        return apply(self, *args, **kwargs)

    def __copy__(self: T) -> T:
        return self  # as functions do it

    def __deepcopy__(self: T, memo: Any) -> T:
        return self


def trace_of(values: Sequence[Any]) -> Any:
    """Find the trace of the first traced value, without importing the front end to look for one."""
    return next((x._trace for x in values if hasattr(x, "_trace")), None)


def has_chunked(values: Sequence[Any]) -> bool:
    """Tell whether an argument is a dask array, or holds one, without importing dask to look for one."""
    module = sys.modules.get("dask.array")
    return module is not None and any(_holds_chunked(x, module.Array) for x in values)


def _holds_chunked(value: Any, array: type) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_chunked(x, array) for x in value)
    return isinstance(value, array) or (type(value) is dict and _holds_chunked([*value.values()], array))


class OwnDoc:
    """Give each kernel a docstring of its own, made on demand; the class keeps its docstring."""

    def __init__(self, text: str | None) -> None:
        self._text = text

    def __get__(self, instance: Any, owner: type) -> str | None:
        return self._text if instance is None else instance.described()


def with_own_doc(described: type[T]) -> type[T]:
    """Make `help(kernel)` show what `described()` returns."""
    type.__setattr__(described, "__doc__", OwnDoc(described.__doc__))
    return described


def native_class(base: type[T]) -> type[T]:
    """Return the class that can be called natively, if the platform allows it."""
    return with_native_calls(base) if is_known() else base

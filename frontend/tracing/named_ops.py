"""Call an op by its name on traced values or arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...ir.errors import UnknownName
from ...ir.kernels import OpSource
from ...ir.opdef import OpDef
from ...ir.support.pickles import token
from .tracer import Tracer

Compile = Callable[["NamedOp", int, Mapping[str, Any]], Callable[..., Any]]


class NamedOp:
    """A function that calls the op of this name. The op is looked up when it is traced.

    `compiled` makes a function for a number of operands, with the other arguments fixed, which takes both arrays and
    traced values. Functions without other arguments are kept, because they are called most.
    """

    def __init__(self, name: str, source: OpSource, compiled: Compile) -> None:
        self.name, self.__name__ = name, name
        self._source, self._compiled = source, compiled
        self._functions: dict[int, Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<weft op {self.name}>"

    def __reduce__(self) -> Any:
        return NamedOp, (self.name, self._source, self._compiled)

    def __dask_tokenize__(self) -> Any:
        return token("weft.ops", self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            function = self._functions.get(len(args))
            if function is None:
                function = self._functions[len(args)] = self._compiled(self, len(args), {})
            return function(*args)
        out = {"out": kwargs.pop("out")} if "out" in kwargs else {}
        return self._compiled(self, len(args), kwargs)(*args, **out)

    def traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Apply the op in the trace that an argument belongs to, through NumPy's own function if there is one."""
        if self.op() is None and hasattr(np, self.name):
            return getattr(np, self.name)(*args, **kwargs)
        tracer = next(x for x in args if isinstance(x, Tracer))
        return tracer._trace.apply(self, args, kwargs)

    def op(self) -> OpDef | None:
        """Return the op that is registered under this name, or bundled as a kernel."""
        return self._source.find_op(self.name)

    def unknown(self) -> UnknownName:
        return UnknownName(f"no op is called '{self.name}' any more", hint="it was unregistered")

"""An op by its name as a function: traced values in, the op's value in their trace out; arrays in, an array out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.kernels import OpSource
from ..ir.opdef import OpDef
from .tracer import Tracer

Run = Callable[["NamedOp", tuple[Any, ...], Mapping[str, Any]], Any]


@dataclass(frozen=True)
class NamedOp:
    """The function of this name. What it means is asked for when it is called; `run` computes it on arrays."""

    name: str
    source: OpSource
    run: Run

    def __repr__(self) -> str:
        return f"<weft op {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for x in args:
            if isinstance(x, Tracer):
                return self.traced(x, args, kwargs)
        return self.run(self, args, kwargs)

    def traced(self, tracer: Tracer, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Part of the trace that an argument belongs to. NumPy's own function is called where there is one."""
        function = None if self.op() is not None else getattr(np, self.name, None)
        return tracer._trace.apply(self, args, kwargs) if function is None else function(*args, **kwargs)

    def op(self) -> OpDef | None:
        """The op that was registered under this name, or that is a bundled kernel."""
        return self.source.find_op(self.name)

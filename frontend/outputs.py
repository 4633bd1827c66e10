"""What a traced function returned in, the graph's outputs and their structure out.

The graph's attribute `results` says of each output whether NumPy would give a scalar or an array.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..ir.builder import is_scalar_result
from ..ir.errors import Span, TraceProblem
from ..ir.graph import Graph, Value
from ..ir.source import Structure
from .maker import Maker
from .symbolic import TracedSize
from .trace import Trace
from .tracer import Tracer


def finish(trace: Trace, returned: Any, span: Span | None) -> tuple[Graph, Structure]:
    """The finished graph of a trace."""
    structure, parts = _flattened(returned)
    pairs = [_output(trace, part, span) for part in parts]
    trace.builder.attrs["results"] = tuple("scalar" if scalar else "array" for _, scalar in pairs)
    trace.close()
    return trace.builder.finish([value for value, _ in pairs]), structure


def _flattened(returned: Any) -> tuple[Structure, Iterable[Any]]:
    if type(returned) is dict:
        return Structure("dict", tuple(returned)), returned.values()
    if type(returned) is list:
        return Structure("list"), returned
    if type(returned) is tuple:
        return Structure("tuple"), returned
    return Structure(), (returned,)


def _output(trace: Trace, part: Any, span: Span | None) -> tuple[Value, bool]:
    """A value of strong dtype, and whether it is a scalar to NumPy."""
    if not isinstance(part, (Tracer, TracedSize, np.ndarray, np.generic, bool, int, float, complex)):
        raise TraceProblem(
            f"the function returned {_shown(part)}, which is not an array", span,
            "return arrays or numbers, alone or in one tuple, list or dict",
        )  # fmt: skip
    number = isinstance(part, (TracedSize, np.generic, bool, int, float, complex))
    maker = Maker(trace.builder, span)
    value = maker.lift(trace.operand(part, False, span))
    scalar = number or value.type.dtype.weak or is_scalar_result(value)
    return maker.cast(value, value.type.dtype.strong), scalar


def _shown(part: Any) -> str:
    return "None" if part is None else f"a {type(part).__name__}"

"""Build graphs that can replace an op, from kernel sources and Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from ...ir import dims
from ...ir.errors import TypeProblem, Unsupported
from ...ir.externs import ExternCall
from ...ir.facts import Facts
from ...ir.graph import Graph
from ...ir.loops import walk
from ...ir.ops import CONSTANT, NUMPY, SIZE, Trait
from ...ir.records import record
from ...ir.source import ArgType, Binding, Built, KernelSource
from ...ir.types import TensorType
from ..libraries.calls import library_call
from .scores import operations_of
from .signature import Signature


@record(eq=False)
class SourceBody:
    """Build the graph of a source for the types of operands; it serves all sizes that its guards allow.

    `function` is the Python function that the source traces, if any.
    """

    source: KernelSource
    signature: Signature
    function: Callable[..., Any] | None = None

    def __reduce__(self) -> Any:
        if self.function is not None:
            return traced, (self.function, self.signature, self.source.name)
        return SourceBody, (self.source, self.signature)

    def given(self, arguments: Mapping[str, Any]) -> SourceBody:
        """Return the body of a traced function with these extra arguments."""
        assert self.function is not None
        return traced(partial(self.function, **arguments), self.signature, self.source.name)

    def graph(
        self,
        types: Sequence[TensorType],
        sizes: Mapping[str, int] = MappingProxyType({}),
        call: Callable[[ExternCall], int] | None = None,
    ) -> Graph:
        """Build the graph for the sizes of the current call, which satisfy its guards.

        `call` numbers the library functions that it calls; by default numbers start at 0.
        """
        self.signature.bind(Facts(strict=True), [t.shape for t in types])
        built = self.source.build(Binding(tuple(types), sizes), _arguments(types, sizes))
        if built.hidden or any(library_call(function) is None for function in built.calls):
            raise Unsupported(f"'{self.source.name}' must not capture arrays or call functions that Weft has no op for")
        if len(built.graph.outputs) != 1:
            raise TypeProblem(f"'{self.source.name}' must return one result, not {len(built.graph.outputs)}")
        if call is not None:
            _number(built, call)
        return built.graph


def _number(built: Built, call: Callable[[ExternCall], int]) -> None:
    for node in walk(built.graph):
        if node.op is NUMPY and isinstance(number := node.attrs["call"], int):
            node.attrs = {**node.attrs, "call": call(built.calls[number])}


def _arguments(types: Sequence[TensorType], sizes: Mapping[str, int]) -> list[ArgType] | None:
    """Turn the operands into arguments of a call, if all their sizes are known."""
    if not all(dims.symbols(size) <= sizes.keys() for t in types for size in t.shape):
        return None
    return [ArgType(t.dtype, tuple(dims.evaluate(size, sizes) for size in t.shape)) for t in types]


def _positional(function: Callable[..., Any], count: int, name: str) -> Callable[..., Any]:
    """Present a function as one of a fixed number of positional operands."""

    def run(*operands: Any) -> Any:
        return function(*operands)

    places = [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(count)]
    run.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
    run.__name__ = run.__qualname__ = name
    return run


def traced(function: Callable[..., Any], signature: Signature, name: str) -> SourceBody:
    """Turn a Python function into a body that is traced whenever its graph is needed."""
    from ...frontend.tracing.functions import TracedFunction

    return SourceBody(TracedFunction(_positional(function, len(signature.inputs), name)), signature, function)


def is_elementwise(graph: Graph) -> bool:
    """Tell whether each element of the result needs only the operands' elements at the same index."""
    return all(Trait.ELEMENTWISE in n.op.traits for n in graph)


def operations(graph: Graph) -> int:
    """Count the simple operations for one element of the graph."""
    return max(1, sum(operations_of(n.op) for n in graph if n.op not in (CONSTANT, SIZE)))

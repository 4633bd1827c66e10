"""Build graphs that can take an op's place from kernel sources and Python functions."""

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
from ..libraries.calls import LibraryCall
from .scores import operations_of
from .signature import Signature


@record(eq=False)
class SourceBody:
    """The graph of a source for the types of operands, for any sizes but for what its guards say.

    `function` is the Python function that the source traces, if it does.
    """

    source: KernelSource
    signature: Signature
    function: Callable[..., Any] | None = None

    def given(self, arguments: Mapping[str, Any]) -> SourceBody:
        """The body of a traced function with these arguments beside the operands."""
        assert self.function is not None
        return traced(partial(self.function, **arguments), self.signature, self.source.name)

    def graph(
        self,
        types: Sequence[TensorType],
        sizes: Mapping[str, int] = MappingProxyType({}),
        call: Callable[[ExternCall], int] | None = None,
    ) -> Graph:
        """The graph for the sizes of the call at hand, which its guards hold for.

        `call` numbers the functions of libraries that it calls, which are else numbered from 0.
        """
        self.signature.bind(Facts(strict=True), [t.shape for t in types])
        built = self.source.build(Binding(tuple(types), sizes), _arguments(types, sizes))
        if built.hidden or not all(isinstance(function, LibraryCall) for function in built.calls):
            raise Unsupported(f"'{self.source.name}' captures arrays, or calls a function that Weft has no op for")
        if len(built.graph.outputs) != 1:
            raise TypeProblem(f"'{self.source.name}' returns {len(built.graph.outputs)} results", hint="an op has one")
        if call is not None:
            _number(built, call)
        return built.graph


def _number(built: Built, call: Callable[[ExternCall], int]) -> None:
    for node in walk(built.graph):
        if node.op is NUMPY and isinstance(number := node.attrs["call"], int):
            node.attrs = {**node.attrs, "call": call(built.calls[number])}


def _arguments(types: Sequence[TensorType], sizes: Mapping[str, int]) -> list[ArgType] | None:
    """The operands as arguments of a call, if all of their sizes are known."""
    if not all(dims.symbols(size) <= sizes.keys() for t in types for size in t.shape):
        return None
    return [ArgType(t.dtype, tuple(dims.evaluate(size, sizes) for size in t.shape)) for t in types]


class Positional:
    """A function of so many operands, whatever else it could be called with."""

    def __init__(self, function: Callable[..., Any], count: int, name: str) -> None:
        self._function = function
        self.__name__ = name
        places = [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(count)]
        self.__signature__ = inspect.Signature(places)

    def __call__(self, *operands: Any) -> Any:
        return self._function(*operands)


def traced(function: Callable[..., Any], signature: Signature, name: str) -> SourceBody:
    """A Python function as a body, traced whenever its graph is asked for."""
    from ...frontend.tracing.functions import TracedFunction

    return SourceBody(TracedFunction(Positional(function, len(signature.inputs), name)), signature, function)


def is_elementwise(graph: Graph) -> bool:
    """Whether an element of the result needs the operands' elements at the same index alone."""
    return all(Trait.ELEMENTWISE in n.op.traits for n in graph)


def operations(graph: Graph) -> int:
    """How many simple operations the graph does for an element."""
    return max(1, sum(operations_of(n.op) for n in graph if n.op not in (CONSTANT, SIZE)))

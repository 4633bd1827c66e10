"""Record a trace: each traced NumPy call with the values of the graph that it read and made.

With a record the oracle can ask NumPy about one call at a time, on the operands that Weft has there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from weft.frontend.tracing.symbolic import TracedSize
from weft.frontend.tracing.trace import Trace
from weft.frontend.tracing.tracer import Tracer
from weft.ir import dims
from weft.ir.builder import is_scalar_result
from weft.ir.dims import Size
from weft.ir.graph import Graph, Node, Value


@dataclass(frozen=True)
class Call:
    """One call: its arguments with values in place of traced ones, the values it returned, and the nodes it made."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[Value, ...]
    nodes: tuple[Node, ...]

    def run(self, actual: Mapping[Value, Any], sizes: Mapping[str, int]) -> tuple[Any, ...]:
        """Return NumPy's result for actual values."""
        args, kwargs = (_filled(x, actual, sizes) for x in (self.args, dict(self.kwargs)))
        return tuple(_parts(self.function(*args, **kwargs)))


class Recorder:
    """Records the calls of every trace, by the inputs of the graph."""

    def __init__(self) -> None:
        self._calls: dict[Value, list[Call]] = {}
        self._shapes: dict[Value, tuple[Size, ...]] = {}
        self._depth = 0

    def calls(self, graph: Graph) -> list[Call]:
        return self._calls.get(graph.inputs[0], [])

    def sizes(self, graph: Graph, inputs: Sequence[Any]) -> dict[str, int]:
        """Return the numbers behind sizes under their names while tracing, before equal ones were unified."""
        found: dict[str, int] = {}
        for value, x in zip(graph.inputs, inputs, strict=True):
            found.update(zip(map(str, self._shapes.get(value, ())), np.shape(x), strict=False))
        return found

    @contextmanager
    def listening(self) -> Iterator[None]:
        apply = Trace.apply

        def recorded(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
            given, named = _taken(args), _taken(dict(kwargs))
            before = len(trace.builder.nodes)
            for value in trace.builder.inputs:
                self._shapes.setdefault(value, value.type.shape)
            self._depth += 1
            try:
                result = apply(trace, function, args, kwargs)
            finally:
                self._depth -= 1
            if self._depth == 0:  # a call inside of a call is part of it
                values = tuple(t.value for t in _parts(result) if isinstance(t, Tracer))
                made = Call(function, given, named, values, tuple(trace.builder.nodes[before:]))
                self._calls.setdefault(trace.builder.inputs[0], []).append(made)
            return result

        with mock.patch.object(Trace, "apply", recorded):
            yield


def known_kind(value: Value, x: Any) -> Any:
    """Convert an array to what NumPy would have: a Python number, a scalar or an array."""
    x = np.asarray(x)
    if value.type.dtype.weak:
        return x.item()
    if not x.dtype.isnative:  # a result may have the byte order that `astype` was asked for; values have none
        x = x.astype(x.dtype.newbyteorder("="))
    return x[()] if is_scalar_result(value) else x


def _taken(tree: Any) -> Any:
    """Copy the arguments, because a traced value may be rebound later."""
    if isinstance(tree, Tracer):
        return tree.value
    if isinstance(tree, TracedSize):
        return tree.dim
    if isinstance(tree, (tuple, list)) and not hasattr(tree, "_fields"):
        return type(tree)(map(_taken, tree))
    if isinstance(tree, dict):
        return {key: _taken(x) for key, x in tree.items()}
    if isinstance(tree, slice):
        return slice(*map(_taken, (tree.start, tree.stop, tree.step)))
    return tree


def _filled(tree: Any, actual: Mapping[Value, Any], sizes: Mapping[str, int]) -> Any:
    if isinstance(tree, Value):
        return actual[tree]
    if isinstance(tree, dims.Dim):
        return dims.evaluate(tree, sizes)
    if isinstance(tree, (tuple, list)) and not hasattr(tree, "_fields"):
        return type(tree)(_filled(x, actual, sizes) for x in tree)
    if isinstance(tree, dict):
        return {key: _filled(x, actual, sizes) for key, x in tree.items()}
    if isinstance(tree, slice):
        return slice(*(_filled(x, actual, sizes) for x in (tree.start, tree.stop, tree.step)))
    return tree


def _parts(result: Any) -> list[Any]:
    return [p for item in result for p in _parts(item)] if isinstance(result, (tuple, list)) else [result]

"""Check that arrays which a call writes or returns share no memory with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...ir.graph import Value
from .recipe import Register

if TYPE_CHECKING:
    from .serving import Serving


def check_apart(serving: Serving) -> None:
    """Check that written arrays overlap no others; Python copies if one does."""
    w, graph, strides = serving.w, serving.graph, serving.arguments.strides
    written = [v for v, out in zip(graph.outputs, serving.call.outs, strict=True) if out is not None]
    changed = {graph.inputs[index] for index, _ in serving.lowered.built.updates}
    others = [v for v in array_inputs(serving) if v not in changed]
    if all(v not in strides for v in (*others, *written)):
        for k, value in enumerate(written):
            more = [r for v in (*others, *written[:k]) for r in (serving.pointers[v], serving.bytes(v))]
            w.check("dense_apart", serving.pointers[value], serving.bytes(value), len(more) // 2, more=more)
        return
    spans = {value: span(serving, value) for value in (*others, *written)}
    for k, value in enumerate(written):
        ranges = [spans[v] for v in (*others, *written[:k])]
        w.check("apart", spans[value], len(ranges), more=ranges)


def array_inputs(serving: Serving) -> list[Value]:
    """List the inputs of a graph that are arrays, not numbers."""
    inputs = zip(serving.graph.inputs, serving.call.inputs, strict=True)
    return [value for value, given in inputs if value.type.rank or type(given.given) is np.ndarray]


def span(serving: Serving, value: Value) -> Register:
    """Return two registers with the addresses between which an array lies."""
    w, shape, to = serving.w, value.type.shape, serving.w.register(2)
    numbers = [serving.sizes.number(s) for s in shape]
    data, size = serving.pointers[value], value.type.dtype.size
    if value in serving.arguments.strides:
        w.check("bounds", data, len(shape), size, to, more=[*numbers, *serving.arguments.strides[value]])
    else:
        w.check("dense_bounds", data, len(shape), size, to, more=numbers)
    return to

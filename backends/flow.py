"""Run an `each`, an elementwise program with control flow, in NumPy.

A body runs for many elements at once; each value is an array with one number per element. A branch or a step of a loop
runs only for the elements that take it, so nothing is computed for an element that does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.graph import Graph, Node, Value
from ..ir.ops import EACH, FLOW, WHILE
from ..ir.types import integer

RunNode = Callable[[Node, list[Any]], tuple[Any, ...]]


def run(node: Node, operands: Sequence[Any], run_node: RunNode) -> tuple[Any, ...]:
    """Return the results of an `each`."""
    assert node.op is EACH and node.body is not None
    shape = np.broadcast_shapes(*(np.shape(x) for x in operands))
    count = int(np.prod(shape))
    columns = [np.broadcast_to(np.asarray(x), shape).reshape(count) for x in operands]
    results = _body(node.body, columns, count, run_node)
    return tuple(x.reshape(shape)[()] if not shape else x.reshape(shape) for x in results)


def _body(body: Graph, inputs: Sequence[Any], count: int, run_node: RunNode) -> list[Any]:
    """Return the outputs of a body for `count` elements."""
    values: dict[Value, Any] = dict(zip(body.inputs, inputs, strict=True))
    for node in body:
        operands = [values[v] for v in node.operands]
        if node.op not in FLOW:
            results = run_node(node, operands)
        else:
            columns = [np.broadcast_to(x, (count,)) for x in operands]
            results = (_while if node.op is WHILE else _when)(node, columns, count, run_node)
        values.update(zip(node.results, results, strict=True))
    return [np.broadcast_to(np.asarray(values[v], v.type.dtype.numpy), (count,)) for v in body.outputs]


def _while(node: Node, columns: list[Any], count: int, run_node: RunNode) -> tuple[Any, ...]:
    assert node.body is not None
    carried = integer(node.attrs, "carried")
    state, others = [x.copy() for x in columns[:carried]], columns[carried:]
    running = np.arange(count)
    while len(running):
        given = [x[running] for x in (*state, *others)]
        go, *after = _body(node.body, given, len(running), run_node)
        running = running[go]
        for values, new in zip(state, after, strict=True):
            values[running] = new[go]
    return tuple(state)


def _when(node: Node, columns: list[Any], count: int, run_node: RunNode) -> tuple[Any, ...]:
    assert node.body is not None
    condition, *others = columns
    taken = np.flatnonzero(condition)
    results = [np.zeros(count, v.type.dtype.numpy) for v in node.results]
    for values, new in zip(results, _body(node.body, [x[taken] for x in others], len(taken), run_node), strict=True):
        values[taken] = new
    return tuple(results)

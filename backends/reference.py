"""A graph and arrays in, arrays out: the living definition of every op.

The graph is walked in order and each op is what its `OpDef.numpy` says, on operands cast to the dtypes that it
computes in. It runs any stage of the pipeline; a reduction that `lower-reductions` has given a tree follows that
tree (see `tree`), so its bits are those of native code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import dims
from ..ir.dims import Dim
from ..ir.dtypes import DType, python_type
from ..ir.errors import ShapeProblem
from ..ir.graph import Graph, Node, Value
from ..ir.types import Attr, Sizes
from . import tree

CHOICE = frozenset(("impl", "score"))  # attributes that say how an op is computed, not what it is
IDENTITY = {"sum": (np.add, -0.0), "prod": (np.multiply, 1.0)}


def run(graph: Graph, inputs: Sequence[Any], env: Mapping[str, int] | None = None) -> tuple[Any, ...]:
    """The outputs of a graph for these inputs; `env` adds sizes that no input shows."""
    sizes = {**_sizes_of(graph, inputs), **(env or {})}
    values: dict[Value, Any] = dict(zip(graph.inputs, inputs, strict=True))
    with np.errstate(all="ignore"):
        for node in graph:
            results = _run_node(node, [values[v] for v in node.operands], sizes)
            values.update(zip(node.results, results, strict=True))
    return tuple(np.asarray(values[v], v.type.dtype.numpy) for v in graph.outputs)


def _run_node(node: Node, operands: list[Any], sizes: dict[str, int]) -> tuple[Any, ...]:
    if node.body is not None:
        return run(node.body, operands, sizes)
    attrs = {name: _resolve(attr, sizes) for name, attr in node.attrs.items() if name not in CHOICE}
    if node.op.name == "numpy":
        raise ShapeProblem("a NumPy function runs between graphs, not inside one", node.span)
    compute, _ = node.op.dtypes(tuple(v.type.dtype for v in node.operands), node.attrs)
    # A weak number among arrays is handed to NumPy as the Python number it is: NumPy knows best how it converts.
    mixed = isinstance(node.op.numpy, np.ufunc) and not all(v.type.dtype.weak for v in node.operands)
    cast = [
        python_type(v.type.dtype)(x) if mixed and v.type.dtype.weak else _cast(x, v.type.dtype, to)
        for x, v, to in zip(operands, node.operands, compute, strict=True)
    ]
    assert node.op.numpy is not None, node.op.name
    if node.op.name in IDENTITY and attrs.get("steps"):
        return (tree.reduce(*IDENTITY[node.op.name], np.asarray(cast[0]), **{"keepdims": False, **attrs}),)
    return (node.op.numpy(*cast, **attrs),)


def _cast(x: Any, have: DType, want: DType) -> Any:
    return x if have == want and not have.weak else np.asarray(x, have.numpy).astype(want.numpy)


def _resolve(attr: Attr, sizes: Mapping[str, int]) -> Any:
    if isinstance(attr, Sizes):
        return tuple(dims.evaluate(s, sizes) for s in attr)
    return attr.numpy if isinstance(attr, DType) else attr


def _sizes_of(graph: Graph, inputs: Sequence[Any]) -> dict[str, int]:
    """The numbers behind the symbols that stand alone as a dimension of an input."""
    found: dict[str, int] = {}
    for value, array in zip(graph.inputs, inputs, strict=True):
        for size, number in zip(value.type.shape, np.shape(array), strict=True):
            if isinstance(size, Dim) and size.symbols == {str(size)}:
                found.setdefault(str(size), number)
    return found

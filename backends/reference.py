"""Run a graph in NumPy: this defines every op.

The graph is walked in order. Each op applies its `OpDef.numpy` to operands cast to the dtypes that it computes in;
`stated` defines what NumPy leaves open. Graphs of any stage of the pipeline can be run. A reduction to which
`lower-reductions` has given a tree follows that tree (see `tree`), so it has the same bits as native code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..ir import dims
from ..ir.composites import TOTAL, recognise
from ..ir.dims import Dim
from ..ir.dtypes import DType, python_type
from ..ir.errors import IndexProblem, Span, Unsupported, ValueProblem, WeftError
from ..ir.graph import Graph, Node, Value
from ..ir.ops import FLOW, LOOP, NUMPY, TABLE
from ..ir.types import Attr, Sizes, axis_groups, integer, ints
from ..ir.windows import product_in_sum
from . import flow, stated, tree

Calls = Sequence[Callable[..., tuple[Any, ...]]]
Meanings = Mapping[str, Callable[..., Any]]
# Attributes that tell how an op is computed, not what it computes.
CHOICE = frozenset(
    ("impl", "score", "follows", "like", "core", "composite", "chunk", "moment_part", "cut_from", "keep")
)
IDENTITY = {"sum": (np.add, 0.0), "prod": (np.multiply, 1.0)}


def run(
    graph: Graph,
    inputs: Sequence[Any],
    env: Mapping[str, int] | None = None,
    calls: Calls = (),
    meanings: Meanings = stated.MEANINGS,
) -> tuple[Any, ...]:
    """Runs a graph on these inputs; returns its outputs.

    `env` adds sizes that no input has, `calls` are the NumPy functions that its `numpy` nodes name by number.
    `meanings` replaces the NumPy meaning of ops, by name.
    """
    sizes = {**_sizes_of(graph.inputs, inputs), **(env or {})}
    values: dict[Value, Any] = dict(zip(graph.inputs, inputs, strict=True))
    with np.errstate(all="ignore"):
        for node in graph:
            if "composite" in node.attrs and _is_long(node, values):
                results: tuple[Any, ...] = (_run_composite(node, values, meanings),)
            elif "chained" in node.attrs:
                results = (_run_chain(node, values, sizes),)
            else:
                results = _run_node(node, [values[v] for v in node.operands], sizes, calls, meanings)
            values.update(zip(node.results, results, strict=True))
    return tuple(_output(v, values[v]) for v in graph.outputs)


def _output(value: Value, x: Any) -> np.ndarray[Any, Any]:
    """Converts a result to an array of its dtype; the result of a NumPy function keeps its byte order."""
    if value.node is not None and value.node.op is NUMPY and not np.asarray(x).dtype.isnative:
        return np.asarray(x)
    return np.asarray(x, value.type.dtype.numpy)


def _is_long(node: Node, values: Mapping[Value, Any]) -> bool:
    """Tell whether a sum shares the walk of the reduction that it needs."""
    shape: tuple[int, ...] = np.shape(values[node.operands[0]])
    return math.prod(shape[a] for a in ints(node.attrs, "axes")) >= integer(node.attrs, "cut_from")


def _run_composite(node: Node, values: Mapping[Value, Any], meanings: Meanings) -> Any:
    kind, found = str(node.attrs["composite"]), recognise(node)
    plan = {name: node.attrs[name] for name in ("axes", "order", "lanes", "steps")}
    plan["chunk"] = node.attrs.get("moment_part", node.attrs["chunk"])
    plan["keepdims"] = node.attrs.get("keepdims", False)
    exp = meanings.get(kind, np.exp2 if kind == "exp2" else np.exp)
    if kind == TOTAL:
        u = np.asarray(values[node.operands[0]])
        shift = np.zeros(tree.reduced_shape(u, ints(node.attrs, "axes"), False), u.dtype)
    else:
        assert found is not None
        u, shift = np.asarray(values[found.u]), np.asarray(values[found.shift])
    return meanings.get("composite", tree.composite)(kind, exp, u, shift, **plan)


def _run_chain(node: Node, values: Mapping[Value, Any], sizes: Mapping[str, int]) -> Any:
    found, order = product_in_sum(node), axis_groups(node.attrs, "order")
    assert found is not None
    product, views = found
    a, b = np.broadcast_arrays(*(values[v] for v in product.operands))
    for view in reversed(views):
        attrs, meaning = {k: _resolve(x, sizes) for k, x in view.attrs.items() if k not in CHOICE}, view.op.numpy
        assert meaning is not None
        a, b = (meaning(x, **attrs) for x in (a, b))
    return tree.chain(a, b, ints(node.attrs, "axes"), bool(node.attrs.get("keepdims")), order)


def _run_node(
    node: Node, operands: list[Any], sizes: dict[str, int], calls: Calls, meanings: Meanings
) -> tuple[Any, ...]:
    if node.op in FLOW:
        return flow.run(node, operands, lambda inner, given: _run_node(inner, given, sizes, calls, meanings))
    if node.op is LOOP:
        return _run_loop(node, operands, sizes, calls, meanings)
    if node.body is not None:
        return run(node.body, operands, sizes, calls, meanings)
    if node.op is NUMPY:
        return _run_numpy(node, operands, sizes, calls, meanings)
    attrs = {name: _resolve(attr, sizes) for name, attr in node.attrs.items() if name not in CHOICE}
    compute, _ = node.op.dtypes(tuple(v.type.dtype for v in node.operands), node.attrs)
    # A weak number among arrays is passed to NumPy as a Python number, because NumPy knows best how to convert it. In
    # an elementwise program it is an array with one number per element.
    mixed = isinstance(node.op.numpy, np.ufunc) and not all(v.type.dtype.weak for v in node.operands)
    cast = [
        python_type(v.type.dtype)(x) if mixed and v.type.dtype.weak and not np.ndim(x) else _cast(x, v.type.dtype, to)
        for x, v, to in zip(operands, node.operands, compute, strict=True)
    ]
    if node.op.name in IDENTITY and attrs.get("steps") and node.op.name not in meanings:
        return (tree.reduce(*IDENTITY[node.op.name], np.asarray(cast[0]), **{"keepdims": False, **attrs}),)
    meaning = meanings.get(node.op.name, node.op.numpy)
    assert meaning is not None, node.op.name
    with _typed_errors(node.span):
        return (meaning(*cast, **attrs),)


def run_number(node: Node, operands: Sequence[Any], sizes: Mapping[str, int]) -> tuple[Any, ...]:
    """Runs an op on numbers, as loop nests use it."""
    return _run_node(node, list(operands), dict(sizes), (), stated.MEANINGS)


def _run_loop(
    node: Node, operands: list[Any], sizes: dict[str, int], calls: Calls, meanings: Meanings
) -> tuple[Any, ...]:
    assert node.body is not None
    count = integer(node.attrs, "carried")
    go, state, others = operands[0], tuple(operands[1 : 1 + count]), operands[1 + count :]
    while go:
        go, *after = run(node.body, [*state, *others], sizes, calls, meanings)
        state = tuple(after)
    return state


def run_op(node: Node, operands: Sequence[Any], sizes: Mapping[str, int], meanings: Meanings = stated.MEANINGS) -> Any:
    """Run an op without native code for these dtypes, as a `numpy` node names it."""
    op = TABLE[str(node.attrs["op"])]
    attrs = {name: _resolve(a, sizes) for name, a in node.attrs.items() if name not in ("op", "function", *CHOICE)}
    meaning = meanings.get(op.name, op.numpy)
    assert meaning is not None, op.name
    with np.errstate(all="ignore"), _typed_errors(node.span):
        return meaning(*operands, **attrs)


@contextmanager
def _typed_errors(span: Span | None) -> Iterator[None]:
    """Turn an error that NumPy raises about values into a typed error with a source span."""
    try:
        yield
    except WeftError as error:
        error.span = error.span or span
        raise
    except IndexError as error:
        raise IndexProblem(str(error), span) from None
    except ValueError as error:
        raise ValueProblem(str(error), span) from None


def _run_numpy(
    node: Node, operands: list[Any], sizes: dict[str, int], calls: Calls, meanings: Meanings
) -> tuple[Any, ...]:
    """Run a function without an op, or an op without native code; its results define new sizes."""
    call = node.attrs.get("call")
    if "op" in node.attrs:
        results: tuple[Any, ...] = (run_op(node, operands, sizes, meanings),)
    elif isinstance(call, int) and call < len(calls):
        results = calls[call](*operands)
    else:
        raise Unsupported(f"the graph calls NumPy function {node.attrs['function']}, but was given no calls", node.span)
    sizes.update(_sizes_of(node.results, results))
    return results


def _cast(x: Any, have: DType, want: DType) -> Any:
    return x if have == want and not have.weak else np.asarray(x, have.numpy).astype(want.numpy)


def _resolve(attr: Attr, sizes: Mapping[str, int]) -> Any:
    if isinstance(attr, Sizes):
        return tuple(dims.evaluate(s, sizes) for s in attr)
    return attr.numpy if isinstance(attr, DType) else attr


def _sizes_of(values: Sequence[Value], arrays: Sequence[Any]) -> dict[str, int]:
    """Return the numbers of symbols that are a whole dimension of some array."""
    found: dict[str, int] = {}
    for value, array in zip(values, arrays, strict=True):
        for size, number in zip(value.type.shape, np.shape(array), strict=True):
            if isinstance(size, Dim) and size.symbols == {str(size)}:
                found.setdefault(str(size), number)
    return found

"""Traces a function or an expression, runs its graph by the reference backend, and compares with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from weft.backends.reference import run
from weft.frontend.tracing.functions import TracedFunction
from weft.ir import dtypes
from weft.ir.graph import Graph, Node, Value
from weft.ir.ops import NUMPY
from weft.ir.source import ArgType, Built
from weft.ir.types import ints


def arg_type(x: Any) -> ArgType:
    """Return the type that the runtime passes for an argument."""
    if type(x) in (int, float, complex):
        return ArgType(dtypes.WEAK[type(x).__name__], (), x)
    array = np.asarray(x)
    return ArgType(dtypes.from_numpy(array.dtype), array.shape, array)


def build(function: Callable[..., Any], *args: Any, static: Sequence[str] = (), **kwargs: Any) -> Built:
    """The graph of a function for these arguments."""
    return prepare(function, *args, static=static, **kwargs)[0]


def prepare(
    function: Callable[..., Any], *args: Any, static: Sequence[str] = (), **kwargs: Any
) -> tuple[Built, tuple[Any, ...]]:
    source = TracedFunction(function, static, run)

    def once() -> tuple[Built, tuple[Any, ...]]:
        kernel, values = source.select(args, kwargs)
        types = [arg_type(v) for v in values]
        return kernel.build(kernel.bind(types), types), values

    return source.with_numbers(once)


def execute(built: Built, values: Sequence[Any]) -> Any:
    """The outputs of a built graph, with NumPy's functions run between pieces, in the user's structure."""
    graph = built.graph
    known: dict[Value, Any] = dict(zip(graph.inputs, (*values, *built.hidden), strict=True))
    piece: list[Node] = []
    for node in graph:
        if node.op is not NUMPY:
            piece.append(node)
            continue
        operands = run(Graph("piece", tuple(known), tuple(piece), node.operands), list(known.values()))
        (place,) = ints({"call": (node.attrs["call"],)}, "call")  # type: ignore[dict-item]
        known.update(zip(node.results, built.calls[place](*operands), strict=True))
    outputs = run(Graph("piece", tuple(known), tuple(piece), graph.outputs), list(known.values()))
    kinds = graph.attrs["results"]
    assert isinstance(kinds, tuple) and built.structure is not None
    hand = {"array": lambda x: x, "scalar": lambda x: x[()], "number": lambda x: x.item()}
    return built.structure.pack([hand[str(k)](x) for x, k in zip(outputs, kinds, strict=True)])


def traced(function: Callable[..., Any], *args: Any, static: Sequence[str] = (), **kwargs: Any) -> Any:
    """Trace a function and return its results."""
    return execute(*prepare(function, *args, static=static, **kwargs))


def check(function: Callable[..., Any], *args: Any, static: Sequence[str] = (), **kwargs: Any) -> None:
    """Check that a traced function gives NumPy's values, dtype, shape, and scalar or array."""
    with np.errstate(all="ignore"):
        expected = function(*args, **kwargs)
    same(traced(function, *args, static=static, **kwargs), expected)


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    wanted = np.asarray(expected)
    assert np.shape(found) == wanted.shape, (found, expected)
    assert np.asarray(found).dtype == wanted.dtype, (np.asarray(found).dtype, wanted.dtype)
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray), (type(found), type(expected))
    if wanted.dtype.kind in "fc":
        np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(wanted.dtype).eps, atol=0, equal_nan=True)
    else:
        np.testing.assert_array_equal(found, wanted)

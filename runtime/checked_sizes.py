"""Bind the sizes of arrays to names, and check a graph's assumptions about them.

Most sizes are those of arguments, and their guards are checked before a call starts. Others are known only after a
NumPy function between two compiled pieces has run. Its results must have the dtypes and ranks seen during tracing, and
the guards on their sizes are checked before anything reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ir import dims
from ..ir.dims import Dim, Size
from ..ir.graph import Graph, Node, Value, graph_guards
from ..ir.ops import NUMPY
from ..ir.walking import walk

Array = np.ndarray[Any, Any]
Call = Callable[..., tuple[Any, ...]]


class SizesChanged(Exception):
    """Raised when a NumPy call inside a graph returns types or sizes that the graph was not compiled for."""


def bind_sizes(values: Sequence[Value], arrays: Sequence[Array], env: dict[str, int]) -> bool:
    """Add the sizes of arrays to `env`. Return whether every array has the shape of its type."""
    if any(value.type.rank != x.ndim for value, x in zip(values, arrays, strict=True)):
        return False
    for value, x in zip(values, arrays, strict=True):
        for size, number in zip(value.type.shape, x.shape, strict=True):
            if isinstance(size, Dim) and str(size) not in env and size.symbols == {str(size)}:
                env[str(size)] = number
    for value, x in zip(values, arrays, strict=True):
        for size, number in zip(value.type.shape, x.shape, strict=True):
            if (size if isinstance(size, int) else dims.evaluate(size, env)) != number:
                return False
    return True


class LateSizes:
    """The sizes of a graph that NumPy functions inside it determine, and the guards on them."""

    def __init__(self, graph: Graph) -> None:
        self._guards: dict[Node, list[tuple[Size, Size]]] = {}
        nodes = [n for n in walk(graph) if n.op is NUMPY]
        pending = [(a, b, _late(a) | _late(b)) for a, b in graph_guards(graph)] if nodes else []
        shown: set[str] = set()
        for node in nodes:
            shown.update(name for v in node.results for size in v.type.shape for name in _late(size))
            self._guards[node] = [(a, b) for a, b, late in pending if late and late <= shown]
            pending = [guard for guard in pending if not guard[2] or not guard[2] <= shown]

    def guards(self, node: Node) -> Sequence[tuple[Size, Size]]:
        """Return the guards that can be checked once a function has run."""
        return self._guards.get(node, ())

    def take(self, node: Node, results: Sequence[Array], env: dict[str, int]) -> None:
        """Add the sizes of a function's results; raise `SizesChanged` if the graph was not compiled for them."""
        if len(results) != len(node.results):
            raise SizesChanged
        for value, x in zip(node.results, results, strict=True):
            native = x.dtype if x.dtype.isnative else x.dtype.newbyteorder("=")
            if native != value.type.dtype.numpy:
                raise SizesChanged
        if not bind_sizes(node.results, results, env):
            raise SizesChanged
        # A size of 1 broadcasts, so a graph compiled for one has the number in its types.
        late = {name for v in node.results for size in v.type.shape for name in _late(size)}
        if any(env[name] == 1 for name in late):
            raise SizesChanged
        if any(dims.evaluate(a, env) != dims.evaluate(b, env) for a, b in self.guards(node)):
            raise SizesChanged


def checked_calls(graph: Graph, calls: Sequence[Call], env: Mapping[str, int]) -> list[Call]:
    """Wrap a graph's functions for one run, so that each checks its results."""
    late, sizes, made = LateSizes(graph), dict(env), list(calls)
    for node in walk(graph):
        number = node.attrs.get("call") if node.op is NUMPY else None
        if isinstance(number, int) and number < len(calls):
            made[number] = partial(_checked, calls[number], late, node, sizes)
    return made


def _checked(call: Call, late: LateSizes, node: Node, sizes: dict[str, int], *operands: Any) -> tuple[Any, ...]:
    found = call(*operands)
    late.take(node, [np.asarray(x) for x in found], sizes)
    return found


def _late(size: Size) -> frozenset[str]:
    return frozenset(name for name in dims.symbols(size) if dims.age(name) >= 0)

"""Find which NumPy calls produce the sizes that are known only after they have run."""

from __future__ import annotations

from ...ir import dims
from ...ir.dims import Dim
from ...ir.graph import Graph, Node, Value
from ...ir.ops import NUMPY
from ...ir.types import Sizes


def size_makers(graph: Graph) -> dict[str, Value]:
    """The NumPy results that define sizes which no input defines, by symbol."""
    shown = {s for v in graph.inputs for size in v.type.shape for s in dims.symbols(size)}
    found: dict[str, Value] = {}
    for node in graph:
        if node.op is not NUMPY:
            continue
        for value in node.results:
            for size in value.type.shape:
                if isinstance(size, Dim) and size.symbols == {str(size)} and str(size) not in shown:
                    found.setdefault(str(size), value)
    return found


def used_symbols(node: Node) -> frozenset[str]:
    """The size symbols that a node uses, in its result shapes and attributes."""
    used = [size for r in node.results for size in r.type.shape]
    used += [size for attr in node.attrs.values() if isinstance(attr, Sizes) for size in attr]
    return frozenset().union(*(dims.symbols(size) for size in used))

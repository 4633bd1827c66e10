"""`drop-dead`: remove operations that no output needs.

Before:

    %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()

After:

    %0 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()

Needs nothing. Guarantees that every operation leads to an output, makes a size that one needs, or is a NumPy function
that must run because the trace may have read its result, and because NumPy would raise its errors. Inputs and guards
stay, because they belong to the call. An operation that can fail, such as a lookup by an index array, is kept for its
error: the first output depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ..ir.errors import IndexProblem
from ..ir.flow import map_bodies
from ..ir.graph import Graph, Node, Value
from ..ir.ops import DEMAND, GATHER, TABLE
from ..ir.records import record
from ..ir.rewrite import Rewriter
from .planning.sizes import size_makers, used_symbols

EQ, NE, OR, ALL = (TABLE[name] for name in ("eq", "ne", "logical_or", "all"))
FAILING = (GATHER, DEMAND)


@record
class DropDead:
    """Keeps what the outputs need."""

    name: ClassVar[str] = "drop-dead"

    def run(self, graph: Graph) -> Graph:
        return self._shortened(map_bodies(graph, self._shortened), keeps_errors=True)

    def _shortened(self, graph: Graph, keeps_errors: bool = False) -> Graph:
        needed = {v.node for v in graph.outputs if v.node is not None}
        needed.update(node for node in graph if "from_data" in node.attrs)
        makers = {symbol: value.node for symbol, value in size_makers(graph).items() if value.node is not None}
        only_failing: list[Node] = []
        for node in reversed(graph.nodes):
            if node.op in FAILING and node not in needed and keeps_errors and graph.outputs:
                only_failing.append(node)
                needed.add(node)
            if node in needed:
                needed.update(v.node for v in node.operands if v.node is not None)
                if makers:
                    needed.update(makers[s] for s in used_symbols(node) & makers.keys() if makers[s] is not node)
        if len(needed) == len(graph) and not only_failing:
            return graph
        rewriter = Rewriter(graph)
        for node in graph:
            if node in needed:
                rewriter.copy(node)
        if only_failing:
            _demand(rewriter, graph.outputs[0], [node.result for node in only_failing])
        return rewriter.finish()


def _demand(rewriter: Rewriter, output: Value, values: Iterable[Value]) -> None:
    """Make an output fail if one of these values does."""
    build, result = rewriter.builder.op, rewriter.get(output)
    for value in values:
        found = rewriter.get(value)
        is_computed = build(OR, build(EQ, found, found), build(NE, found, found))  # true once it is read
        if found.type.rank:
            is_computed = build(ALL, is_computed, axes=tuple(range(found.type.rank)))
        result = build(
            DEMAND, result, is_computed, error=IndexProblem.__name__, message="an index is out of bounds",
            span=value.node.span if value.node else None,
        )  # fmt: skip
    rewriter.replace(output, result)

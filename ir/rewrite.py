"""Rebuild a graph node by node with some values replaced; passes write graphs this way.

Names, attributes, spans and guards are kept. The equalities behind the guards are assumed before anything is
built, so sizes that were known to be equal in the old graph are equal in the new one.
"""

from __future__ import annotations

from collections.abc import Sequence

from .builder import Builder
from .facts import Facts
from .graph import Graph, Node, Value, graph_guards
from .ops import DECLARED


def facts_of(graph: Graph) -> Facts:
    """The facts about sizes that the graph's guards state."""
    facts, guards = Facts(), graph_guards(graph)
    if guards.solved is not None:
        facts.restore(guards.solved)
        return facts
    for left, right in guards:
        facts.assume_equal(left, right)
    guards.solved = facts.state()
    return facts


class Rewriter:
    """Maps the values of `graph` to values of a new graph while a pass walks over its nodes in order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.builder = Builder(graph.name, facts_of(graph))
        self.builder.attrs.update({k: v for k, v in graph.attrs.items() if k != "guards"})
        self.values: dict[Value, Value] = {v: self.builder.input(v.name or "in", v.type) for v in graph.inputs}

    def get(self, value: Value) -> Value:
        """The new graph's replacement for an old value."""
        return self.values[value]

    def operands(self, node: Node) -> tuple[Value, ...]:
        return tuple(self.values[v] for v in node.operands)

    def replace(self, old: Value, new: Value) -> None:
        """Replaces `old` by `new` from here on."""
        self.values[old] = new

    def copy(self, node: Node, operands: Sequence[Value] | None = None) -> Node:
        """Copies an operation to the new graph, with its mapped operands or with others."""
        if operands is None:
            operands = self.operands(node)
        types = None
        # The rules only see types and attributes: if these are equal, so are the results.
        if node.op in DECLARED or all(_same_type(a, b) for a, b in zip(operands, node.operands, strict=True)):
            types = tuple(r.type for r in node.results)
        copy = self.builder.node(node.op, operands, node.attrs, node.span, node.body, types)
        copy.code = node.code
        self.values.update(zip(node.results, copy.results, strict=True))
        return copy

    def finish(self) -> Graph:
        """Returns the new graph, with the mapped outputs."""
        return self.builder.finish([self.values[v] for v in self.graph.outputs], graph_guards(self.graph))


def _same_type(a: Value, b: Value) -> bool:
    return a.type is b.type or a.type == b.type

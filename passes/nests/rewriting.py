"""Rebuild a nest node by node, with bodies first, and replace values that have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ...ir import dims
from ...ir.dims import Size
from ...ir.graph import Graph, Node, Value, graph_guards
from ...ir.types import Attr, Sizes, TensorType, texts
from .writing import NestBlock

Around = tuple[Node, ...]


class NestStep(Protocol):
    """What a pass does with each node, and whether anything has changed."""

    has_changed: bool

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None: ...


def rewritten(nest: Graph, step: NestStep) -> Graph:
    """Return the nest as a step rewrites it, or the very same nest if nothing changes."""
    made = NestRewriter(step.visit).run(nest)
    return made if step.has_changed else nest


def guard_facts(nest: Graph) -> list[Size]:
    """Return the sizes that are not negative because of the guards of a nest, for proofs."""
    return [size for a, b in graph_guards(nest) for size in (a - b, b - a)]


def layouts_of(nest: Graph) -> dict[Value, str]:
    """Return the layout classes of the buffers."""
    return dict(zip(nest.inputs, texts(nest.attrs, "layouts"), strict=False))


class NestRewriter:
    """Copies a nest. `visit` rewrites a node; `copy` keeps it."""

    def __init__(self, visit: Callable[[NestRewriter, Node, Around, NestBlock], None]) -> None:
        self.visit = visit
        self.values: dict[Value, Value] = {}

    def run(self, nest: Graph) -> Graph:
        return Graph(nest.name, nest.inputs, tuple(self.body(nest, ()).nodes), nest.outputs, nest.attrs)

    def body(self, graph: Graph, around: Around) -> NestBlock:
        block = NestBlock(None)
        for node in graph:
            self.visit(self, node, around, block)
        return block

    def operands(self, node: Node) -> tuple[Value, ...]:
        return tuple(self.values.get(v, v) for v in node.operands)

    def copy(
        self,
        node: Node,
        around: Around,
        block: NestBlock,
        attrs: Mapping[str, Attr] | None = None,
        last: tuple[Node, ...] = (),
    ) -> None:
        """Copies a node and its body, with other attributes and `last` nodes at the end of the body."""
        body = node.body
        if body is not None:
            inner = (*self.body(body, (*around, node)).nodes, *last)
            body = Graph(body.name, body.inputs, inner, tuple(self.values.get(v, v) for v in body.outputs))
        types = tuple(r.type for r in node.results)
        made = Node(node.op, self.operands(node), node.attrs if attrs is None else attrs, types, node.span, body)
        for old, new in zip(node.results, made.results, strict=True):
            new.name = old.name
            self.values[old] = new
        block.nodes.append(made)


class Substitution:
    """Copies nodes with other sizes in place of variables."""

    def __init__(self, env: Mapping[str, Size]) -> None:
        self.env = env
        self.values: dict[Value, Value] = {}

    def nodes(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(map(self.copy, nodes))

    def copy(self, node: Node) -> Node:
        body = node.body
        if body is not None:
            inner = self.nodes(body.nodes)
            body = Graph(body.name, body.inputs, inner, tuple(self.values.get(v, v) for v in body.outputs))
        attrs = {name: self.sizes(attr) if isinstance(attr, Sizes) else attr for name, attr in node.attrs.items()}
        types = [TensorType(r.type.dtype, tuple(self.sizes(Sizes(r.type.shape))), r.type.kind) for r in node.results]
        operands = tuple(self.values.get(v, v) for v in node.operands)
        made = Node(node.op, operands, attrs, tuple(types), node.span, body)
        for old, new in zip(node.results, made.results, strict=True):
            new.name = old.name
            self.values[old] = new
        return made

    def sizes(self, attr: Sizes) -> Sizes:
        return Sizes(dims.substitute(size, self.env) for size in attr)

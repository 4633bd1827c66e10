"""`forward-stores`: an element that was just stored or loaded is not loaded again, and unread memory is not written.

Before:

    %t = "nest.alloc"() {place = "call"} : () -> memref<?xf64, #weft.dims<n>>
    "nest.for"() ({
      "nest.store"(%1, %t) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      %2 = "nest.load"(%t) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %3 = "weft.exp"(%2) : (tensor<f64>) -> tensor<f64>
      ...

After:

    "nest.for"() ({
      %3 = "weft.exp"(%1) : (tensor<f64>) -> tensor<f64>
      ...

Two accesses are the same if they lead to the same element of the same buffer, whatever views are between. After a
store, what was known about its buffer is forgotten, except for elements at a constant distance. After a loop, what it
stores is forgotten.

Needs nests without assignments. Guarantees the same bits, and that no local memory is left that nothing loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from ..ir.dims import Size
from ..ir.graph import Graph, Node, Value
from ..ir.nest import ops
from ..ir.nest.scopes import base, inside, memory_of
from ..ir.records import record
from ..ir.types import sizes
from .nests.rewriting import Around, NestRewriter
from .nests.writing import NestBlock

Element = tuple[Value, tuple[Size, ...]]
Elements = dict[Element, Value]
EFFECTS = frozenset((ops.FETCH, ops.BIND, ops.CHECK, ops.ASK, ops.TERMS))
"""Ops that do something beside their results; stores are judged by their memory."""


@record
class ForwardStores:
    """Replace loads by known values, and drop what is then not needed."""

    name: ClassVar[str] = "forward-stores"

    def run(self, graph: Graph) -> Graph:
        forwarding = _Forwarding()
        nodes = forwarding.nodes(graph.nodes, {})
        made = graph
        if forwarding.has_changed:
            made = Graph(graph.name, graph.inputs, tuple(nodes), graph.outputs, graph.attrs)
        while dead := _Cleaning(made).dead:
            made = NestRewriter(_without(dead)).run(made)
        return made


class _Forwarding:
    def __init__(self) -> None:
        self.values: dict[Value, Value] = {}
        self.has_changed = False

    def nodes(self, nodes: Sequence[Node], known: Elements) -> list[Node]:
        """Replace loads of known elements, and record what becomes known."""
        made: list[Node] = []
        for node in nodes:
            if node.op in ops.ACCESSES:
                element = base(node.operands[-1], sizes(node.attrs, "at"))
                if node.op is ops.LOAD and element in known:
                    self.values[node.result] = known[element]
                    self.has_changed = True
                    continue
                node = self.copied(node, known)
                if node.op is ops.STORE:
                    _forget(known, element)
                known[element] = node.operands[0] if node.op is ops.STORE else node.result
            else:
                stored = {memory_of(n.operands[-1]) for n in inside(node) if n.op is ops.STORE}
                for element in [e for e in known if e[0] in stored]:
                    del known[element]
                node = self.copied(node, known)
            made.append(node)
        return made

    def copied(self, node: Node, known: Elements) -> Node:
        """Return a node with its operands and its body up to date, or the same node if nothing changes."""
        operands, body = tuple(self.values.get(v, v) for v in node.operands), node.body
        if body is not None:  # the body of a product has a form of its own
            inner = tuple(self.nodes(body.nodes, dict(known)) if node.op is not ops.PRODUCT else self.kept(body.nodes))
            outputs = tuple(self.values.get(v, v) for v in body.outputs)
            if inner != body.nodes or outputs != body.outputs:
                body = Graph(body.name, body.inputs, inner, outputs)
        if body is node.body and operands == node.operands:
            return node
        made = Node(node.op, operands, node.attrs, tuple(r.type for r in node.results), node.span, body)
        for old, new in zip(node.results, made.results, strict=True):
            new.name = old.name
            self.values[old] = new
        return made

    def kept(self, nodes: Sequence[Node]) -> list[Node]:
        return [self.copied(node, {}) for node in nodes]


def _forget(known: Elements, stored: Element) -> None:
    """Forget elements of a buffer that a store may change."""
    for element in [e for e in known if e[0] is stored[0] and not _are_apart(e[1], stored[1])]:
        del known[element]


def _are_apart(a: Sequence[Size], b: Sequence[Size]) -> bool:
    gaps = (x - y for x, y in zip(a, b, strict=True))
    return any(isinstance(gap, int) and gap != 0 for gap in gaps)


class _Cleaning:
    """Finds stores to local memory that nothing reads, and everything that nothing uses."""

    def __init__(self, nest: Graph) -> None:
        self.read: set[Value] = set()
        for node in _every(nest.nodes):
            if node.op not in (ops.STORE, ops.VIEW):
                self.read.update(memory_of(v) for v in node.operands if v.type.kind == "memref")
        self.used = set(nest.outputs)
        self.dead: set[Node] = set()
        self.visit(nest.nodes)

    def visit(self, nodes: Sequence[Node]) -> None:
        for node in reversed(nodes):
            if not self.is_needed(node):
                self.dead.add(node)
                continue
            self.used.update(node.operands)
            if node.body is not None:
                self.used.update(node.body.outputs)
                self.visit(node.body.nodes)

    def is_needed(self, node: Node) -> bool:
        if any(v in self.used for v in node.results):
            return True
        return self.has_effect(node) or any(map(self.has_effect, inside(node)))

    def has_effect(self, node: Node) -> bool:
        if node.op is not ops.STORE:
            return node.op in EFFECTS
        memory = memory_of(node.operands[-1])
        return memory.node is None or memory in self.read


def _without(dead: set[Node]) -> Callable[[NestRewriter, Node, Around, NestBlock], None]:
    def visit(rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        if node not in dead:
            rewriter.copy(node, around, block)

    return visit


def _every(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from inside(node)

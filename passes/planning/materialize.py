"""Insert a copy where a value must be in certain memory and can't be computed there.

- The memory of a concatenation is allocated once, and pieces are computed directly into it. This works for a piece that
  loops compute, whose memory belongs to nobody else (an output has its own) and that is a piece only once, if the size
  of the whole is known in advance. Any other piece is copied.
- The first state of a `loop` is read in place if it is in C order.
- The last state of a `loop` is in one of the buffers that carry the state, so an output of the graph is a copy of it.
  The outputs of its body are written into these buffers. The exception is a value that another variable takes over
  unchanged, as in `x = y`: it is passed on in its buffer.
"""

from __future__ import annotations

from ...ir.accesses import value_layouts
from ...ir.errors import Span
from ...ir.graph import Graph, Node, Value
from ...ir.indexing import is_affine
from ...ir.layouts import SCALAR, C
from ...ir.loops import carried
from ...ir.ops import CAST, COMPLEX, CONCATENATE, IMAG, LOOP, NUMPY, REAL, RESHAPE
from ...ir.rewrite import Rewriter
from .sizes import size_makers, used_symbols


def with_copies(graph: Graph) -> Graph:
    """Adds the copies."""
    if not any(n.op in (CONCATENATE, LOOP) for n in graph) and "carried" not in graph.attrs:
        return graph
    assembler = _Assembler(graph)
    for node in graph:
        if node.op is CONCATENATE:
            assembler.join(node)
        elif node.op is LOOP:
            assembler.start(node)
        else:
            assembler.copy(node)
    assembler.give_back()
    return assembler.finish() if assembler.changed else graph


class _Assembler(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.owned = set[Value]((*graph.inputs, *graph.outputs))
        self.late = size_makers(graph).keys()
        self.layouts = value_layouts(graph)
        self.outputs: list[Value] = []
        self.changed = False

    def join(self, node: Node) -> None:
        """Makes sure that the pieces of a concatenation are computed in place."""
        pieces = []
        for value in node.operands:
            is_free = not (value in self.owned or _has_memory(value.node) or used_symbols(node) & self.late)
            self.owned.add(value)
            pieces.append(self.get(value) if is_free else self.copied(value, node.span))
        self.copy(node, pieces)

    def start(self, node: Node) -> None:
        """Makes sure that a loop's state is in C order."""
        count = carried(node)
        state = [self.in_c_order(v, node.span) for v in node.operands[1 : 1 + count]]
        others = [self.get(v) for v in node.operands[1 + count :]]
        self.copy(node, [self.get(node.operands[0]), *state, *others])

    def in_c_order(self, value: Value, span: Span | None) -> Value:
        return self.get(value) if self.layouts[value] in (C, SCALAR) else self.copied(value, span)

    def give_back(self) -> None:
        """Copy what a loop computed.

        In a body, also copy what was not computed for its buffer and is not merely handed on.
        """
        count = self.graph.attrs.get("carried", 0)
        assert isinstance(count, int)
        state, seen = set(self.graph.inputs[:count]), set[Value]()
        for place, value in enumerate(self.graph.outputs):
            node = value.node
            needs = node is not None and node.op is LOOP
            if count and not (place and value in state):
                needs = value in seen or _has_memory(node)
            if place:
                state.discard(value)
            seen.add(value)
            self.outputs.append(self.copied(value, node.span if node else None) if needs else self.get(value))

    def copied(self, value: Value, span: Span | None) -> Value:
        self.changed = True
        new, op = self.get(value), self.builder.op
        if value.type.dtype.kind != "complex":
            return op(CAST, new, span=span, to=value.type.dtype)
        if new.node is not None and new.node.op is COMPLEX:
            return op(COMPLEX, *new.node.operands, span=span)
        return op(COMPLEX, op(REAL, new, span=span), op(IMAG, new, span=span), span=span)

    def finish(self) -> Graph:
        return self.builder.finish(self.outputs)


def _has_memory(node: Node | None) -> bool:
    """Whether the value's memory comes from something other than a loop nest."""
    return node is None or node.op in (NUMPY, LOOP) or (node.op is RESHAPE and not is_affine(node))

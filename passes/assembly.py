"""A flat graph in, the same graph out with copies where a piece of a `concatenate` can't be written into its place.

Memory of a concatenation is allocated once, and what makes a piece writes it there. A value can do so if loops make
it, nobody else owns its memory (an output has its own), it is a piece only once, and the size of the whole is known
before it is made. Anything else is copied in.
"""

from __future__ import annotations

from ..ir.graph import Graph, Node, Value
from ..ir.indexing import is_affine
from ..ir.ops import CAST, COMPLEX, CONCATENATE, IMAG, NUMPY, REAL, RESHAPE
from ..ir.rewrite import Rewriter
from .sizes import size_makers, used_symbols


def with_copies(graph: Graph) -> Graph:
    """Makes every piece of every concatenation a value that is made in place."""
    if not any(n.op is CONCATENATE for n in graph):
        return graph
    owned, late = set[Value]((*graph.inputs, *graph.outputs)), size_makers(graph).keys()
    rewriter, changed = Rewriter(graph), False
    for node in graph:
        if node.op is not CONCATENATE:
            rewriter.copy(node)
            continue
        pieces = []
        for value in node.operands:
            is_free = not (value in owned or _has_memory(value.node) or used_symbols(node) & late)
            owned.add(value)
            pieces.append(rewriter.get(value) if is_free else _copy(rewriter, value, node))
            changed |= not is_free
        rewriter.copy(node, pieces)
    return rewriter.finish() if changed else graph


def _has_memory(node: Node | None) -> bool:
    """Whether something else than loops makes the value, or lends it memory."""
    return node is None or node.op is NUMPY or (node.op is RESHAPE and not is_affine(node))


def _copy(rewriter: Rewriter, value: Value, node: Node) -> Value:
    builder, new = rewriter.builder, rewriter.get(value)
    if value.type.dtype.kind != "complex":
        return builder.op(CAST, new, span=node.span, to=value.type.dtype)
    if new.node is not None and new.node.op is COMPLEX:
        return builder.op(COMPLEX, *new.node.operands, span=node.span)
    return builder.op(
        COMPLEX, builder.op(REAL, new, span=node.span), builder.op(IMAG, new, span=node.span), span=node.span
    )

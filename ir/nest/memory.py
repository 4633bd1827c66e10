"""Examine the memory that a nest uses: stores to both parts of a complex number, and the size of allocations."""

from __future__ import annotations

from .. import dims
from ..dims import LOOP, Size
from ..errors import Unsupported
from ..graph import Graph, Node, Value
from ..proofs import follows
from ..types import sizes
from .ops import ASK, BIND, CHECK, LOAD, STORE
from .scopes import base, places, variables


def paired_stores(graph: Graph) -> dict[Node, Node]:
    """Find stores to the real and the imaginary part of one complex number, in this order, that can become one store.

    Nothing between them may touch the real part, or fail. The result has the first store for each second one.
    """
    pending, found = dict[tuple[Value, tuple[Size, ...]], Node](), dict[Node, Node]()
    for node in graph:
        if node.op in (LOAD, STORE):
            owner, index = base(node.operands[-1], sizes(node.attrs, "at"))
            is_part = node.op is STORE and has_parts(owner) and index[-1] in (0, 1)
            if is_part and index[-1] == 1 and (first := pending.pop((owner, index[:-1]), None)) is not None:
                found[node] = first
            if not has_parts(owner) or index[-1] != 1:
                pending = {place: n for place, n in pending.items() if place[0] is not owner}
            if is_part and index[-1] == 0:
                pending[owner, index[:-1]] = node
        elif node.op in (CHECK, BIND, ASK) or node.body is not None:
            pending = {}
    return found


def has_parts(owner: Value) -> bool:
    """Whether the last axis of a buffer may be the two parts of complex numbers."""
    return owner.type.rank > 0 and owner.type.shape[-1] == 2 and owner.type.dtype.kind in ("float", "int", "uint")


def most_bytes(nest: Graph, node: Node) -> Size:
    """Return the most bytes that an allocation needs, for all steps of the loops around it."""
    bytes = dims.product(node.result.type.shape) * node.result.type.dtype.size
    if not any(name.startswith(LOOP) for name in dims.symbols(bytes)):
        return bytes
    around = next(p.around for p in places(nest) if p.node is node)
    for variable in reversed([v for loop in around for v in variables(loop)]):
        ends = [dims.substitute(bytes, {LOOP + variable.name: end}) for end in (variable.end - 1, variable.first)]
        most = next((end for end in ends if follows(end - bytes, variable.facts)), None)
        if most is None:
            raise Unsupported(f"the size of this memory may grow and shrink as @{variable.name} grows", node.span)
        bytes = most
    return bytes

"""Decide whether loops may write to memory that they read, with the result as if they read everything first.

A load must not see what an earlier iteration stored. Loops are compared from the outside in. If the element is stored
in a later step than it is loaded, the order is fine. If both are in the same step, the next inner loop decides, and
finally the order in the body.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.dims import Size
from ...ir.graph import Graph, Node, Value
from ...ir.nest.dependence import Meeting, dependence_problem, meeting
from ...ir.nest.ops import LOOPS, PRODUCT
from ...ir.nest.scopes import Location, MemoryAccess, accesses, variables


def reads_first(
    nodes: Sequence[Node], around: tuple[Node, ...], loaded: set[Value], stored: set[Value], facts: Sequence[Size]
) -> bool:
    """Tell whether no load from these buffers can see a store by the same nodes, if loops run as their kinds allow.

    `loaded` and `stored` are the operands of the relevant loads and stores: views of the same memory differ.
    """
    fragment = Graph("nest", (), tuple(nodes), ())
    found = located(fragment, around)
    touched = accesses(found)
    loads = [a for a in touched if not a.is_store and a.place.node.operands[0] in loaded]
    stores = [a for a in touched if a.is_store and a.place.node.operands[1] in stored]
    for load in loads:
        for store in stores:
            if load.buffer is store.buffer and not _comes_first(fragment, load, store, len(around), facts):
                return False
    for place in found:
        if place.node.op in LOOPS:
            inner = [a for a in touched if place.node in a.place.around]
            if dependence_problem(fragment, place.node, inner, facts) is not None:
                return False
    return True


def located(fragment: Graph, around: tuple[Node, ...]) -> list[Location]:
    """The nodes of a part of a nest, with the loops around it, in the order in which they run."""
    found: list[Location] = []

    def collect(graph: Graph, loops: tuple[Node, ...]) -> None:
        for node in graph:
            found.append(Location(node, loops, len(found)))
            if node.body is not None:
                collect(node.body, (*loops, node))

    collect(fragment, around)
    return found


def _comes_first(fragment: Graph, load: MemoryAccess, store: MemoryAccess, outer: int, facts: Sequence[Size]) -> bool:
    for ours, theirs in zip(load.place.around[outer:], store.place.around[outer:], strict=False):
        if ours is not theirs or ours.op is PRODUCT:  # whose sums are made in any order: the table is for that
            break
        for variable in variables(ours):
            distance = meeting(fragment, ours, variable.name, load, store, facts)
            if distance is Meeting.NEVER:
                return True
            if distance is Meeting.UNKNOWN or distance < 0:
                return False
            if distance > 0:
                return True
    return load.place.order < store.place.order

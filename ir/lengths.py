"""Decide which regions of a scheduled graph have long columns for the sizes of a call.

A region whose plan has `cut_from` is compiled in one of two ways: for columns of fewer elements each row is walked as
a whole, for longer ones in chunks that threads share. A compiled graph has the one that its first call needs; guards
keep other calls away from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import dims
from .dims import Size
from .graph import Graph, Node
from .types import integer, ints, sizes
from .walking import regions


def columns_of(region: Node) -> Size:
    """How many elements of a region's space one row has."""
    space = tuple(sizes(region.attrs, "space"))
    return dims.product(space[axis] for axis in ints(region.attrs, "reduced"))


def long_regions(graph: Graph, env: Mapping[str, int]) -> dict[Node, bool]:
    """Whether the columns of each region that is compiled in two ways are long; those of unknown sizes are left out."""
    found = {}
    for node in regions(graph):
        if "cut_from" in node.attrs and dims.symbols(columns_of(node)) <= env.keys():
            found[node] = dims.evaluate(columns_of(node), env) >= integer(node.attrs, "cut_from")
    return found


def length_guards(long: Mapping[Node, bool]) -> list[tuple[Size, Size]]:
    """Equalities between sizes that hold as long as columns are as long, or as short, as they were."""
    found: list[tuple[Size, Size]] = []
    for region, is_long in long.items():
        columns, limit = columns_of(region), integer(region.attrs, "cut_from")
        bound = dims.maximum(columns, limit) if is_long else dims.minimum(columns, limit - 1)
        found.append((bound, columns))
    return found

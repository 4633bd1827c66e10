"""Describe the order in which a graph's sums add, to tell whether two graphs give the same bits."""

from __future__ import annotations

from collections.abc import Container, Mapping

from ...ir.graph import Graph, Node
from ...ir.loops import regions
from ...ir.ops import Trait
from ...ir.types import Attr, AxisGroups, axis_groups, sizes

# What does not change the order in which a reduction combines elements, or is compared in another form.
_ASIDE = frozenset(("axes", "keepdims", "order", "impl", "score", "variant", "keep"))
_LOOPS = frozenset(
    (
        *("space", "reduced", "rows", "columns", "vector", "layouts", "width", "unroll", "cost", "tile", "chunk"),
        *("scanned", "form", "guards", "cut_from", "shared_walks", "spread", "stream", "taps", "peel", "prefetch"),
        "early_exit",
    )
)


def trees(graph: Graph, ones: Container[str]) -> list[Mapping[str, Attr]]:
    """How each reduction whose order matters combines elements, if those sizes are 1; of one element it is nothing."""
    found: list[Mapping[str, Attr]] = []
    for region in regions(graph):
        for node in region.body or ():
            if Trait.REDUCTION in node.op.traits and node.attrs.get("steps"):
                order = _order(region, node, ones)
                found.append({"op": node.op.name} if not order else _described(region, node) | {"order": order})
    return found


def _described(region: Node, node: Node) -> dict[str, Attr]:
    others = {k: v for k, v in region.attrs.items() if k not in _LOOPS}
    own = {k: v for k, v in node.attrs.items() if k not in _ASIDE}
    return {**others, **own, "op": node.op.name}


def _order(region: Node, node: Node, ones: Container[str]) -> AxisGroups:
    """The walk over the elements without axes of size 1; an inner loop of one step is a block of its own, and stays."""
    space = sizes(region.attrs, "space")
    groups = [[a for a in group if str(space[a]) not in ones] for group in axis_groups(node.attrs, "order")]
    while groups and not groups[0]:
        groups.pop(0)
    return AxisGroups(map(tuple, groups))

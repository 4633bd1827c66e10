"""Find the largest element that a region holds in vectors; it decides the number of lanes."""

from __future__ import annotations

from .accesses import coefficient, region_elements
from .complexes import PARTS
from .graph import Node
from .ops import POSITIONS, SCAN, Trait


def widest(region: Node, vector: int) -> int:
    """The size in bytes if vectors run along the axis `vector`. Values with one number per row do not count."""
    assert region.body is not None
    values = {v for v, index in region_elements(region) if any(coefficient(i, vector) != 0 for i in index)}
    for node in region.body:
        if Trait.REDUCTION in node.op.traits or node.op is SCAN:
            # Totals are vectors of the added dtype; positions are not added up.
            values.update(node.operands if node.op in POSITIONS else (*node.operands, node.result))
    return max((PARTS.get(v.type.dtype, v.type.dtype).size for v in values), default=4)

"""Find the largest element that a region holds in vectors; it decides the number of lanes."""

from __future__ import annotations

from .accesses import coefficient, region_elements
from .complexes import PARTS
from .graph import Node
from .ops import POSITIONS, SCAN, Trait

WHOLE = 64  # bytes of the largest vectors


def narrow_vectors(region: Node, width: int, vector: int) -> int | None:
    """The bytes of the machine's vectors if they are smaller than the largest ones, as far as the region's plan tells.

    Mathematical functions may compute in wider elements than any value has, so their vectors do not tell it.
    """
    assert region.body is not None
    values = [*region.body.inputs, *(v for node in region.body for v in node.results)]
    sizes = {PARTS.get(v.type.dtype, v.type.dtype).size for v in values}
    bytes = width * (widest(region, vector) if len(sizes) > 1 else max(sizes, default=4))
    return bytes if bytes < WHOLE else None


def widest(region: Node, vector: int) -> int:
    """The size in bytes, if vectors run along the axis `vector`; values with one number per row do not count."""
    assert region.body is not None
    values = {v for v, index in region_elements(region) if any(coefficient(i, vector) != 0 for i in index)}
    for node in region.body:
        if Trait.REDUCTION in node.op.traits or node.op is SCAN:
            # Totals are vectors of the added dtype; positions are not added up.
            values.update(node.operands if node.op in POSITIONS else (*node.operands, node.result))
    return max((PARTS.get(v.type.dtype, v.type.dtype).size for v in values), default=4)

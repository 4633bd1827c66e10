"""Estimate the time that one element of a region's iteration space takes, in picoseconds.

The estimate decides how much work a thread gets and which calls are too short to share. It never affects a result. It
is rough: an error by a factor of three costs little.
"""

from __future__ import annotations

from ...ir.dims import Size
from ...ir.graph import Node
from ...ir.ops import CONSTANT, GATHER, MATMUL, POSITIONS, SCAN, SIZE, WHILE, Trait
from ...ir.types import sizes

BYTE = 8  # picoseconds to load or store a byte
SIMPLE, EXPENSIVE = 5, 90  # picoseconds of an op for each byte of its result
STEPS = 30  # assumed steps of a loop; the call determines the number
LOOKUP, SERIAL = 500, 700  # picoseconds of an op that vectors do one lane at a time


def element_cost(region: Node) -> int:
    """Picoseconds for an element, without values that are computed once a row."""
    assert region.body is not None
    space = tuple(sizes(region.attrs, "space"))
    arrays = [v for v in (*region.body.inputs, *region.body.outputs) if _is_large(v.type.shape, space)]
    total = BYTE * sum(v.type.dtype.size for v in arrays)
    for node in region.body:
        shape = node.operands[0].type.shape if Trait.REDUCTION in node.op.traits else node.result.type.shape
        if _is_large(shape, space):
            total += _op_cost(node)
    return max(1, total)


def window_cost(region: Node) -> int:
    """Picoseconds for an element of a window, whose totals stay in registers and whose loads are shared."""
    assert region.body is not None
    reductions = [n for n in region.body if Trait.REDUCTION in n.op.traits]
    return SIMPLE * sum(max(4, n.result.type.dtype.size) for n in reductions)


def _is_large(shape: tuple[Size, ...], space: tuple[Size, ...]) -> bool:
    return len(shape) >= len(space)


def _op_cost(node: Node) -> int:
    size = (node.operands[0] if node.op in POSITIONS else node.result).type.dtype.size
    # The terms of a product are counted separately.
    if node.op in (CONSTANT, SIZE, MATMUL) or Trait.VIEW in node.op.traits:
        return 0
    if node.op is SCAN:
        return SERIAL
    if node.op is GATHER:
        return LOOKUP
    if node.body is not None:
        return (STEPS if node.op is WHILE else 1) * sum(map(_op_cost, node.body))
    return (EXPENSIVE if Trait.EXPENSIVE in node.op.traits else SIMPLE) * max(4, size)

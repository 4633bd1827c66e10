"""Plan matrix products for `fuse`: their loops, and which operands must be in memory before they run.

Cheap operations are computed while an operand is packed, for some elements more than once. An operand with an expensive
operation, or with more than a few operations, gets a separate kernel.

A product's group also iterates over k. If a reduction over its rows joins, the group iterates over rows only, and the
kernel computes the product some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.dims import Size
from ...ir.graph import Node, Value
from ...ir.ops import CONSTANT, GATHER, MATMUL, SIZE, Trait
from ...ir.products import product_space

MOST_OPERATIONS = 8


def is_product(value: Value) -> bool:
    return value.node is not None and value.node.op is MATMUL


def product_loops(node: Node) -> tuple[tuple[Size, ...], tuple[int, ...]]:
    """The iteration space of a product, and the axis that is summed over."""
    shape = node.result.type.shape
    return product_space(node.operands[0].type.shape, shape), (len(shape),)


def row_space(product: Value, shape: tuple[Size, ...], reduced: tuple[int, ...]) -> bool:
    """Whether a reduction of this shape runs over the rows of a product, so that it can join the product's kernel."""
    return shape == product.type.shape and reduced == (len(shape) - 1,) and 1 not in shape[-2:]


def kept_factors(node: Node, is_inline: Callable[[Node], bool]) -> set[Value]:
    """The operands of a product, below any views, that must be computed into memory first."""
    if node.op is not MATMUL:
        return set()
    roots = [_without_views(v, is_inline) for v in node.operands]
    return {v for v in roots if v.node is not None and is_inline(v.node) and _is_much(v, is_inline)}


def _without_views(value: Value, is_inline: Callable[[Node], bool]) -> Value:
    while value.node is not None and Trait.VIEW in value.node.op.traits and is_inline(value.node):
        value = value.node.operands[0]
    return value


def _is_much(value: Value, is_inline: Callable[[Node], bool]) -> bool:
    """Tell whether an element takes long to compute."""
    seen, pending = set[Node](), [value]
    while pending:
        node = pending.pop().node
        if node is None or node in seen or not is_inline(node):
            continue
        if Trait.EXPENSIVE in node.op.traits or node.op is GATHER:
            return True
        seen.add(node)
        pending += node.operands
    working = [n for n in seen if Trait.VIEW not in n.op.traits and n.op not in (CONSTANT, SIZE)]
    return len(working) > MOST_OPERATIONS

"""Plan a region with a matrix product: tiles, blocks and how operands are packed.

A tile of the result, `registers` rows by vectors, stays in registers while terms are added to it. `blocks` are the rows
and columns of the result that are computed together, and the number of terms that are added before the next ones. They
are sized for common caches and never change a result, because each element is one chain of terms in any case. Operands
in `turned` (0 left, 1 right) are stored across the direction in which tiles read them. The product of a matrix and its
own transpose is `symmetric`: only tiles on the diagonal and above are computed, the others are copied from them.
`in_place` are the bytes of a right operand that is not packed, because it stays in a core's cache; 1 MB if it is not
there.

In a region of rows the product is the first stage. `row_width` is the vector width of its other stages and `row_cost`
their time per element; `cost` also includes one block of terms.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.accesses import address, coefficient, slot_strides
from ...ir.graph import Node, Value
from ...ir.indexing import Index, loop_variables, operand_elements
from ...ir.ops import MATMUL
from ...ir.products import IN_PLACE, is_symmetric
from ...ir.types import Attr, AxisGroups, sizes
from .costs import element_cost
from .loops import Loops

WIDE, NARROW = (6, 4), (6, 2)  # tiles for 32 and for 16 registers
TERM = {1: 40, 2: 40, 4: 10, 8: 20}  # picoseconds of a term by the size of an element
WIDE_DEPTH, NARROW_DEPTH = {1: 256, 2: 256, 4: 256, 8: 192}, {1: 256, 2: 256, 4: 384, 8: 256}
BLOCK_ROWS, BLOCK_COLUMNS = 240, 512


def product_in(region: Node) -> Node | None:
    """The product in a region, if there is one."""
    assert region.body is not None
    return next((n for n in region.body if n.op is MATMUL), None)


def is_of_rows(region: Node) -> bool:
    """Tell whether reductions over rows follow the product in a region; then k is not an axis of the space."""
    product = product_in(region)
    return product is not None and product.result.type.rank == len(sizes(region.attrs, "space"))


def row_loops(region: Node) -> Loops:
    """The loops of a region of rows: tiles and vectors run along the last axis, whatever the operands' layouts."""
    space = tuple(sizes(region.attrs, "space"))
    columns = len(space) - 1
    rows = AxisGroups((axis,) for axis in range(columns) if space[axis] != 1)
    return Loops(rows, AxisGroups(((columns,),)), columns)


def plan_product(
    region: Node, node: Node, layouts: Mapping[Value, str], vector_bytes: int, core_cache: int = 0
) -> dict[str, Attr]:
    """The attributes that `schedule` gives a region with a product; a region of rows already has its loops."""
    size, is_narrow = node.result.type.dtype.size, vector_bytes == 32
    depth = (NARROW_DEPTH if is_narrow else WIDE_DEPTH)[size]
    of_rows, own = is_of_rows(region), element_cost(region)
    loops: dict[str, Attr] = (
        {} if of_rows else {"rows": AxisGroups(), "columns": AxisGroups(), "vector": node.result.type.rank - 1}
    )
    costs: dict[str, Attr] = {"cost": TERM[size]}
    if of_rows:
        costs = {"cost": TERM[size] * depth + own, "row_cost": own}
    halved: dict[str, Attr] = {"symmetric": True} if not of_rows and is_symmetric(node) else {}
    return {
        **loops,
        "layouts": tuple(layouts[v] for v in (*region.operands, *region.results)),
        "width": vector_bytes // size,
        "unroll": 1,
        **costs,
        "registers": NARROW if is_narrow else WIDE,
        "blocks": (BLOCK_ROWS, BLOCK_COLUMNS, depth),
        "turned": _turned(region, node, layouts) if size >= 4 else (),
        **halved,
        **({"in_place": core_cache} if core_cache not in (0, IN_PLACE) else {}),
    }


def _turned(region: Node, node: Node, layouts: Mapping[Value, str]) -> tuple[int, ...]:
    """Return the operands that are contiguous more often along lines of the packed copy than along positions."""
    rank = node.result.type.rank
    rows, columns, terms = rank - 2, rank - 1, rank
    index = loop_variables(node.result.type.shape)
    found = []
    for k, (element, axes) in enumerate(
        zip(operand_elements(node, index), ((terms, rows), (columns, terms)), strict=True)
    ):
        along, across = (_contiguous(region, element, layouts, axis) for axis in axes)
        if across > along:
            found.append(k)
    return tuple(found)


def _contiguous(region: Node, root: tuple[Value, Index], layouts: Mapping[Value, str], axis: int) -> int:
    """How many of the arrays from which an operand is computed are contiguous along an axis."""
    assert region.body is not None
    slots = {value: slot for slot, value in enumerate(region.body.inputs)}
    count, seen, pending = 0, set[tuple[Value, Index]](), [root]
    while pending:
        element = pending.pop()
        if element in seen:
            continue
        seen.add(element)
        value, index = element
        if value in slots:
            strides = slot_strides(region, slots[value], layouts[region.operands[slots[value]]])
            count += coefficient(address(index, strides), axis) == value.type.dtype.size
        elif value.node is not None:
            pending += operand_elements(value.node, index)
    return count

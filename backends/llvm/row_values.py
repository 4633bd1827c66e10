"""Tell whether a region's last stage only writes, and what it needs of each row beside the reductions.

Such a stage runs in the order of memory, row within row, and would compute what belongs to a row again at every line.
"""

from __future__ import annotations

from ...ir import dims
from ...ir.accesses import home_index, operands_at
from ...ir.graph import Value
from ...ir.indexing import Index, loop_name, loop_variables
from ...ir.ops import Trait
from .region import Region


def is_spread(region: Region, stage: int) -> bool:
    """Whether a stage only writes, and across the way that the reductions walk."""
    stages = region.stages
    if not region.rows or region.across_columns or "chunk" not in region.region.attrs:
        return False
    return stage > 0 and not stages.reductions[stage] and not stages.scans[stage] and bool(stages.outputs[stage])


def row_values(region: Region) -> list[Value]:
    """What the last stage reads of each row, if it only writes: computed, and the same for all columns."""
    stage = region.stages.count - 1
    if not is_spread(region, stage):
        return []
    space, found, seen = region.space, dict[Value, None](), set[tuple[Value, Index]]()
    columns = {loop_name(axis) for group in region.columns for axis in group}
    pending = [(value, loop_variables(space)) for _, value in region.stages.outputs[stage]]
    while pending:
        value, index = pending.pop()
        node = value.node
        if node is None or Trait.REDUCTION in node.op.traits or value in region.elements.kept or (value, index) in seen:
            continue
        seen.add((value, index))
        used = {name for i in index for name in dims.symbols(i)}
        is_of_row = index == home_index(space, region.reduced, value.type.shape) and not used & columns
        is_computed = Trait.VIEW not in node.op.traits and value.type.dtype.kind != "complex"
        if is_of_row and is_computed and loop_name(region.vector) in used:
            found[value] = None
        else:
            pending += operands_at(node, index, space)
    return list(found)

"""Choose which values are kept in memory between the stages of a region, and where.

An expensive value that several stages need is kept in the row of a result that is not written yet, or in scratch memory
of one row. If the last stage runs in the order of memory, line after line, it would compute the values of a row again
at every line, so these are kept for each row.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir import dims
from ...ir.accesses import home_index, operands_at
from ...ir.forms import RESULT, ROW, SCRATCH
from ...ir.graph import Node, Value
from ...ir.indexing import Index, loop_name, loop_variables
from ...ir.ops import MATMUL, POSITIONS, Trait
from ...ir.stages import RegionStages, needed_in
from ...ir.types import axis_groups, integer, ints, sizes


def values_between_stages(region: Node, stages: RegionStages, has_scratch: bool) -> dict[Value, str]:
    """Where to keep each value that several stages need: "result 0", or "scratch" if a scratch row is allowed."""
    assert region.body is not None
    kept: dict[Value, str] = {}
    if not region.attrs["columns"] or stages.stage_count < 2:
        return kept
    space, first = tuple(sizes(region.attrs, "space")), len(region.body.inputs)
    free = [output for outputs in stages.outputs for output in outputs]
    for value, needed in needed_in(region, stages, {}).items():
        node = value.node
        if len(needed) < 2 or node is None or Trait.EXPENSIVE not in node.op.traits:
            continue
        if value.type.shape != space or node.op is MATMUL:  # rows of a product are in memory before the first stage
            continue
        last = max(needed)
        if any(n.op in POSITIONS for n in stages.reductions[last]):
            last += 1  # the position is searched for when the walk has ended
        dtype = value.type.dtype
        found = next((o for o in free if o[1].type.dtype == dtype and _is_unwritten(stages, o, last)), None)
        if found is not None:
            free.remove(found)
            kept[value] = f"{RESULT} {found[0] - first}"
        elif has_scratch:
            kept[value] = SCRATCH
    return kept


def _is_unwritten(stages: RegionStages, output: tuple[int, Value], stage: int) -> bool:
    """Whether an output's row stays unwritten until the last use; a stage stores outputs in order, before sums."""
    made = stages.known[output[1]]
    return made > stage or (made == stage and output == stages.outputs[stage][-1] and not stages.reductions[stage])


def values_of_rows(region: Node, stages: RegionStages, kept: Iterable[Value]) -> dict[Value, str]:
    """The computed values, one for each row, that the last stage reads, if that stage only writes."""
    space, reduced, among = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced"), set(kept)
    vector, found, seen = loop_name(integer(region.attrs, "vector")), dict[Value, str](), set[tuple[Value, Index]]()
    columns = {loop_name(axis) for group in axis_groups(region.attrs, "columns") for axis in group}
    pending = [(value, loop_variables(space)) for _, value in stages.outputs[-1]]
    while pending:
        value, index = pending.pop()
        node = value.node
        if node is None or Trait.REDUCTION in node.op.traits or value in among or (value, index) in seen:
            continue
        seen.add((value, index))
        used = {name for i in index for name in dims.symbols(i)}
        is_of_row = index == home_index(space, reduced, value.type.shape) and not used & columns
        is_computed = Trait.VIEW not in node.op.traits and value.type.dtype.kind != "complex"
        if is_of_row and is_computed and vector in used:
            found.setdefault(value, f"{ROW} {len(found)}")
        else:
            pending += operands_at(node, index, space)
    return found

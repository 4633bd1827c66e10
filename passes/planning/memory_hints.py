"""Choose memory hints: where row loops are peeled, and how far ahead loops prefetch.

A load or store that crosses a cache line takes twice as long, so vectors begin at a cache line: of the first result, or
of the first operand if everything is reduced and the order does not matter. The CPU prefetches along a line by itself.
It does not prefetch the next line, nor the next chunk while this one is walked again.
"""

from __future__ import annotations

from ...ir import dims
from ...ir.accesses import Access, address, coefficient, region_accesses, region_elements, slot_strides
from ...ir.forms import reduces_across, walks_along_vectors
from ...ir.graph import Node
from ...ir.indexing import loop_name
from ...ir.ops import GATHER, POSITIONS, Trait
from ...ir.stages import RegionStages
from ...ir.types import axis_groups, integer, sizes

LINE = 32  # least bytes of a vector for which it pays
LINES_AHEAD = (8, 1)  # lines ahead, into the first-level cache
LONG_BODY = 12  # operations
NEXT_CHUNK = (1, 2)  # chunks ahead, into the second-level cache; across lines, what is beside this one


def peeled_slot(region: Node, stages: RegionStages) -> int | None:
    """The operand or result whose vectors the peeled loops align, if there is one; operands are counted first."""
    if region.attrs["columns"] and "spread" not in region.attrs:
        reads = _reads_in_any_order(region, stages) or _sums_in_lanes(region, stages)
        return _first_read(region) if reads else None
    outputs = stages.outputs[-1]
    return outputs[0][0] if outputs and region.attrs["rows"] and _is_aligned(region, outputs[0][0]) else None


def _reads_in_any_order(region: Node, stages: RegionStages) -> bool:
    """Whether a walk over the whole space may combine its elements in any order."""
    columns = axis_groups(region.attrs, "columns")
    if region.attrs["rows"] or len(columns) > 1 or not walks_along_vectors(region):
        return False
    in_order = list(columns[0]) == sorted(columns[0])
    walks = zip(stages.reductions, stages.outputs, strict=True)
    return any(r and not o and all(_is_free(n, in_order) for n in r) for r, o in walks)


def _sums_in_lanes(region: Node, stages: RegionStages) -> bool:
    """Whether a cheap walk only adds up lanes. The tree joins lanes in pairs, so any of them may come first."""
    assert region.body is not None
    if len(axis_groups(region.attrs, "columns")) > 1 or not walks_along_vectors(region) or "scanned" in region.attrs:
        return False
    if region.attrs.get("shared_walks") or not is_cheap(region):
        return False
    walks = zip(stages.reductions, stages.outputs, strict=True)
    sums = [r for r, o in walks if r and not o and all(n.op not in POSITIONS for n in r)]
    return any(integer(n.attrs, "steps") for r in sums for n in r)


def is_cheap(region: Node) -> bool:
    """Whether an element takes so little time that access to memory decides."""
    assert region.body is not None
    others = [n for n in region.body if Trait.REDUCTION not in n.op.traits]
    return not any(n.body is not None or n.op is GATHER or Trait.EXPENSIVE in n.op.traits for n in others)


def _is_free(reduction: Node, in_order: bool) -> bool:
    return not integer(reduction.attrs, "steps") and (in_order or reduction.op not in POSITIONS)


def _first_read(region: Node) -> int | None:
    assert region.body is not None
    slots = {value: slot for slot, value in enumerate(region.body.inputs)}
    vector, groups = integer(region.attrs, "vector"), axis_groups(region.attrs, "columns")
    joined: dict[str, dims.Size] = {loop_name(axis): 0 for group in groups for axis in group[:-1]}
    for value, index in region_elements(region):
        if value in slots:
            place = address(tuple(dims.substitute(i, joined) for i in index), _strides(region, slots[value]))
            if _is_line(region, coefficient(place, vector), value.type.dtype.size):
                return slots[value]
    return None


def _is_aligned(region: Node, slot: int) -> bool:
    """Whether vectors of an operand or result can be aligned to cache lines."""
    size = (*region.operands, *region.results)[slot].type.dtype.size
    return _is_line(region, _strides(region, slot)[integer(region.attrs, "vector")], size)


def _is_line(region: Node, stride: dims.Size, itemsize: int) -> bool:
    """Whether a vector of elements with this stride fills a cache line or half of one."""
    bytes = integer(region.attrs, "width") * itemsize
    return stride == itemsize and bytes >= LINE and itemsize & (itemsize - 1) == 0


def prefetched(region: Node) -> tuple[int, int] | None:
    """How many lines or chunks ahead a walk over the columns prefetches, and into which cache."""
    along = walks_along_vectors(region)
    if not region.attrs["columns"] or (along and "shared_walks" not in region.attrs):
        return None
    space, vector = tuple(sizes(region.attrs, "space")), integer(region.attrs, "vector")
    for slot, value in enumerate(region.operands):
        if value.type.shape == space and _strides(region, slot)[vector] == value.type.dtype.size:
            return NEXT_CHUNK if "shared_walks" in region.attrs else LINES_AHEAD
    return None


def lines_together(region: Node) -> int:
    """How many lines one step of a walk across them reads: a block of all sums, or 0 if the walk goes down the columns.

    Each line is a stream that the CPU prefetches by itself, which it does for one array but not for several. A long
    body is not repeated for each line.
    """
    assert region.body is not None
    if not reduces_across(region) or region.attrs.get("shared_walks") or len(region.body) > LONG_BODY:
        return 0
    if any(len(axis_groups(region.attrs, kind)) != 1 for kind in ("rows", "columns")):
        return 0
    sums = [n for n in region.body if Trait.REDUCTION in n.op.traits]
    if not is_cheap(region):
        return 0
    column, vector = axis_groups(region.attrs, "columns")[0][-1], integer(region.attrs, "vector")
    read = [a for a in _accesses(region) if not a.is_store and coefficient(a.address, column) != 0]
    streams = [coefficient(a.address, vector) == a.itemsize for a in read if coefficient(a.address, vector) != 0]
    steps = {integer(n.attrs, "steps") for n in sums}
    return steps.pop() if streams == [True] and len(steps) == 1 else 0


def _accesses(region: Node) -> list[Access]:
    layouts = region.attrs["layouts"]
    assert isinstance(layouts, tuple)
    return region_accesses(region, dict(zip((*region.operands, *region.results), map(str, layouts), strict=True)))


def _strides(region: Node, slot: int) -> tuple[dims.Size, ...]:
    layouts = region.attrs["layouts"]
    assert isinstance(layouts, tuple)
    return slot_strides(region, slot, str(layouts[slot]))

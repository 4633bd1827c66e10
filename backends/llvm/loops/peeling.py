"""Find the array whose cache lines a walk over columns is aligned to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir import dims
from ....ir.accesses import address, coefficient, region_elements
from ....ir.dims import Size
from .vector_loops import LoopPlace

if TYPE_CHECKING:
    from .region import Region


def line_stride(region: Region) -> Size:
    """How many bytes two lines of the array are apart that a walk across lines reads."""
    found = read_along(region, range(len(region.region.operands)))
    assert found is not None
    return coefficient(address(found.at, found.buffer.strides), region.columns[-1][-1])


def read_along(region: Region, slots: Sequence[int]) -> LoopPlace | None:
    """The first of some operands that vectors lie along, at the index at which it is read."""
    joined = region.variables_of_groups()
    for value, index in region_elements(region.region):
        slot, index = region.elements.slots.get(value), tuple(dims.substitute(i, joined) for i in index)
        if slot is None or slot not in slots:
            continue
        buffer = region.elements.operand(slot)
        if coefficient(address(index, buffer.strides), region.vector) == buffer.dtype.size:
            return LoopPlace(buffer, index)
    return None

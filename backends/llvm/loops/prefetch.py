"""Emit prefetches of the elements that a loop is about to need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir import dims
from ....ir.accesses import address

if TYPE_CHECKING:
    from .region import Region

LINE = 64


def fetch(region: Region, offsets: list[int], variable: str, ahead: int, level: int) -> None:
    """Prefetch what the region reads some steps later, at these vectors, into a cache level."""
    e, body = region.nest.e, region.region.body
    assert body is not None
    later = {variable: dims.symbol(variable) + ahead}
    for slot, value in enumerate(body.inputs):
        buffer, size = region.elements.operand(slot), value.type.dtype.size
        if value.type.shape != region.space or buffer.strides[region.vector] != size:
            continue
        for offset in range(offsets[0], offsets[-1] + region.width, max(1, LINE // size)):
            index = tuple(dims.substitute(i, later) for i in region.home(value, offset))
            pointer, _ = region.elements.memory.pointer(buffer, address(index, buffer.strides))
            e.prefetch(pointer, level)

"""Build a vector mask in which the first lanes are set."""

from __future__ import annotations

from ..code.text import Emitter, Val


def lane_mask(e: Emitter, count: Val, width: int) -> Val:
    """Return the mask, compared in elements that fill a register (see `vector_loops.lane_mask`)."""
    elem = f"i{max(8, 128 // width)}"
    count = e.call("smax", e.call("smin", count, e.const("i64", 127)), e.const("i64", 0))
    count = count if elem == "i64" else e.cast("trunc", count, elem)
    return e.icmp("slt", e.lanes_of(elem, list(range(width))), e.splat(count, width))

"""Store and load vectors as they are in registers, and mask the elements of reductions."""

from __future__ import annotations

from .text import Emitter, Val


def memory_form(elem: str) -> str:
    """The LLVM type in memory of a register type."""
    return "i8" if elem == "i1" else elem


def store(e: Emitter, x: Val, address: Val) -> None:
    """Stores a vector or a number; an `i1` is stored as a byte."""
    e.store(e.cast("zext", x, "i8") if x.elem == "i1" else x, address)


def load(e: Emitter, elem: str, lanes: int, address: Val) -> Val:
    """Loads what `store` stored."""
    raw = e.load(address, memory_form(elem), lanes)
    return e.icmp("ne", raw, e.zero_like(raw)) if elem == "i1" else raw


def masked(e: Emitter, x: Val, mask: Val | None, missing: Val) -> Val:
    """Return an element, or a substitute for it in the lanes outside a mask."""
    if mask is None or (e.zeroed.get(x.text) == mask.text and missing == e.const_like(missing, 0)):
        return x
    return e.select(mask, x, missing)

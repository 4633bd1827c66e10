"""Emit the gather of an element at indices that are data.

A negative index counts from the end, except in index notation. If an index is out of range, nothing is read and the
kernel reports failure. The source is memory or a view of memory; the gathered indices are extra variables in the view's
index.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ir import dims
from ....ir.accesses import address, coefficient_of
from ....ir.dims import Size
from ....ir.indexing import Index
from ....ir.tuples import NamedTuple
from ..code.casts import memory_element
from ..code.memory import Buffer, Memory
from ..code.scopes import Scope
from ..code.text import Val

SPARE_BYTES = 16  # room for the largest element


class Looked(NamedTuple):
    """An index counted from the start, whether it is in range, and the scope that has both."""

    at: Val
    ok: Val
    scope: Scope


def look_up(memory: Memory, buffer: Buffer, at: Index, looked: Mapping[str, Looked]) -> tuple[Val, Scope]:
    """Emits the element of a buffer at an index with variables that are data."""
    offset = address(at, buffer.strides)
    pointer, scope = memory.pointer(buffer, dims.substitute(offset, dict.fromkeys(looked, 0)))
    scope = max((scope, *(x.scope for x in looked.values())), key=lambda s: s.depth)
    steps = [memory.frame.size(coefficient_of(offset, name)) for name in looked]
    with memory.nest.at(scope):
        raw = _load(memory, buffer, pointer, coefficient_of(offset, memory.vector), list(looked.values()), steps)
        if buffer.dtype.kind == "bool":
            raw = memory.nest.e.icmp("ne", raw, memory.nest.e.zero_like(raw))
    return raw, scope


def checked_index(memory: Memory, x: Val, scope: Scope, size: Size, wraps: bool) -> Looked:
    """Makes an index count from the start, and reports failure if it is out of range."""
    e, key = memory.nest.e, ("lookup", x.text, x.lanes, size, wraps)
    if key not in scope.memo:
        count = memory.splat(memory.frame.size(size), memory.nest.entry, x.lanes)
        with memory.nest.at(scope):
            scope.memo[key] = x
            if wraps:
                from_end = e.icmp("slt", x, e.zero_like(x))
                scope.memo[key] = e.select(from_end, e.op("add", x, count), x)
            scope.memo[key, "ok"] = e.icmp("ult", scope.memo[key], count)
            e.active = memory.mask
            e.fail_where(e.not_(scope.memo[key, "ok"]))
    return Looked(scope.memo[key], scope.memo[key, "ok"], scope)


def _load(memory: Memory, buffer: Buffer, pointer: Val, stride: Size, looked: list[Looked], steps: list[Val]) -> Val:
    e, width = memory.nest.e, memory.width
    elem, lanes = memory_element(buffer.dtype), None
    ok: Val | None = None
    for x, step in zip(looked, steps, strict=True):
        share = e.op("mul", x.at, e.splat(step, x.at.lanes))
        if not x.at.lanes:
            pointer = e.offset(pointer, share)
            ok = x.ok if ok is None else e.op("and", ok, x.ok)
        else:
            lanes = share if lanes is None else e.op("add", lanes, share)
    if lanes is None and stride == 0:
        assert ok is not None
        return e.load(e.select(ok, pointer, _spare(memory)), elem, 0)
    mask = memory.lanes_that_count() if ok is None else e.splat(ok, width)
    for x in looked:
        mask = e.op("and", mask, x.ok) if x.at.lanes else mask
    if memory.mask is not None:
        mask = e.op("and", mask, memory.mask)
    if lanes is None and stride == buffer.dtype.size:
        return e.masked_load(pointer, elem, mask)
    if stride != 0:
        lanes = memory.along(stride) if lanes is None else e.op("add", lanes, memory.along(stride))
    assert lanes is not None
    return e.gather(e.offsets(pointer, lanes), elem, mask)


def _spare(memory: Memory) -> Val:
    """Dummy memory to read if the index is out of range."""
    entry = memory.nest.entry
    if "spare" not in entry.memo:
        entry.memo["spare"] = memory.frame.reserve(SPARE_BYTES)
        with memory.nest.at(entry):
            memory.nest.e.store(memory.nest.e.const("i64", 0, SPARE_BYTES // 8), entry.memo["spare"])
    return entry.memo["spare"]

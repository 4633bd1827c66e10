"""Emit the gather of an element at indices that are data.

A negative index counts from the end, except in index notation. If an index is out of range, nothing is read and the
kernel reports failure. The source is memory or a view of memory; the gathered indices are extra variables in the view's
index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir import dims
from ....ir.accesses import address, coefficient, coefficient_of
from ....ir.dims import Size
from ....ir.graph import Node
from ....ir.indexing import Index, gathered_index, operand_index
from ....ir.tuples import NamedTuple
from ....ir.types import ints
from ..code.casts import memory_element
from ..code.memory import Buffer, part_buffer
from ..code.scopes import Scope
from ..code.text import Val

if TYPE_CHECKING:
    from .evaluate import Elements

SPARE_BYTES = 16  # room for the largest element


class Looked(NamedTuple):
    """An index counted from the start, whether it is in range, and the scope that has both."""

    at: Val
    ok: Val
    scope: Scope


def look_up(elements: Elements, node: Node, index: Index, given: list[tuple[Val, Scope]]) -> tuple[Val, Scope]:
    """Emits the element at `index` of a `gather`; `given` are the elements of its index arrays."""
    axes, shape = ints(node.attrs, "axes"), node.operands[0].type.shape
    wraps = "named" not in node.attrs
    looked = [_checked(elements, x, scope, shape[axis], wraps) for (x, scope), axis in zip(given, axes, strict=True)]
    names = [f"{dims.LOOP}lookup{k}" for k in range(len(looked))]
    buffer, at = _source(elements, node, gathered_index(node, index, tuple(map(dims.symbol, names))))
    offset = address(at, buffer.strides)
    pointer, scope = elements.memory.pointer(buffer, dims.substitute(offset, dict.fromkeys(names, 0)))
    scope = max((scope, *(x.scope for x in looked)), key=lambda s: s.depth)
    steps = [elements.frame.size(coefficient_of(offset, name)) for name in names]
    with elements.nest.at(scope):
        raw = _load(elements, buffer, pointer, coefficient(offset, elements.memory.vector), looked, steps)
        if buffer.dtype.kind == "bool":
            raw = elements.nest.e.icmp("ne", raw, elements.nest.e.zero_like(raw))
    return raw, scope


def _checked(elements: Elements, x: Val, scope: Scope, size: Size, wraps: bool) -> Looked:
    """Makes an index count from the start, and reports failure if it is out of range."""
    e, key = elements.nest.e, ("lookup", x.text, x.lanes, size, wraps)
    if key not in scope.memo:
        count = elements.memory.splat(elements.frame.size(size), elements.nest.entry, x.lanes)
        with elements.nest.at(scope):
            scope.memo[key] = x
            if wraps:
                from_end = e.icmp("slt", x, e.zero_like(x))
                scope.memo[key] = e.select(from_end, e.op("add", x, count), x)
            scope.memo[key, "ok"] = e.icmp("ult", scope.memo[key], count)
            e.active = elements.memory.mask
            e.fail_where(e.not_(scope.memo[key, "ok"]))
    return Looked(scope.memo[key], scope.memo[key, "ok"], scope)


def _source(elements: Elements, node: Node, at: Index) -> tuple[Buffer, Index]:
    """The memory that a gather reads, through views and parts of complex numbers."""
    value, part = node.operands[0], None
    while value not in elements.slots:
        view = value.node
        assert view is not None
        part = elements.part_of(view) if part is None else part
        at = operand_index(view, view.operands[0], at)
        value = view.operands[0]
    buffer = elements.operand(elements.slots[value])
    return (buffer if part is None else part_buffer(buffer, part)), at


def _load(
    elements: Elements, buffer: Buffer, pointer: Val, stride: Size, looked: list[Looked], steps: list[Val]
) -> Val:
    e, memory, width = elements.nest.e, elements.memory, elements.memory.width
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
        return e.load(e.select(ok, pointer, _spare(elements)), elem, 0, buffer.align)
    mask = memory.lanes_that_count() if ok is None else e.splat(ok, width)
    for x in looked:
        mask = e.op("and", mask, x.ok) if x.at.lanes else mask
    if memory.mask is not None:
        mask = e.op("and", mask, memory.mask)
    if lanes is None and stride == buffer.dtype.size:
        return e.masked_load(pointer, elem, buffer.align, mask)
    if stride != 0:
        lanes = memory.along(stride) if lanes is None else e.op("add", lanes, memory.along(stride))
    assert lanes is not None
    return e.gather(e.offsets(pointer, lanes), elem, buffer.align, mask)


def _spare(elements: Elements) -> Val:
    """Dummy memory to read if the index is out of range."""
    entry = elements.nest.entry
    if "spare" not in entry.memo:
        entry.memo["spare"] = elements.frame.reserve(SPARE_BYTES)
        with elements.nest.at(entry):
            elements.nest.e.store(elements.nest.e.const("i64", 0, SPARE_BYTES // 8), entry.memo["spare"], 1)
    return entry.memo["spare"]

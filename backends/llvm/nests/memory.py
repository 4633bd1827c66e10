"""Emit loads, stores, prefetches and allocations of nests.

Every access is annotated with its memory, and that no other memory overlaps it. So LLVM keeps elements in registers
across stores to other buffers, and only across those.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.accesses import address, slot_name
from ....ir.complexes import PARTS
from ....ir.dims import LOOP, Size
from ....ir.graph import Node, Value
from ....ir.layouts import GENERAL, C, byte_strides
from ....ir.nest.memory import has_parts, most_bytes
from ....ir.nest.scopes import base
from ....ir.types import integer, sizes
from ..code.casts import memory_element
from ..code.memory import Buffer, Memory, part_buffer
from ..code.text import BITS, Val
from . import numbers
from .function import NestFunction, Points
from .points import Point

DOMAIN = 900  # the number of the metadata; scopes follow it
STACK_LIMIT = 1 << 14  # bytes that `alloc` takes from the native stack


def inputs(f: NestFunction) -> None:
    """Makes the nest's buffers known."""
    nest = f.module.nest
    layouts = nest.attrs.get("layouts") or (C,) * len(nest.inputs)
    assert isinstance(layouts, tuple)
    for slot, (value, layout) in enumerate(zip(nest.inputs, layouts, strict=True)):
        known = GENERAL if layout == "S" else str(layout)
        strides = byte_strides(known, value.type.shape, value.type.dtype.size, slot_name(slot))
        f.module.scopes[value] = slot
        f.buffers[value] = Buffer(f.frame.pointer(slot), strides, value.type.dtype)


def load(f: NestFunction, node: Node, points: Points) -> None:
    for point in points:
        if node.result.type.dtype.kind == "complex":
            point.parts[node.result] = (load_element(f, node, point, 0), load_element(f, node, point, 1))
        else:
            point.values[node.result] = load_element(f, node, point)


def store(f: NestFunction, node: Node, points: Points) -> None:
    if node in f.paired.values():  # it is stored with the second part
        return
    first = f.paired.get(node)
    for point in points:
        if node.operands[0].type.dtype.kind == "complex":
            _store_parts(f, (node, node), point, point.parts[node.operands[0]])
        elif first is not None:
            _store_parts(f, (first, node), point, [point.values[n.operands[0]] for n in (first, node)])
        else:
            store_element(f, node, point, point.values[node.operands[0]])


def fetch(f: NestFunction, node: Node, points: Points) -> None:
    for point in points:
        buffer, offset, _ = _place(f, node, point)
        pointer = numbers.moved(f, buffer.base, offset, point)
        f.e.prefetch(pointer, integer(node.attrs, "level"))


def view(f: NestFunction, node: Node, points: Points) -> None:
    """Emits nothing: accesses resolve views."""


def alloc(f: NestFunction, node: Node, points: Points) -> None:
    for point in points:
        point.values[node.result] = _memory(f, node, point)


def _memory(f: NestFunction, node: Node, point: Point) -> Val:
    """Allocate memory for one point: on the stack if it is small, otherwise from the caller."""
    most = most_bytes(f.module.nest, node)
    if isinstance(most, int) and f.frame.stack_bytes + most <= STACK_LIMIT:
        return f.frame.reserve(max(1, most))
    return f.frame.scratch(most)


def strides_in(f: NestFunction, owner: Value) -> tuple[Size, ...]:
    """The byte strides of memory: those of the layout for a buffer, C order for allocated memory."""
    buffer = f.buffers.get(owner)
    return byte_strides(C, owner.type.shape, owner.type.dtype.size, "") if buffer is None else buffer.strides


def _place(f: NestFunction, node: Node, point: Point, part: int = 0) -> tuple[Buffer, Size, Value]:
    """Return the buffer of an access, the offset in bytes, and the value that owns the memory.

    If it holds complex numbers, the access is to one of their parts.
    """
    owner, index = base(node.operands[-1], sizes(node.attrs, "at"))
    buffer = f.buffers.get(owner)
    if buffer is None:
        buffer = Buffer(point.values[owner], strides_in(f, owner), owner.type.dtype)
    if buffer.dtype.kind == "complex":
        buffer = part_buffer(buffer, part)
    return buffer, address(index, buffer.strides) + buffer.start, owner


def _part(f: NestFunction, node: Node, point: Point, part: int) -> int | None:
    """Tell which part of complex numbers a vector access touches, if these are neighbours in memory; else None."""
    owner, index = base(node.operands[-1], sizes(node.attrs, "at"))
    buffer, offset, _ = _place(f, node, point, part)
    size = buffer.dtype.size
    if not point.width or numbers.stride_of(offset, point) != 2 * size:
        return None
    if owner.type.dtype.kind == "complex":
        return part
    is_part = has_parts(owner) and buffer.strides[-1] == size and index[-1] in (0, 1)
    return int(index[-1]) if is_part and isinstance(index[-1], int) else None


def _load_part(f: NestFunction, node: Node, point: Point, part: int, which: int) -> Val:
    """Load the real or the imaginary parts of neighbouring complex numbers. LLVM joins the loads of both."""
    buffer, offset, owner = _place(f, node, point, part)
    pointer = numbers.moved(f, buffer.base, offset - which * buffer.dtype.size, point)
    memory, f.e.memory = _lanes(f, point), _alias(f, owner)
    found = memory.part_of(memory.load_pairs(buffer, pointer), which)
    f.e.memory = ""
    return found


def _store_parts(f: NestFunction, nodes: Sequence[Node], point: Point, parts: Sequence[Val]) -> None:
    """Store the two parts of a complex number."""
    is_complex = nodes[0] is nodes[1]
    places = [base(n.operands[-1], sizes(n.attrs, "at")) for n in nodes]
    if _part(f, nodes[0], point, 0) != 0 or any(place in f.registers for place in places):
        for part, (node, x) in enumerate(zip(nodes, parts, strict=True)):
            store_element(f, node, point, x, part if is_complex else 0)
        return
    buffer, offset, owner = _place(f, nodes[0], point, 0)
    pointer, f.e.memory = numbers.moved(f, buffer.base, offset, point), _alias(f, owner)
    _lanes(f, point).store_pairs(buffer, pointer, *parts)
    f.e.memory = ""


def load_element(f: NestFunction, node: Node, point: Point, part: int = 0) -> Val:
    """Load the element that a node accesses."""
    if f.registers and (kept := f.registers.get(base(node.operands[-1], sizes(node.attrs, "at")))):
        return kept
    if (which := _part(f, node, point, part)) is not None:
        return _load_part(f, node, point, part, which)
    buffer, offset, owner = _place(f, node, point, part)
    stride, memory, f.e.memory = numbers.stride_of(offset, point), _lanes(f, point), _alias(f, owner)
    if stride is not None:
        found = memory.load_at(buffer, numbers.moved(f, buffer.base, offset, point), stride)
    else:
        pointers = f.e.offsets(buffer.base, numbers.number(f, offset, point))
        found = f.e.gather(pointers, memory_element(buffer.dtype), memory.lanes_that_count())
        found = f.e.icmp("ne", found, f.e.zero_like(found)) if buffer.dtype.kind == "bool" else found
    f.e.memory = ""
    return found


def store_element(f: NestFunction, node: Node, point: Point, x: Val, part: int = 0) -> None:
    """Store to the element that a node accesses."""
    if f.registers and (element := base(node.operands[-1], sizes(node.attrs, "at"))) in f.registers:
        f.registers[element] = x
        return
    buffer, offset, owner = _place(f, node, point, part)
    stride, memory, f.e.memory = numbers.stride_of(offset, point), _lanes(f, point), _alias(f, owner)
    if stride is not None:
        memory.store_at(buffer, numbers.moved(f, buffer.base, offset, point), stride, x)
    else:
        x = f.e.cast("zext", x, "i8") if buffer.dtype.kind == "bool" else x
        pointers = f.e.offsets(buffer.base, numbers.number(f, offset, point))
        f.e.scatter(f.e.splat(x, point.width), pointers, memory.lanes_that_count())
    f.e.memory = ""


def _lanes(f: NestFunction, point: Point) -> Memory:
    """Load or store the elements of a point's lanes."""
    found = Memory(f.nest, f.frame, point.width, f"{LOOP}{point.vector}")
    found.mask = point.mask
    return found


def _alias(f: NestFunction, owner: Value) -> str:
    """Annotate an access: it touches no other memory of the nest, and memory that is only read does not change."""
    module = f.module
    if owner not in module.scopes:
        module.scopes[owner] = len(module.scopes)
    own = module.scopes[owner]
    f.e.declared[f"!{DOMAIN}"] = f"!{DOMAIN} = distinct !{{!{DOMAIN}}}"
    others = [k for k in range(len(module.nest.inputs)) if k != own]
    for k in (own, *others):
        f.e.declared[f"!{DOMAIN + 1 + k}"] = f"!{DOMAIN + 1 + k} = distinct !{{!{DOMAIN + 1 + k}, !{DOMAIN}}}"
    listed = ", ".join(f"!{DOMAIN + 1 + k}" for k in others)
    fixed = ", !invariant.load !{}" if _is_read_only(f, owner) else ""
    return f", !alias.scope !{{!{DOMAIN + 1 + own}}}" + (f", !noalias !{{{listed}}}" if others else "") + fixed


def _is_read_only(f: NestFunction, owner: Value) -> bool:
    nest = f.module.nest
    if owner not in nest.inputs:
        return False
    access = nest.attrs["access"]
    assert isinstance(access, tuple)
    return str(access[nest.inputs.index(owner)]) == "read"


def itemsize(node: Node) -> int:
    """The size of the elements that an access touches."""
    dtype = node.operands[-1].type.dtype
    return BITS[memory_element(PARTS.get(dtype, dtype))] // 8

"""Emit loads, stores, prefetches and allocations of nests.

Every access is annotated with its memory, and that no other memory overlaps it. So LLVM keeps elements in registers
across stores to other buffers, and only across those.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.accesses import address, slot_name
from ....ir.complexes import PARTS
from ....ir.dims import LOOP, Size
from ....ir.errors import Unsupported
from ....ir.graph import Node, Value
from ....ir.layouts import GENERAL, C, byte_strides
from ....ir.nest.scopes import base, places, variables
from ....ir.proofs import follows
from ....ir.types import integer, sizes
from ..code.casts import memory_element
from ..code.memory import Buffer, part_buffer
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
        f.buffers[value] = Buffer(f.frame.pointer(slot), strides, value.type.dtype, 1)


def load(f: NestFunction, node: Node, points: Points) -> None:
    for point in points:
        if node.result.type.dtype.kind == "complex":
            point.parts[node.result] = (load_element(f, node, point, 0), load_element(f, node, point, 1))
        else:
            point.values[node.result] = load_element(f, node, point)


def store(f: NestFunction, node: Node, points: Points) -> None:
    for point in points:
        if node.operands[0].type.dtype.kind == "complex":
            for part, x in enumerate(point.parts[node.operands[0]]):
                store_element(f, node, point, x, part)
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
    kind = node.result.type
    most = dims.product(kind.shape) * kind.dtype.size
    most = _bound(f, node, most)
    if isinstance(most, int) and f.frame.stack_bytes + most <= STACK_LIMIT:
        return f.frame.reserve(max(1, most))
    return f.frame.scratch(most)


def _bound(f: NestFunction, node: Node, bytes: Size) -> Size:
    """Return the most bytes that an allocation needs, for all steps of the loops around it."""
    if not any(name.startswith(LOOP) for name in dims.symbols(bytes)):
        return bytes
    around = next(p.around for p in places(f.module.nest) if p.node is node)
    for variable in reversed([v for loop in around for v in variables(loop)]):
        ends = [dims.substitute(bytes, {LOOP + variable.name: end}) for end in (variable.end - 1, variable.first)]
        most = next((end for end in ends if follows(end - bytes, variable.facts)), None)
        if most is None:
            raise Unsupported(f"the size of this memory may grow and shrink as @{variable.name} grows", node.span)
        bytes = most
    return bytes


def strides_in(f: NestFunction, owner: Value) -> tuple[Size, ...]:
    """The byte strides of memory: of a buffer as its layout has them, of allocated memory in C order."""
    buffer = f.buffers.get(owner)
    return byte_strides(C, owner.type.shape, owner.type.dtype.size, "") if buffer is None else buffer.strides


def _place(f: NestFunction, node: Node, point: Point, part: int = 0) -> tuple[Buffer, Size, Value]:
    """Return the buffer of an access, the offset in bytes, and the value that owns the memory.

    Of complex numbers it is one of their parts.
    """
    owner, index = base(node.operands[-1], sizes(node.attrs, "at"))
    buffer = f.buffers.get(owner)
    if buffer is None:
        buffer = Buffer(point.values[owner], strides_in(f, owner), owner.type.dtype, 1)
    if buffer.dtype.kind == "complex":
        buffer = part_buffer(buffer, part)
    return buffer, address(index, buffer.strides) + buffer.start, owner


def load_element(f: NestFunction, node: Node, point: Point, part: int = 0) -> Val:
    """Load the element that a node accesses."""
    e = f.e
    if f.registers and (kept := f.registers.get(base(node.operands[-1], sizes(node.attrs, "at")))):
        return kept
    buffer, offset, owner = _place(f, node, point, part)
    elem, stride, alias = memory_element(buffer.dtype), numbers.stride_of(offset, point), _alias(f, owner)
    if stride is not None and stride not in (0, buffer.dtype.size) and point.mask is None:
        raw = _lane_loads(f, numbers.moved(f, buffer.base, offset, point), elem, stride, point, alias)
    elif stride is None or stride not in (0, buffer.dtype.size):
        pointers = e.offsets(buffer.base, numbers.number(f, offset, point))
        raw = _marked(f, e.gather(pointers, elem, 1, point.mask or e.const("i1", 1, point.width)), alias)
    else:
        pointer = numbers.moved(f, buffer.base, offset, point)
        if stride == 0:
            raw = e.load(pointer, elem, 0, 1)
        elif point.mask is None:
            raw = e.load(pointer, elem, point.width, 1)
        else:
            raw = e.masked_load(pointer, elem, 1, point.mask)
        raw = _marked(f, raw, alias)
    return e.icmp("ne", raw, e.zero_like(raw)) if buffer.dtype.kind == "bool" else raw


def _marked(f: NestFunction, loaded: Val, alias: str) -> Val:
    """Annotate the load that was just written with its memory."""
    f.e.lines[-1] += alias
    return loaded


def _lane_loads(f: NestFunction, pointer: Val, elem: str, stride: Size, point: Point, alias: str) -> Val:
    """Emit one load for each lane, which is faster than a gather if all lanes are active."""
    e, vector = f.e, Val("poison", elem, point.width)
    for lane in range(point.width):
        found = _marked(f, e.load(_lane(f, pointer, stride, lane, point), elem, 0, 1), alias)
        vector = e.insert(vector, found, lane)
    return vector


def _lane(f: NestFunction, pointer: Val, stride: Size, lane: int, point: Point) -> Val:
    return f.e.offset(pointer, numbers.scalar(f, stride * lane, point)) if lane else pointer


def store_element(f: NestFunction, node: Node, point: Point, x: Val, part: int = 0) -> None:
    """Store to the element that a node accesses."""
    e = f.e
    if f.registers and (element := base(node.operands[-1], sizes(node.attrs, "at"))) in f.registers:
        f.registers[element] = x
        return
    buffer, offset, owner = _place(f, node, point, part)
    stride, alias = numbers.stride_of(offset, point), _alias(f, owner)
    if buffer.dtype.kind == "bool":
        x = e.cast("zext", x, "i8")
    if stride == 0:
        assert not x.lanes, "lanes that store to one element make no vector loop"
        e.store(x, numbers.moved(f, buffer.base, offset, point), 1)
        e.lines[-1] += alias
        return
    x = e.splat(x, point.width)
    if stride == buffer.dtype.size:
        pointer = numbers.moved(f, buffer.base, offset, point)
        if point.mask is None:
            e.store(x, pointer, 1)
        else:
            e.masked_store(x, pointer, 1, point.mask)
        e.lines[-1] += alias
    elif stride is not None and point.mask is None:
        pointer = numbers.moved(f, buffer.base, offset, point)
        for lane in range(point.width):
            one = e.extract(x, lane)
            e.store(one, _lane(f, pointer, stride, lane, point), 1)
            e.lines[-1] += alias
    else:
        pointers = e.offsets(buffer.base, numbers.number(f, offset, point))
        e.scatter(x, pointers, 1, point.mask or e.const("i1", 1, point.width))
        e.lines[-1] += alias


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

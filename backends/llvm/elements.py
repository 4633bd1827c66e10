"""A value and an index in, code for that element out: the body of every loop.

The index is a tuple of polynomials over loop variables. An element that does not depend on the vector axis is a
scalar; any other is a vector of `width` elements that lie along that axis, starting at the index. Each element is
computed in the outermost scope that has what it needs, and once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...ir import dims
from ...ir.accesses import address, coefficient, slot_strides
from ...ir.complexes import PARTS
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.graph import Node, Value
from ...ir.indexing import Index, operand_index
from ...ir.ops import CAST, COMPLEX, CONSTANT, IMAG, REAL, SIZE, WHERE, WHOLE_POWER, Trait
from . import integers
from .casts import cast, constant, memory_element
from .frame import Frame
from .joint import Joint, joint_of
from .math import whole_power
from .ops import EMITTERS
from .scopes import Nest, Scope
from .text import Val

Element = tuple[Value, Index]


class Buffer(NamedTuple):
    """Memory that an element at an index lives in: an operand, a result, or scratch, which every row uses anew."""

    base: Val
    strides: tuple[Size, ...]
    dtype: DType
    align: int
    is_scratch: bool = False
    start: int = 0  # bytes from the base to the first element


PART_OF = {REAL: 0, IMAG: 1}


def part_buffer(buffer: Buffer, part: int) -> Buffer:
    """The real or the imaginary parts of complex numbers in memory."""
    dtype = PARTS[buffer.dtype]
    return buffer._replace(dtype=dtype, start=buffer.start + part * dtype.size)


class Elements:
    """Computes elements of the values of one region's body."""

    def __init__(self, region: Node, nest: Nest, frame: Frame, width: int, vector: int, walks_columns: bool) -> None:
        assert region.body is not None
        self.walks_columns = walks_columns  # whether vectors lie along the columns
        self.region, self.body, self.nest, self.frame = region, region.body, nest, frame
        self.width, self.vector = width, vector
        layouts = region.attrs["layouts"]
        assert isinstance(layouts, tuple)
        self.layouts = [str(layout) for layout in layouts]
        self.slots = {value: slot for slot, value in enumerate(self.body.inputs)}
        self.mask: Val | None = None
        self.kept: Mapping[Value, tuple[Buffer, int]] = {}
        self.stage = 0

    # -- elements

    def get(self, value: Value, index: Index) -> Val:
        """The element, in the current scope; what it needs comes first, without recursion, for chains are long."""
        wanted, needs = (value, index), dict[Element, list[Element]]()
        pending = [wanted]
        while pending:
            element = pending[-1]
            if self.nest.find(element) is not None:
                pending.pop()
                continue
            if element not in needs:
                needs[element] = self._needs(*element)
                missing = [n for n in needs[element] if self.nest.find(n) is None]
                pending += reversed(missing)
                if missing:
                    continue
            pending.pop()
            self._make(*element, needs[element])
        return self._known(wanted)[0]

    def put(self, value: Value, index: Index, element: Val) -> None:
        """From here on this is the element; reductions are made known so."""
        self.nest.scope.memo[value, index] = element

    def _known(self, element: Element) -> tuple[Val, Scope]:
        found = self.nest.find(element)
        assert found is not None
        return found

    def _needs(self, value: Value, index: Index) -> list[Element]:
        """The elements that one is computed from; none for what memory has."""
        if value in self.slots or (value in self.kept and self.kept[value][1] < self.stage):
            return []
        node = value.node
        assert node is not None
        if node.op in PART_OF:
            return []  # read from memory
        return [(v, operand_index(node, v, index)) for v in node.operands]

    def _make(self, value: Value, index: Index, needs: list[Element]) -> None:
        """Code for an element whose needs are known."""
        if value in self.kept and self.kept[value][1] < self.stage:
            result, scope = self._load(self.kept[value][0], index)
        elif value in self.slots:
            result, scope = self._load(self.operand(self.slots[value]), index)
        elif value.node is not None and value.node.op in PART_OF:
            result, scope = self._load_part(value.node, index)
        else:
            assert value.node is not None
            result, scope = self._compute(value.node, [self._known(n) for n in needs])
        scope.memo[value, index] = result
        if value in self.kept and self.kept[value][1] == self.stage:
            self.store(self.kept[value][0], index, result)

    def _compute(self, node: Node, operands: list[tuple[Val, Scope]]) -> tuple[Val, Scope]:
        e, entry = self.nest.e, self.nest.entry
        dtype = node.result.type.dtype
        if node.op is CONSTANT:
            value = node.attrs["value"]
            assert isinstance(value, (bool, int, float))
            return constant(e, dtype, value), entry
        if node.op is SIZE:
            size = node.attrs["size"]
            assert isinstance(size, tuple) and not isinstance(size[0], str)
            return self.frame.size(size[0]), entry
        if Trait.VIEW in node.op.traits:
            return operands[0]
        scope = max((s for _, s in operands), key=lambda s: s.depth)
        lanes = max(v.lanes for v, _ in operands)
        values = [self._splat(v, s, lanes) for v, s in operands]
        with self.nest.at(scope):
            e.active = self.mask
            if joint := joint_of(node):
                return self._share(joint, node, values, scope), scope
            return self._emit(node, values), scope

    def _share(self, joint: Joint, node: Node, values: list[Val], scope: Scope) -> Val:
        """One of several values that are computed together, once for the same operands."""
        dtype, place = node.operands[0].type.dtype, joint.place(node.attrs)
        key = ("joint", joint.function, dtype, tuple(values))
        if (*key, place) not in scope.memo:
            for k, part in enumerate(joint.function(self.nest.e, dtype, *values)):
                scope.memo[*key, k] = part
        return scope.memo[*key, place]

    def _splat(self, x: Val, scope: Scope, lanes: int) -> Val:
        """A scalar in every lane, made where the scalar was."""
        if not lanes or x.lanes or not x.text.startswith("%"):
            return self.nest.e.splat(x, lanes)
        key = ("splat", x.text, lanes)
        if key not in scope.memo:
            with self.nest.at(scope):
                scope.memo[key] = self.nest.e.splat(x, lanes)
        return scope.memo[key]

    def _emit(self, node: Node, values: list[Val]) -> Val:
        e = self.nest.e
        have = node.operands[0].type.dtype
        if node.op is CAST:
            return cast(e, values[0], have, node.result.type.dtype)
        if node.op is WHERE:
            return e.select(*values)
        if node.op is WHOLE_POWER:
            exponent = node.attrs["exponent"]
            assert isinstance(exponent, int)
            multiply = whole_power.whole_power if have.kind == "float" else integers.whole_power
            return multiply(e, values[0], exponent)
        return EMITTERS[node.op](e, have, *values)

    # -- memory

    def operand(self, slot: int) -> Buffer:
        """An operand or, counted on, a result of the region."""
        value = (*self.region.operands, *self.region.results)[slot]
        strides = slot_strides(self.region, slot, self.layouts[slot])
        # Arrays may lie at any address; only the element's own size is never assumed.
        return Buffer(self.frame.pointer(slot), strides, value.type.dtype, 1)

    def _load(self, buffer: Buffer, index: Index) -> tuple[Val, Scope]:
        e = self.nest.e
        offset = address(index, buffer.strides)
        stride = coefficient(offset, self.vector)
        elem, dtype = memory_element(buffer.dtype), buffer.dtype
        pointer, scope = self._pointer(buffer, offset)
        with self.nest.at(scope):
            if stride == 0:
                raw = e.load(pointer, elem, 0, buffer.align)
            elif stride == dtype.size:
                raw = self._load_vector(pointer, elem, buffer.align)
            else:
                raw = self._gather(pointer, elem, stride, buffer.align)
            result = e.icmp("ne", raw, e.zero_like(raw)) if dtype.kind == "bool" else raw
        return result, scope

    def _load_part(self, node: Node, index: Index) -> tuple[Val, Scope]:
        """The real or the imaginary part of a complex number in memory."""
        buffer, part = self.operand(self.slots[node.operands[0]]), PART_OF[node.op]
        index = operand_index(node, node.operands[0], index)
        half = part_buffer(buffer, part)
        if coefficient(address(index, buffer.strides), self.vector) != buffer.dtype.size:
            return self._load(half, index)
        pointer, scope = self._pointer(buffer, address(index, buffer.strides))
        key = ("pairs", pointer.text)
        with self.nest.at(scope):
            if key not in scope.memo:
                scope.memo[key] = self._load_pairs(pointer, memory_element(half.dtype), buffer.align)
            pairs = scope.memo[key]
            return self.nest.e.shuffle(pairs, pairs, list(range(part, 2 * self.width, 2))), scope

    def _load_pairs(self, pointer: Val, elem: str, align: int) -> Val:
        """A vector of complex numbers, the two parts of each side by side."""
        if self.mask is None:
            return self.nest.e.load(pointer, elem, 2 * self.width, align)
        return self.nest.e.masked_load(pointer, elem, align, self._twice(self.mask))

    def _twice(self, mask: Val) -> Val:
        return self.nest.e.shuffle(mask, mask, [k // 2 for k in range(2 * self.width)])

    def write(self, slot: int, value: Value, index: Index) -> None:
        """The element as a result of the region."""
        buffer = self.operand(slot)
        if buffer.dtype.kind != "complex":
            self.store(buffer, index, self.get(value, index))
            return
        assert value.node is not None and value.node.op is COMPLEX
        re, im = (self.get(v, operand_index(value.node, v, index)) for v in value.node.operands)
        offset = address(index, buffer.strides)
        if coefficient(offset, self.vector) != buffer.dtype.size:
            self.store(part_buffer(buffer, 0), index, re)
            self.store(part_buffer(buffer, 1), index, im)
            return
        e = self.nest.e
        pointer, _ = self._pointer(buffer, offset)
        order = [k // 2 + self.width * (k % 2) for k in range(2 * self.width)]
        pairs = e.shuffle(e.splat(re, self.width), e.splat(im, self.width), order)
        if self.mask is None:
            e.store(pairs, pointer, buffer.align)
        else:
            e.masked_store(pairs, pointer, buffer.align, self._twice(self.mask))

    def store(self, buffer: Buffer, index: Index, x: Val) -> None:
        """Writes an element, or a vector of them."""
        e = self.nest.e
        offset = address(index, buffer.strides)
        stride = coefficient(offset, self.vector)
        pointer, _ = self._pointer(buffer, offset)
        if buffer.dtype.kind == "bool":
            x = e.cast("zext", x, "i8")
        if stride == 0:
            e.store(x, pointer, buffer.align)
            return
        x = e.splat(x, self.width)
        if stride != buffer.dtype.size:
            self._scatter(x, pointer, stride, buffer.align)
        elif self.mask is None:
            e.store(x, pointer, buffer.align)
        else:
            e.masked_store(x, pointer, buffer.align, self.mask)

    def _load_vector(self, pointer: Val, elem: str, align: int) -> Val:
        e = self.nest.e
        if self.mask is None:
            return e.load(pointer, elem, self.width, align)
        return e.masked_load(pointer, elem, align, self.mask)

    def _gather(self, pointer: Val, elem: str, stride: Size, align: int) -> Val:
        e = self.nest.e
        return e.gather(self._lane_pointers(pointer, stride), elem, align, self._lanes_that_count())

    def _scatter(self, x: Val, pointer: Val, stride: Size, align: int) -> None:
        self.nest.e.scatter(x, self._lane_pointers(pointer, stride), align, self._lanes_that_count())

    def _lanes_that_count(self) -> Val:
        return self.mask or self.nest.e.const("i1", 1, self.width)

    def _lane_pointers(self, pointer: Val, stride: Size) -> Val:
        e = self.nest.e
        step = e.splat(self.frame.size(stride), self.width)
        offsets = e.op("mul", e.lanes_of("i64", list(range(self.width))), step)
        return e.offsets(pointer, offsets)

    def _pointer(self, buffer: Buffer, offset: Size) -> tuple[Val, Scope]:
        """The address in the buffer, each loop variable's share added in the scope of that variable."""
        e, scope, base = self.nest.e, self.nest.entry, buffer.base
        if buffer.is_scratch and not self.walks_columns:
            offset = dims.substitute(offset, {f"i{self.vector}": 0})
        constant = 0 if isinstance(offset, int) else next((c for m, c in offset.terms if not m), 0)
        rest = offset - constant
        used = [(v, s, axis) for axis, (v, s) in self._variables(rest)]
        fixed = dims.substitute(rest, {f"i{axis}": 0 for _, _, axis in used})
        pointer = self._step(base, self.frame.size(fixed), scope) if fixed != 0 else base
        for variable, owner, axis in sorted(used, key=lambda u: u[1].depth):
            step = coefficient(rest, axis)
            if step == 0:
                continue
            scope = owner
            key = ("share", variable.text, step)
            if key not in scope.memo:
                with self.nest.at(scope):
                    scope.memo[key] = e.op("mul", variable, self.frame.size(step))
            pointer = self._step(pointer, scope.memo[key], scope)
        constant += buffer.start
        if constant:
            pointer = self._step(pointer, e.const("i64", constant), scope)
        return pointer, scope

    def _step(self, pointer: Val, amount: Val, scope: Scope) -> Val:
        key = ("pointer", pointer.text, amount.text)
        if key not in scope.memo:
            with self.nest.at(scope):
                scope.memo[key] = self.nest.e.offset(pointer, amount)
        return scope.memo[key]

    def _variables(self, expression: Size) -> list[tuple[int, tuple[Val, Scope]]]:
        names = dims.symbols(expression)
        return [(int(n[1:]), found) for n, found in self.nest.variables.items() if n in names]

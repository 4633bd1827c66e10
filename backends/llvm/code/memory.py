"""Emit loads and stores at addresses that are polynomials over loop variables.

The stride along the vector axis selects the instructions: a scalar for 0, a vector load for contiguous elements,
otherwise one access per lane. Lanes outside the mask are never touched.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.accesses import address, coefficient_of
from ....ir.complexes import PARTS
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.indexing import Index
from ....ir.tuples import NamedTuple
from .casts import element, memory_element
from .frame import Frame
from .scopes import Nest, Scope
from .text import BITS, Val
from .vectors import load


class Buffer(NamedTuple):
    """Memory that holds elements by index: an operand, a result, or scratch.

    Scratch memory for the lanes of a step is used again by every step (`is_scratch`).
    """

    base: Val
    strides: tuple[Size, ...]
    dtype: DType
    is_scratch: bool = False
    start: int = 0  # bytes from the base to the first element


def part_buffer(buffer: Buffer, part: int) -> Buffer:
    """The real or the imaginary parts of complex numbers in memory."""
    dtype = PARTS[buffer.dtype]
    return buffer._replace(dtype=dtype, start=buffer.start + part * dtype.size)


class Memory:
    """Emits the loads and stores of one region.

    `vector` is the variable along the lanes. `mask` has the active lanes, if not all are.
    """

    def __init__(self, nest: Nest, frame: Frame, width: int, vector: str) -> None:
        self.nest, self.frame, self.width, self.vector = nest, frame, width, vector
        self.mask: Val | None = None
        self.streamed: Buffer | None = None  # the buffer that non-temporal stores write
        self.down: tuple[str, int] | None = None  # a loop, and how far along it the line of a step is from the first

    def splat(self, x: Val, scope: Scope, lanes: int) -> Val:
        """Broadcast a scalar to every lane, in the scope in which the scalar was computed."""
        if not lanes or x.lanes or not x.text.startswith("%"):
            return self.nest.e.splat(x, lanes)
        key = ("splat", x.text, lanes)
        if key not in scope.memo:
            with self.nest.at(scope):
                scope.memo[key] = self.nest.e.splat(x, lanes)
        return scope.memo[key]

    def load(self, buffer: Buffer, index: Index) -> tuple[Val, Scope]:
        offset = address(index, buffer.strides)
        pointer, scope = self.pointer(buffer, offset)
        with self.nest.at(scope):
            return self.load_at(buffer, pointer, coefficient_of(offset, self.vector)), scope

    def load_at(self, buffer: Buffer, pointer: Val, stride: Size) -> Val:
        """Loads an element of a buffer, or a vector of them that are this far apart."""
        e, elem, dtype = self.nest.e, memory_element(buffer.dtype), buffer.dtype
        if stride == 0:
            raw = e.load(pointer, elem, 0)
        elif stride == dtype.size:
            raw = e.load(pointer, elem, self.width) if self.mask is None else e.masked_load(pointer, elem, self.mask)
        else:
            raw = self._gather(pointer, elem, stride)
        return e.icmp("ne", raw, e.zero_like(raw)) if dtype.kind == "bool" else raw

    def load_whole(self, buffer: Buffer, index: Index) -> Val:
        """Load a whole vector that is stored at one index."""
        pointer, _ = self.pointer(buffer, address(index, buffer.strides))
        return load(self.nest.e, element(buffer.dtype), self.width, pointer)

    def load_part(self, buffer: Buffer, index: Index, part: int) -> tuple[Val, Scope]:
        """Loads the real or the imaginary part of a complex number."""
        half, offset = part_buffer(buffer, part), address(index, buffer.strides)
        if coefficient_of(offset, self.vector) != buffer.dtype.size:
            return self.load(half, index)
        pointer, scope = self.pointer(buffer, offset)
        key = ("pairs", pointer.text)
        with self.nest.at(scope):
            if key not in scope.memo:
                scope.memo[key] = self.load_pairs(half, pointer)
            return self.part_of(scope.memo[key], part), scope

    def load_pairs(self, half: Buffer, pointer: Val) -> Val:
        """Load a vector of complex numbers, whose parts are interleaved; `half` is the buffer of one kind of part."""
        elem = memory_element(half.dtype)
        if self.mask is None:
            return self.nest.e.load(pointer, elem, 2 * self.width)
        return self.nest.e.masked_load(pointer, elem, self._twice(self.mask))

    def part_of(self, pairs: Val, part: int) -> Val:
        return self.nest.e.shuffle(pairs, pairs, list(range(part, 2 * self.width, 2)))

    def _twice(self, mask: Val) -> Val:
        return self.nest.e.shuffle(mask, mask, [k // 2 for k in range(2 * self.width)])

    def store_parts(self, buffer: Buffer, index: Index, re: Val, im: Val) -> None:
        """Writes a complex number, or a vector of them."""
        offset = address(index, buffer.strides)
        if coefficient_of(offset, self.vector) != buffer.dtype.size:
            self.store_result(part_buffer(buffer, 0), index, re)
            self.store_result(part_buffer(buffer, 1), index, im)
            return
        self.store_pairs(buffer, self.pointer(buffer, offset)[0], re, im)

    def store_pairs(self, buffer: Buffer, pointer: Val, re: Val, im: Val) -> None:
        """Writes a vector of complex numbers."""
        e = self.nest.e
        order = [k // 2 + self.width * (k % 2) for k in range(2 * self.width)]
        pairs = e.shuffle(e.splat(re, self.width), e.splat(im, self.width), order)
        if self.mask is None:
            e.store(pairs, pointer)
        else:
            e.masked_store(pairs, pointer, self._twice(self.mask))

    def store(self, buffer: Buffer, index: Index, x: Val) -> None:
        """Writes an element, or a vector of them."""
        offset = address(index, buffer.strides)
        self.store_at(buffer, self.pointer(buffer, offset)[0], coefficient_of(offset, self.vector), x)

    def store_result(self, buffer: Buffer, index: Index, x: Val) -> None:
        """Writes an element of a result, or a vector of them. Along an axis of one element, all lanes are that one."""
        is_one = x.lanes and coefficient_of(address(index, buffer.strides), self.vector) == 0
        self.store(buffer, index, self.nest.e.extract(x, 0) if is_one else x)

    def store_at(self, buffer: Buffer, pointer: Val, stride: Size, x: Val) -> None:
        """Writes an element of a buffer, or a vector of them that are this far apart."""
        e = self.nest.e
        if buffer.dtype.kind == "bool":
            x = e.cast("zext", x, "i8")
        if stride == 0:
            e.store(x, pointer)
            return
        x = e.splat(x, self.width)
        if stride != buffer.dtype.size:
            self._scatter(x, pointer, stride)
        elif self.mask is not None:
            e.masked_store(x, pointer, self.mask)
        elif buffer == self.streamed:
            e.stream(x, pointer)
        else:
            e.store(x, pointer)

    def _gather(self, pointer: Val, elem: str, stride: Size) -> Val:
        """Load elements that are not contiguous.

        A gather instruction takes several times as long as one load per lane (measured; the microcode of some CPUs
        makes it slower still), so only tails use it. Reversed neighbours, and every second element, are loaded as
        vectors and shuffled.
        """
        e, size, width = self.nest.e, BITS[elem] // 8, self.width
        if self.mask is not None:
            return e.gather(self._lane_pointers(pointer, stride), elem, self.mask)
        if stride == -size:
            whole = e.load(e.offset(pointer, e.const("i64", -(width - 1) * size)), elem, width)
            return e.shuffle(whole, whole, list(reversed(range(width))))
        if stride == 2 * size:
            first = e.load(pointer, elem, width)
            # Begin one element before the next vector, so that nothing beyond the last element is read.
            second = e.load(e.offset(pointer, e.const("i64", (width - 1) * size)), elem, width)
            half = width // 2
            return e.shuffle(first, second, [2 * k if k < half else 2 * k + 1 for k in range(width)])
        vector = Val("poison", elem, width)
        for lane in range(width):
            vector = e.insert(vector, e.load(self._lane(pointer, stride, lane), elem, 0), lane)
        return vector

    def _scatter(self, x: Val, pointer: Val, stride: Size) -> None:
        e, size, width = self.nest.e, BITS[x.elem] // 8, self.width
        if self.mask is not None:
            e.scatter(x, self._lane_pointers(pointer, stride), self.mask)
        elif stride == -size:
            turned = e.shuffle(x, x, list(reversed(range(width))))
            e.store(turned, e.offset(pointer, e.const("i64", -(width - 1) * size)))
        else:
            for lane in range(width):
                e.store(e.extract(x, lane), self._lane(pointer, stride, lane))

    def _lane(self, pointer: Val, stride: Size, lane: int) -> Val:
        """Return the address of a lane from that of its group of four, because there are too few registers for every
        offset.
        """
        for steps in (lane & ~3, lane & 3):
            pointer = self.nest.e.offset(pointer, self.frame.size(stride * steps)) if steps else pointer
        return pointer

    def lanes_that_count(self) -> Val:
        return self.mask or self.nest.e.const("i1", 1, self.width)

    def _lane_pointers(self, pointer: Val, stride: Size) -> Val:
        e = self.nest.e
        return e.offsets(pointer, self.along(stride))

    def along(self, stride: Size) -> Val:
        """The offset of each lane for a given stride."""
        e = self.nest.e
        return e.op("mul", e.lanes_of("i64", list(range(self.width))), e.splat(self.frame.size(stride), self.width))

    def pointer(self, buffer: Buffer, offset: Size) -> tuple[Val, Scope]:
        """The address in the buffer; each loop variable's part is added in the scope of that variable."""
        e, scope, base = self.nest.e, self.nest.entry, buffer.base
        if buffer.is_scratch:
            offset = dims.substitute(offset, {self.vector: 0})
        constant = 0 if isinstance(offset, int) else next((c for m, c in offset.terms if not m), 0)
        rest = offset - constant
        stride, lines = (coefficient_of(rest, self.down[0]), self.down[1]) if self.down else (0, 0)
        if not isinstance(stride, int):
            rest = rest - stride * lines
        used = self._variables(rest)
        fixed = dims.substitute(rest, {name: 0 for _, _, name in used})
        pointer = self._step(base, self.frame.size(fixed), scope) if fixed != 0 else base
        for variable, owner, name in sorted(used, key=lambda u: u[1].depth):
            step = coefficient_of(rest, name)
            if step == 0:
                continue
            scope = owner
            pointer = self._step(pointer, self._share(variable, step, scope), scope)
        constant += buffer.start
        if constant:
            pointer = self._step(pointer, e.const("i64", constant), scope)
        if not isinstance(stride, int) and lines:
            pointer = self._line(pointer, stride, lines, scope)
        return pointer, scope

    def _line(self, pointer: Val, stride: Size, lines: int, scope: Scope) -> Val:
        """Return the address of a line from that of its group of four, by an offset that instructions can scale.

        The shifts are computed where they are used, so that the code generator sees them.
        """
        e, one = self.nest.e, self.frame.size(stride)
        with self.nest.at(scope):
            for _ in range(lines // 4):
                key = ("line", pointer.text, stride)
                if key not in scope.memo:
                    scope.memo[key] = e.offset(pointer, e.op("shl", one, e.const("i64", 2)))
                pointer = scope.memo[key]
            if lines % 4 == 1:
                return e.offset(pointer, one)
            if lines % 4 == 2:
                return e.offset(pointer, e.op("shl", one, e.const("i64", 1)))
        return self._step(pointer, self.frame.size(stride * 3), scope) if lines % 4 else pointer

    def number(self, expression: Size) -> tuple[Val, Scope]:
        """Computes a linear expression over loop variables: one number, or one for each lane."""
        e, scope = self.nest.e, self.nest.entry
        used = self._variables(expression)
        total = self.frame.size(dims.substitute(expression, {name: 0 for _, _, name in used}))
        for variable, owner, name in sorted(used, key=lambda u: u[1].depth):
            scope = owner
            with self.nest.at(scope):
                total = e.op("add", total, self._share(variable, coefficient_of(expression, name), scope))
        step = coefficient_of(expression, self.vector)
        if step == 0:
            return total, scope
        with self.nest.at(scope):
            return e.op("add", e.splat(total, self.width), self.along(step)), scope

    def _share(self, variable: Val, step: Size, scope: Scope) -> Val:
        """Return the term of an address that one loop variable contributes."""
        key = ("share", variable.text, step)
        if key not in scope.memo:
            with self.nest.at(scope):
                scope.memo[key] = self.nest.e.op("mul", variable, self.frame.size(step))
        return scope.memo[key]

    def _step(self, pointer: Val, amount: Val, scope: Scope) -> Val:
        key = ("pointer", pointer.text, amount.text)
        if key not in scope.memo:
            with self.nest.at(scope):
                scope.memo[key] = self.nest.e.offset(pointer, amount)
        return scope.memo[key]

    def _variables(self, expression: Size) -> list[tuple[Val, Scope, str]]:
        """The loop variables in an expression, each with its scope and name."""
        names = dims.symbols(expression)
        return [(v, scope, name) for name, (v, scope) in self.nest.variables.items() if name in names]

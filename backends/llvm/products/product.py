"""Hold what the functions of a region with a `matmul` share: their words, loops and elements.

The space of such a region is that of the result, with k as the last axis. Axes before the result's last two number the
matrices; functions count them in C order and split the number into indices.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ir import dims
from ....ir.accesses import address, coefficient
from ....ir.dims import Size
from ....ir.graph import Node, Value
from ....ir.indexing import Index, loop_name, loop_variables, operand_elements
from ....ir.ops import MATMUL, Trait
from ....ir.products import IN_PLACE, factor_index, product_space
from ....ir.types import integer, ints
from ..code.control_word import head
from ..code.frame import Frame
from ..code.memory import Buffer
from ..code.scopes import Nest
from ..code.text import Val
from ..elements.evaluate import Elements
from ..functions import UNTILED, FrameWord, NativeFunction
from .lanes import lane_mask
from .tiles import Tile


def product_of(region: Node) -> Node | None:
    """The product in a region, if there is one."""
    assert region.body is not None
    return next((n for n in region.body if n.op is MATMUL), None)


def rounded_up(size: Size, step: int) -> Size:
    return dims.floordiv(size + step - 1, step) * step


class Product:
    """What the functions of one region share, while one of them is written."""

    def __init__(self, region: Node, entries: dict[FrameWord, int], owner: str) -> None:
        node = product_of(region)
        assert node is not None and region.body is not None
        self.region, self.body, self.node = region, region.body, node
        self.left, self.right = node.operands
        self.space = product_space(self.left.type.shape, node.result.type.shape)
        *self.stack, self.m, self.n, self.k = self.space
        self.rank = len(self.space) - 1
        self.axes = (self.rank - 2, self.rank - 1, self.rank)  # block sizes: rows, columns and terms
        self.nest = Nest()
        self.e, self.frame = self.nest.e, Frame(self.nest, entries)
        self.e.owners.append((0, node.result))
        self.width = integer(region.attrs, "width")
        self.block_rows, self.block_columns, self.depth = ints(region.attrs, "blocks")
        self.of_rows = "row_width" in region.attrs  # whether stages over rows follow
        self.is_symmetric = bool(region.attrs.get("symmetric"))
        self.row_cost = integer(region.attrs, "row_cost") if self.of_rows else 0
        self.cost = (integer(region.attrs, "cost") - self.row_cost) // (self.depth if self.of_rows else 1)
        rows, vectors = ints(region.attrs, "registers")
        dtype = node.result.type.dtype
        self.e.vector_bytes = self.width * dtype.size
        self.tile = Tile(owner, dtype, rows, vectors, self.width, vectors * self.width, self.depth)

    # -- sizes and numbers

    @property
    def panels(self) -> Size:
        """How many tiles are needed side by side."""
        return dims.floordiv(self.n + self.tile.columns - 1, self.tile.columns)

    @property
    def depths(self) -> Size:
        """The number of parts that the terms are cut into."""
        return dims.floordiv(self.k + self.depth - 1, self.depth)

    def number(self, size: Size) -> Val:
        return self.frame.size(size)

    def times(self, a: Val, b: Size) -> Val:
        return self.e.op("mul", a, self.number(b))

    def plus(self, a: Val, b: Val | Size) -> Val:
        return self.e.op("add", a, b if isinstance(b, Val) else self.number(b))

    def least(self, a: Val, b: Val | Size) -> Val:
        return self.e.call("smin", a, b if isinstance(b, Val) else self.number(b))

    def apart(self, number: Val, count: Size) -> tuple[Val, Val]:
        """Divides a number: quotient and remainder."""
        return self.e.op("sdiv", number, self.number(count)), self.e.op("srem", number, self.number(count))

    def up(self, number: Val, step: int) -> Val:
        """Rounds up to the next multiple of a step."""
        return self.times(self.e.op("sdiv", self.plus(number, step - 1), self.number(step)), step)

    # -- loops

    def loop(self, start: Val, stop: Val, step: int, body: Callable[[Val], None]) -> None:
        def turn(at: Val, carried: list[Val]) -> list[Val]:
            body(at)
            return []

        self.nest.loop(None, start, stop, step, [], turn)

    def parameter(self, name: str) -> Val:
        return Val(f"%{name}", "i64", 0)

    def bind(self, axis: int, value: Val) -> None:
        """Sets the variable of an axis while the innermost loop is open."""
        self.nest.variables[loop_name(axis)] = (value, self.nest.scope)

    def stack_axes(self, value: Value) -> list[int]:
        """The result axes along which a value has different matrices."""
        shape = value.type.shape[:-2]
        first = len(self.stack) - len(shape)
        return [first + k for k, size in enumerate(shape) if size != 1]

    def bind_stack(self, number: Val, value: Value) -> None:
        """Sets the variables that select the matrix with this number."""
        for axis in reversed(self.stack_axes(value)):
            number, place = self.apart(number, self.stack[axis])
            self.bind(axis, place)

    def stack_number(self, value: Value) -> Val:
        """The number of the matrix that the variables select."""
        total = self.number(0)
        for axis in self.stack_axes(value):
            total = self.plus(self.times(total, self.stack[axis]), self.nest.variables[loop_name(axis)][0])
        return total

    def stack_size(self, value: Value) -> Size:
        return dims.product(self.stack[axis] for axis in self.stack_axes(value))

    # -- rows

    def time(self, elements: Size) -> Size:
        """The estimated time for a number of result elements."""
        return elements * (dims.maximum(self.k, 1) * self.cost + self.row_cost)

    def row_bytes(self, rows: Size) -> Size:
        """Return the size in bytes of this many rows of the product."""
        return dims.product((rows, self.n, self.tile.size))

    def row_buffer(self, origin: Val) -> Buffer:
        """The rows of one matrix in memory; row 0 would be at `origin`."""
        strides = (*[0] * len(self.stack), self.row_bytes(1), self.tile.size)
        return Buffer(origin, strides, self.tile.dtype)

    def own_rows(self, start: Val) -> Val:
        """The origin of this worker's memory for a block of rows that begins with `start`."""
        rows = self.frame.scratch(self.row_bytes(dims.minimum(self.m, self.block_rows)), name="rows")
        return self.e.offset(rows, self.e.op("sub", self.number(0), self.times(start, self.row_bytes(1))))

    # -- elements

    def elements(self, vector: int) -> Elements:
        """Elements in vectors along an axis."""
        return Elements(self.region, self.nest, self.frame, self.width, vector)

    def factor(self, is_left: bool) -> Index:
        """The index at which this iteration reads an operand."""
        value = self.left if is_left else self.right
        return factor_index(value.type.shape, loop_variables(self.space)[:-1], is_left)

    def is_plain(self, value: Value) -> bool:
        """Tell whether an operand is in memory or a view of memory; bools in memory may be any bytes."""
        while value.node is not None and Trait.VIEW in value.node.op.traits:
            value = value.node.operands[0]
        return value in self.body.inputs and value.type.dtype.kind != "bool"

    @property
    def reads_in_place(self) -> bool:
        """Tell whether tiles can read the right operand where it lies: its lines are contiguous."""
        if not self.is_plain(self.right):
            return False
        *_, offset = self.addresses(False, self.axes[1])
        return coefficient(offset, self.axes[1]) == self.tile.size

    @property
    def is_in_place(self) -> Size:
        """1 if a product that is not small is computed without packing, because its right operand stays in a core's
        cache, otherwise 0.

        It is not done for symmetric products, where packing saves half the work, nor if stages over rows follow.
        """
        if self.of_rows or self.is_symmetric or not (self.reads_in_place and self.is_plain(self.left)):
            return 0
        most = integer(self.region.attrs, "in_place") if "in_place" in self.region.attrs else IN_PLACE
        return dims.minimum(dims.maximum(most + 1 - dims.product((self.k, self.n, self.tile.size)), 0), 1)

    def addresses(self, is_left: bool, axis: int) -> tuple[Elements, Buffer, Size]:
        """An operand in memory: its elements along an axis, its buffer, and its addresses as a polynomial."""
        elements = self.elements(axis)
        value, index = (self.left if is_left else self.right), self.factor(is_left)
        while value.node is not None:
            ((value, index),) = operand_elements(value.node, index)
        buffer = elements.operand(elements.slots[value])
        return elements, buffer, address(index, buffer.strides)

    def place_of(self, is_left: bool, axis: int, term: Size) -> tuple[Val, Size]:
        """The address of an operand in memory here, at some term, and all its addresses as a polynomial."""
        elements, buffer, offset = self.addresses(is_left, axis)
        place, _ = elements.memory.pointer(buffer, dims.substitute(offset, {loop_name(self.axes[-1]): term}))
        return place, offset

    def over_vectors(
        self, elements: Elements, start: Val, stop: Val, padded: Val, steps: tuple[int, ...], body: Callable[..., None]
    ) -> None:
        """Emits `body(at, count)` for whole groups of vectors, then for single vectors, the last of them masked.

        Lanes from `stop` on are masked; vectors that begin at `padded` or later are left out.
        """
        for count in steps:
            step = count * self.width
            whole = self.e.op("sdiv", self.e.op("sub", stop, start), self.number(step))
            end = self.plus(start, self.times(whole, step))
            self.loop(start, end, step, lambda at, n=count: body(at, n))  # type: ignore[misc]
            start = end

        def masked(at: Val) -> None:
            elements.memory.mask = lane_mask(self.e, self.e.op("sub", stop, at), self.width)
            body(at, 1)
            elements.memory.mask = None

        self.loop(start, padded, self.width, masked)

    # -- the function

    def finished(self) -> list[str]:
        """The text of the function, which returns whether something failed."""
        e, status = self.e, Val("0", "i32", 0)
        if e.fails:
            self.nest.entry.lines[1:1] = ["  %status = alloca i32, align 4", "  store i32 0, ptr %status, align 4"]
            status = e.load(Val("%status", "ptr", 0), "i32", 0, 4)
        return [*self.nest.entry.lines, f"  ret i32 {status.text}"]

    def part(self, name: str, extents: tuple[Size, Size], unit: Size) -> NativeFunction:
        """Finishes the function as one of the kernel's."""
        text = "\n".join([head(name), *self.finished(), "}"])
        return NativeFunction(
            name, text, extents, (1, 1), unit, UNTILED, tuple(self.e.owners), dict(self.e.inner_owners)
        )

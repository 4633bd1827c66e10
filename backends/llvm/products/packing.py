"""Emit code that copies part of an operand into the order in which tiles read it.

The copy consists of lines of elements. In the left operand a line is a row, and positions are k; in the right operand a
line is a k, and positions are columns. Vectors run along the positions, or along the lines if memory is contiguous
there; then a block of vectors is transposed in registers. Operations fused before the product are computed while
packing.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ....ir.graph import Value
from ....ir.indexing import Index, loop_name
from ....ir.tuples import NamedTuple
from ....ir.types import ints
from ..code.text import Emitter, Val
from .product import Product

AHEAD = 4  # lines of a panel that are prefetched: parts of lines are too short for the CPU to do it


class PackedSpan(NamedTuple):
    """A range of lines or positions: its begin, the end of those that exist, and the end of those that are read."""

    start: Val
    stop: Val
    padded: Val


def is_turned(product: Product, is_left: bool) -> bool:
    return (0 if is_left else 1) in ints(product.region.attrs, "turned")


def pack(
    product: Product, is_left: bool, lines: PackedSpan, positions: PackedSpan, target: Val, line_bytes: int
) -> None:
    """Emit the copy. Elements that do not exist get an arbitrary number."""
    copy = _turned if is_turned(product, is_left) else _straight
    copy(product, is_left, lines, positions, target, line_bytes)


def pack_panels(product: Product, lines: PackedSpan, positions: PackedSpan, target: Val, panel_bytes: Size) -> None:
    """Emits a copy of several adjacent panels of the right operand that reads each line in one go."""
    e, tile, index = product.e, product.tile, product.factor(False)
    line_axis, axis = product.axes[2], product.axes[1]
    elements = product.elements(axis)
    is_plain, later = product.is_plain(product.right), dims.symbol(loop_name(line_axis)) + AHEAD

    def line(at: Val) -> None:
        product.bind(line_axis, at)
        start = e.offset(target, product.times(e.op("sub", at, lines.start), tile.line_bytes))

        def vectors(at: Val, count: int) -> None:
            product.bind(axis, at)
            panel, rest = product.apart(e.op("sub", at, positions.start), tile.columns)
            place = e.offset(e.offset(start, product.times(panel, panel_bytes)), product.times(rest, tile.size))
            if is_plain:
                first, _ = product.place_of(False, axis, later)
                for k in range(count):
                    e.prefetch(e.offset(first, product.number(k * product.width * tile.size)), 1)
            for k in range(count):
                x = _stored(product, elements.get(product.right, _moved(index, axis, k * product.width)))
                e.store(x, e.offset(place, product.number(k * product.width * tile.size)), 1)

        product.over_vectors(elements, positions.start, positions.stop, positions.padded, (tile.vectors,), vectors)

    product.loop(lines.start, lines.stop, 1, line)


def _operand(product: Product, is_left: bool) -> tuple[Value, int, int]:
    """The operand to copy, and its axes of lines and positions."""
    rows, columns, terms = product.axes
    return (product.left, rows, terms) if is_left else (product.right, terms, columns)


def _straight(
    product: Product, is_left: bool, lines: PackedSpan, positions: PackedSpan, target: Val, line_bytes: int
) -> None:
    e, index, (value, line_axis, axis) = product.e, product.factor(is_left), _operand(product, is_left)
    elements = product.elements(axis)

    def line(at: Val) -> None:
        product.bind(line_axis, product.least(at, e.op("sub", lines.stop, product.number(1))))
        start = e.offset(target, product.times(e.op("sub", at, lines.start), line_bytes))

        def vectors(at: Val, count: int) -> None:
            product.bind(axis, at)
            place = e.offset(start, product.times(e.op("sub", at, positions.start), product.tile.size))
            for k in range(count):
                x = _stored(product, elements.get(value, _moved(index, axis, k * product.width)))
                e.store(x, e.offset(place, product.number(k * product.width * product.tile.size)), 1)

        product.over_vectors(elements, positions.start, positions.stop, positions.padded, (4, 1), vectors)

    product.loop(lines.start, lines.padded, 1, line)


def _turned(
    product: Product, is_left: bool, lines: PackedSpan, positions: PackedSpan, target: Val, line_bytes: int
) -> None:
    e, width, (value, line_axis, axis) = product.e, product.width, _operand(product, is_left)
    elements = product.elements(line_axis)
    # Each vector has its own position, never beyond the last, and so its own variable.
    places = [product.rank + 1 + k for k in range(width)]

    def position(at: Val) -> None:
        for k, place in enumerate(places):
            last = e.op("sub", positions.stop, product.number(1))
            product.bind(place, product.least(product.plus(at, k), last))
        column = e.offset(target, product.times(e.op("sub", at, positions.start), product.tile.size))

        def block(at: Val, count: int) -> None:
            product.bind(line_axis, at)
            found = [elements.get(value, _renamed(product.factor(is_left), axis, place)) for place in places]
            turned = transposed(e, [_stored(product, x) for x in found])
            start = e.offset(column, product.times(e.op("sub", at, lines.start), line_bytes))
            for k, x in enumerate(turned):
                e.store(x, e.offset(start, product.number(k * line_bytes)), 1)

        # All blocks are masked: a transpose is a lot of code, and compiling a second copy would cost more than the
        # masks.
        product.over_vectors(elements, lines.start, lines.stop, lines.padded, (), block)

    product.loop(positions.start, positions.padded, width, position)


def _stored(product: Product, x: Val) -> Val:
    """Loads a vector from memory."""
    x = product.e.splat(x, product.width)
    return product.e.cast("zext", x, "i8") if x.elem == "i1" else x


def _moved(index: Index, axis: int, offset: int) -> Index:
    name = loop_name(axis)
    return tuple(dims.substitute(i, {name: dims.symbol(name) + offset}) for i in index) if offset else index


def _renamed(index: Index, axis: int, new: int) -> Index:
    return tuple(dims.substitute(i, {loop_name(axis): dims.symbol(loop_name(new))}) for i in index)


def transposed(e: Emitter, rows: list[Val]) -> list[Val]:
    """Transpose a square of vectors: element k of vector i becomes element i of vector k."""
    width, half = len(rows), len(rows) // 2
    while half:
        low = [k // (2 * half) * (2 * half) + k % half + (width if k % (2 * half) >= half else 0) for k in range(width)]
        high = [k + half for k in low]
        after = list(rows)
        for k in range(width):
            if k % (2 * half) < half:
                a, b = rows[k], rows[k + half]
                after[k], after[k + half] = e.shuffle(a, b, low), e.shuffle(a, b, high)
        rows, half = after, half // 2
    return rows

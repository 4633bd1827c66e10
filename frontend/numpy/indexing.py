"""Apply basic indexing with sizes that may be symbolic.

An integer becomes a slice of size 1 and a reshape that drops the axis. Slices are clamped as NumPy clamps them, in
forms that keep equal slices equal: `x[1:-1]` and `x[2:]` of n elements both have `max(0, n - 2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import Dim, Size
from ...ir.errors import IndexProblem, Span, TypeProblem, ValueProblem, type_of
from ...ir.footprints import MOST_ELEMENTS
from ...ir.graph import Value
from ...ir.ops import RESHAPE, SLICE
from ...ir.types import Sizes
from ..maker import literal
from ..sizes import guard_at_least, guard_negative

Range = tuple[Size, int, Size]  # start, step, size


def index(builder: Builder, value: Value, items: Sequence[Any], span: Span | None) -> Value:
    """Compute `value[items]`; items are ints, sizes, slices, None and Ellipsis."""
    full = expanded(items, value.type.rank, span)
    ranges: list[Range] = []
    shape: list[Size] = []
    for item in full:
        if item is None:
            shape.append(1)
            continue
        size = builder.facts.canonical(value.type.shape[len(ranges)])
        if isinstance(item, slice):
            ranges.append(_slice(builder, item, size, span))
            shape.append(ranges[-1][2])
        else:
            ranges.append((_position(builder, item, size, len(ranges), span), 1, 1))
    taken = _taken(builder, value, ranges, span)
    if not shape and not any(item is Ellipsis for item in items):
        return builder.op(RESHAPE, taken, span=span, shape=Sizes(()), element=True)
    if tuple(shape) == taken.type.shape and shape:
        return taken
    return builder.op(RESHAPE, taken, span=span, shape=Sizes(shape))


def expanded(items: Sequence[Any], rank: int, span: Span | None) -> list[Any]:
    """Expand the items to one for each axis, and None for each new axis."""
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > rank:
        raise IndexProblem(f"too many indices for array: array is {rank}-dimensional, but {used} were indexed", span)
    gaps = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(gaps) > 1:
        raise IndexProblem("an index can only have a single ellipsis ('...')", span)
    at = gaps[0] if gaps else len(items)
    return [*items[:at], *[slice(None)] * (rank - used), *items[at + 1 :]]


def _taken(builder: Builder, value: Value, ranges: list[Range], span: Span | None) -> Value:
    sizes = tuple(r[2] for r in ranges)
    if sizes == value.type.shape and all(start == 0 and step == 1 for start, step, _ in ranges):
        return value
    starts, steps = Sizes(r[0] for r in ranges), tuple(r[1] for r in ranges)
    return builder.op(SLICE, value, span=span, starts=starts, steps=steps, sizes=Sizes(sizes))


def _position(builder: Builder, item: Any, size: Size, axis: int, span: Span | None) -> Size:
    """Check an integer index, and count it from the front."""
    at, facts = _size(item, "an index", span), builder.facts
    negative = at < 0 if isinstance(at, int) else guard_negative(facts, at)
    needed = -at if negative else at + 1
    if not guard_at_least(facts, size, needed):
        shown = [n if (n := facts.number(s)) is not None else s for s in (at, size)]
        raise IndexProblem(f"index {shown[0]} is out of bounds for axis {axis} with size {shown[1]}", span)
    return size + at if negative else at


def _slice(builder: Builder, item: slice, size: Size, span: Span | None) -> Range:
    step = _step(builder, item.step, span)
    start = None if item.start is None else _bound(builder, item.start, size, span)
    stop = None if item.stop is None else _bound(builder, item.stop, size, span)
    first, count = _forward(start, stop, size, step) if step > 0 else _backward(start, stop, size, -step)
    if isinstance(count, int) and count == 0:
        first = 0
    return first, step, count


Bound = tuple[Size, bool]  # the position counted from the front, not clamped, and whether it was given from the end


def _forward(start: Bound | None, stop: Bound | None, size: Size, step: int) -> tuple[Size, Size]:
    """Return start and count for a positive step, clamped only if needed: a late start gives a negative count."""
    first: Size = 0
    if start is not None:
        first = dims.maximum(0, start[0]) if start[1] else start[0]
    last = size
    if stop is not None:
        last = stop[0] if stop[1] else dims.minimum(stop[0], size)
    return first, dims.maximum(0, dims.floordiv(last - first + (step - 1), step))


def _backward(start: Bound | None, stop: Bound | None, size: Size, stride: int) -> tuple[Size, Size]:
    first = size - 1
    if start is not None:
        first = start[0] if start[1] else dims.minimum(start[0], size - 1)
    last: Size = -1
    if stop is not None:
        last = dims.maximum(-1, stop[0]) if stop[1] else stop[0]
    return first, dims.maximum(0, dims.floordiv(first - last + (stride - 1), stride))


def _bound(builder: Builder, part: Any, size: Size, span: Span | None) -> Bound:
    at = _clamped(_size(part, "a slice bound", span))
    negative = at < 0 if isinstance(at, int) else guard_negative(builder.facts, at)
    return (size + at, True) if negative else (at, False)


def _clamped(at: Size) -> Size:
    """Clamp a constant bound to the largest possible array, because native code counts in signed 64-bit words."""
    return max(-MOST_ELEMENTS, min(at, MOST_ELEMENTS)) if isinstance(at, int) else at


def _step(builder: Builder, step: Any, span: Span | None) -> int:
    if step is None:
        return 1
    number = _size(step, "a slice step", span)
    if isinstance(number, Dim):
        known = builder.facts.specialize(number)
        if known is None:
            raise TypeProblem(f"the slice step '{number}' must be a number", span, "write the step as a literal")
        number = known
    number = max(-MOST_ELEMENTS, min(number, MOST_ELEMENTS))
    if number == 0:
        raise ValueProblem("slice step cannot be zero", span)
    return number


def _size(item: Any, what: str, span: Span | None) -> Size:
    if isinstance(item, Dim):
        return item
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return int(item)
    if (number := literal(item)) is not None:
        return number
    if isinstance(item, Value):
        raise TypeProblem(
            f"{what} must be a number or a size known at compile time", span, "use a literal or a dimension's name"
        )
    raise TypeProblem(f"{what} must be a whole number, not {type_of(item)}", span)

"""Index arrays: views for slices, `None` and `...`, and positions of elements that are proved to be in range.

Negative indices count from the end. If the form of an index does not show its sign, the sign is taken from the current
call and guarded, or decided at run time.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import dims
from ....ir.dims import LOOP, Size
from ....ir.dtypes import I64
from ..arithmetic import value_of
from ..emit import NestEmitter
from ..kinds import Known, NumpyScalar, PythonNumber
from ..values import Abstract, CutProblem, Number, SliceValue, View


def is_whole_number(item: Abstract) -> bool:
    """Whether an item of an index is an integer of Python or NumPy."""
    if not isinstance(item, Number):
        return False
    if isinstance(item.kind, NumpyScalar):
        return item.kind.dtype.is_integer
    return item.kind.name == "int"


def is_basic(items: Sequence[Abstract]) -> bool:
    """Whether an index gives a view: it has only integers, slices, None and Ellipsis."""
    return all(
        is_whole_number(i) or isinstance(i, SliceValue) or (isinstance(i, Known) and i.value in (None, Ellipsis))
        for i in items
    )


def view_of(e: NestEmitter, view: View, items: Sequence[Abstract]) -> View:
    """Compute `view[items]` with basic items; without slices the result has rank 0."""
    full = _expanded(view, items)
    starts = list(view.starts)
    columns: list[list[int]] = []  # for each axis of the result, its step along each axis of the buffer
    shape: list[Size] = []
    axis = 0
    for item in full:
        if isinstance(item, Known):
            shape.append(1)
            columns.append([0] * len(starts))
            continue
        own, size = [steps[axis] for steps in view.steps], view.shape[axis]
        if isinstance(item, SliceValue):
            first, step, count = _slice(e, item, size)
            shape.append(count)
            columns.append([s * step for s in own])
        else:
            assert isinstance(item, Number)
            first = position(e, item, size)
        starts = [start + first * s if s else start for start, s in zip(starts, own, strict=True)]
        axis += 1
    rows = tuple(tuple(column[k] for column in columns) for k in range(len(starts)))
    return View(view.buffer, tuple(shape), tuple(starts), rows, view.is_part, True)


def _expanded(view: View, items: Sequence[Abstract]) -> list[Abstract]:
    """Expand the items to one for each axis, and None for each new axis."""
    gaps = [k for k, i in enumerate(items) if isinstance(i, Known) and i.value is Ellipsis]
    used = sum(not isinstance(i, Known) for i in items)
    if used > view.rank or len(gaps) > 1:
        raise CutProblem(f"this raises IndexError: {used} indices for an array with {view.rank} dimensions")
    at = gaps[0] if gaps else len(items)
    every = [SliceValue(None, None, None)] * (view.rank - used)
    return [*items[:at], *every, *items[at + 1 :]]


def position(e: NestEmitter, number: Number, size: Size) -> Size:
    """Return an integer index, counted from the front and in range."""
    at = number.size
    if at is not None:
        negative = _is_negative(e, at)
        if negative is not None:
            found = size + at if negative else at
            if e.holds(found if negative else size - 1 - at):
                return found
            if isinstance(found, int) and isinstance(size, int):
                raise CutProblem(f"this raises IndexError: index {at} is out of bounds for size {size}")
    value = value_of(e, number)
    if value.type.dtype != I64:
        value = e.cast(value, I64)
    may_wrap = isinstance(number.kind, PythonNumber) or number.kind.dtype.kind == "int"
    if may_wrap and (at is None or not e.proves(at)):
        wrapped = e.op("add", value, e.size_number(size))
        value = e.select(e.op("lt", value, e.constant(0, I64)), wrapped, value)
    return e.bind(value, size, "at")


def _is_negative(e: NestEmitter, at: Size) -> bool | None:
    """Tell whether an index counts from the end: proved, or guarded as in the current call.

    None means that it may do both.
    """
    if isinstance(at, int):
        return at < 0
    if e.proves(at):
        return False
    if e.proves(-at - 1):
        return True
    if any(name.startswith(LOOP) for name in at.symbols):
        least = e.least(at)
        if least is not None and _fits_call(e, least):
            e.guard(least)
            return False
        return None
    if not at.symbols <= e.sizes.keys():
        return None
    negative = dims.evaluate(at, e.sizes) < 0
    e.guard(-at - 1 if negative else at)
    return negative


def _fits_call(e: NestEmitter, size: Size) -> bool:
    """Whether a size is at least 0 in the current call."""
    return dims.symbols(size) <= e.sizes.keys() and dims.evaluate(size, e.sizes) >= 0


def _slice(e: NestEmitter, item: SliceValue, size: Size) -> tuple[Size, int, Size]:
    """Return the start, step and count of a slice of an axis."""
    step = 1 if is_none(item.step) else _step(e, item.step)
    if step > 0:
        first = 0 if is_none(item.start) else bound(e, item.start, size)
        last = size if is_none(item.stop) else bound(e, item.stop, size)
        return first, step, count_of(e, last - first, step)
    # counted from the end: element k of the reversed axis is size - 1 - k
    first = size - 1 if is_none(item.start) else _backward(e, item.start, size)
    last = -1 if is_none(item.stop) else _backward(e, item.stop, size)
    return first, step, count_of(e, first - last, -step)


def _backward(e: NestEmitter, item: Abstract | None, size: Size) -> Size:
    """Return a bound of a slice with a negative step, from -1 to size - 1."""
    assert isinstance(item, Number)
    if item.size is None:
        raise CutProblem("a slice that runs backwards from a number that depends on data is not supported")
    negative = _is_negative(e, item.size)
    if negative is None:
        raise CutProblem("the sign of a slice bound is not known")
    at = size + item.size if negative else item.size
    if negative:
        return at if e.holds(at) else dims.maximum(-1, at)
    return at if e.holds(size - 1 - at) else dims.minimum(at, size - 1)


def count_of(e: NestEmitter, length: Size, step: int) -> Size:
    """How many steps fit a length."""
    count = dims.floordiv(length + (step - 1), step)
    if isinstance(count, int):
        return max(0, count)
    if e.proves(count):
        return count
    least = e.least(count)
    if least is not None and not isinstance(least, int) and _fits_call(e, least):
        e.guard(least)
        return count
    return dims.maximum(0, count)


def is_none(item: Abstract | None) -> bool:
    """Whether a part of a slice is left out."""
    return item is None or (isinstance(item, Known) and item.value is None)


def has_known_step(e: NestEmitter, item: SliceValue) -> bool:
    """Whether the step of a slice is known at compile time, or can be guarded."""
    if is_none(item.step) or not isinstance(item.step, Number) or not is_whole_number(item.step):
        return True
    step = item.step.size
    return step is not None and (isinstance(step, int) or (not e.is_general and e.facts.number(step) is not None))


def _step(e: NestEmitter, item: Abstract | None) -> int:
    if not isinstance(item, Number) or item.size is None:
        raise CutProblem("the step of a slice must be a number that is known at compile time")
    step = item.size
    if not isinstance(step, int):
        known = e.facts.specialize(step)
        if known is None:
            raise CutProblem("the step of a slice must be a number that is known at compile time")
        e.need(step)
        step = known
    if step == 0:
        raise CutProblem("this raises ValueError: slice step cannot be zero")
    return step


def bound(e: NestEmitter, item: Abstract | None, size: Size) -> Size:
    """Return a bound of a slice with a positive step, counted from the front and clamped to the axis.

    A bound from data must be in range. So slices of two arrays by the same numbers have the same size.
    """
    if not isinstance(item, Number) or not is_whole_number(item):
        raise CutProblem("the bounds of a slice must be integers")
    at = item.size
    if at is not None:
        negative = _is_negative(e, at)
        if negative:
            return size + at if e.holds(size + at) else dims.maximum(0, size + at)
        if negative is not None:
            return at if e.holds(size - at) else dims.minimum(at, size)
    value = value_of(e, item)
    if value.type.dtype != I64:
        value = e.cast(value, I64)
    return e.bind(value, size + 1, "to")


def transposed(view: View, order: Sequence[int]) -> View:
    """The view with its axes in another order."""
    shape = tuple(view.shape[k] for k in order)
    rows = tuple(tuple(steps[k] for k in order) for steps in view.steps)
    return View(view.buffer, shape, view.starts, rows, view.is_part, True)

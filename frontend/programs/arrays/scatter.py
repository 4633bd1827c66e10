"""Store to the elements that integer arrays select, one after the other: `a[idx] = v`, `a[idx] += v`, `np.add.at(a,
idx, v)`.

If an index occurs twice, the last value is stored, as in NumPy; `np.add.at` adds each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.dims import Size
from ....ir.nest import ops
from ....ir.types import Sizes
from ..context import Lowering
from ..kinds import Known, NumpyScalar
from ..values import Abstract, CutProblem, Number, SliceValue, View
from .indexing import is_basic, is_whole_number, view_of

Put = Callable[[View, Abstract], None]


def has_indices(items: Sequence[Abstract]) -> bool:
    """Whether an index has vectors of integers, and apart from them only items that give views."""
    arrays = [i for i in items if _is_indices(i)]
    return bool(arrays) and is_basic([i for i in items if not _is_indices(i)])


def _is_indices(item: Abstract) -> bool:
    return isinstance(item, View) and item.rank == 1 and item.dtype.is_integer


def scatter(p: Lowering, of: View, items: Sequence[Abstract], value: Abstract, put: Put) -> None:
    """Call `put` for each place that the indices select, with the part of the value that belongs there."""
    if any(isinstance(i, Known) for i in items):
        raise CutProblem("None and ... among index arrays are not compiled")
    value = p.computed(value)
    items = [apart(p, item, of) for item in items]
    value = apart(p, value, of)
    if not isinstance(value, (Number, View)):
        raise CutProblem("only arrays and numbers can be stored")
    size = _length(p, [i for i in items if isinstance(i, View)])
    at = _axis(items)
    rank = 1 + sum(isinstance(i, SliceValue) for i in items) + of.rank - len(items)
    p.compute_waiting(of.buffer)
    name = p.e.fresh("k")
    p.e.enter(is_loop=True)
    k = p.e.variable(name, 0, size)
    chosen = [_index(p, item, k) if isinstance(item, View) else item for item in items]
    put(view_of(p.e, of, chosen), part_of(p, value, at - rank, k, size))
    body = p.e.leave([])
    p.e.node(ops.FOR, (), (), body, var=name, range=Sizes((0, size)), kind="serial")


def apart(p: Lowering, value: Abstract, of: View) -> Abstract:
    """Copy an array that lies in the memory that is stored to."""
    if not isinstance(value, View) or value.buffer is not of.buffer:
        return value
    made = p.e.allocate(value.dtype, value.shape)
    p.copy(made, value)
    return made


def _length(p: Lowering, arrays: Sequence[View]) -> Size:
    def meet() -> Size:
        return p.e.facts.broadcast([array.shape for array in arrays])[0]

    found: Size = p.draft.record(meet)
    if any(not p.e.facts.same(array.shape[0], found) for array in arrays):
        raise CutProblem("index arrays of different sizes are not compiled")
    return found


def _axis(items: Sequence[Abstract]) -> int:
    """Find the axis of the value that belongs to the indices: their position if they are adjacent, else the
    first axis.
    """
    advanced = [k for k, item in enumerate(items) if isinstance(item, View) or is_whole_number(item)]
    if advanced != list(range(advanced[0], advanced[-1] + 1)):
        return 0
    return advanced[0]


def _index(p: Lowering, array: View, k: Size) -> Number:
    element = View(array.buffer, (), *_moved(array, 0, k))
    return Number(NumpyScalar(array.dtype), p.e.load(element, ()))


def part_of(p: Lowering, value: Number | View, axis: int, k: Size, size: Size) -> Abstract:
    """Return the part of the value for one index. The axis is counted from the end, as in broadcasting."""
    if isinstance(value, Number) or value.rank < -axis:
        return value
    at = value.rank + axis
    length = value.shape[at]
    if length != 1:
        p.draft.record(lambda: p.e.facts.broadcast([(length,), (size,)]))
    part = View(value.buffer, (*value.shape[:at], *value.shape[at + 1 :]), *_moved(value, at, k), value.is_part)
    return part if part.rank else p.load(part)


def _moved(view: View, axis: int, k: Size) -> tuple[tuple[Size, ...], tuple[tuple[int, ...], ...]]:
    """Return the starts and steps of a view with the index k on one axis; an axis of size 1 repeats."""
    at = 0 if view.shape[axis] == 1 else k
    starts = tuple(s + at * row[axis] if row[axis] else s for s, row in zip(view.starts, view.steps, strict=True))
    return starts, tuple((*row[:axis], *row[axis + 1 :]) for row in view.steps)

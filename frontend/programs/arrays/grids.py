"""Make `np.mgrid[a:b, c:d]` and `np.ogrid[...]`: arrays of the indices along each axis."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.dims import Size
from ....ir.dtypes import I64
from ..arithmetic import INT, as_int
from ..context import Lowering
from ..kinds import Known
from ..values import Abstract, CutProblem, Expression, Number, SliceValue, TupleValue, View, constant, plain
from .drafts import Draft, materialized
from .indexing import count_of


def grid(p: Lowering, items: Sequence[Abstract], is_open: bool) -> Abstract:
    """Index `np.mgrid`, or `np.ogrid`, whose arrays have size 1 along all axes but one."""
    ranges = [_range(p, item) for item in items]
    if len(ranges) == 1:
        draft = Draft(p.e)
        return materialized(draft, _along(draft, ranges, 0), p.node)
    if is_open:
        return TupleValue(tuple(_opened(p, ranges, axis) for axis in range(len(ranges))))
    counts = tuple(count for _, _, count in ranges)
    made = p.e.allocate(I64, (len(ranges), *counts), p.node)
    for axis in range(len(ranges)):
        draft = Draft(p.e)
        draft.emit([_along(draft, ranges, axis).value], [_part(made, axis)])
    return made


def _range(p: Lowering, item: Abstract) -> tuple[Size, int, Size]:
    """Return the first number, the step and the count of a slice; only slices of ints make integers."""
    if not isinstance(item, SliceValue):
        raise CutProblem("a grid is indexed by slices")
    step = constant(1) if _is_none(item.step) else item.step
    if _is_none(item.stop) or not isinstance(step, Number) or type(step.known) is not int or step.known == 0:
        raise CutProblem("the steps of a grid must be constants other than 0, and its ends be given")
    first = 0 if _is_none(item.start) else _end(p, item.start)
    last = _end(p, item.stop)
    length = last - first if step.known > 0 else first - last
    return first, step.known, count_of(p.e, length, abs(step.known))


def _end(p: Lowering, item: Abstract | None) -> Size:
    if not isinstance(item, Number) or plain(item.kind) != INT:
        raise CutProblem("the ends of a grid must be ints")
    size = p.e.size_of(as_int(p.e, item))
    p.e.need(size)
    return size


def _is_none(item: Abstract | None) -> bool:
    return item is None or (isinstance(item, Known) and item.value is None)


def _along(draft: Draft, ranges: Sequence[tuple[Size, int, Size]], axis: int) -> Expression:
    """Return the numbers along an axis, in an array with as many axes as the grid."""
    first, step, count = ranges[axis]
    made = draft.call("arange", (_number(count),), {})
    if step != 1:
        made = draft.call("multiply", (made, _number(step)), {})
    if first != 0:
        made = draft.call("add", (made, _number(first)), {})
    if len(ranges) > 1:
        made = draft.index(made, [slice(None) if k == axis else None for k in range(len(ranges))])
    assert isinstance(made, Expression)
    return made


def _number(size: Size) -> Number:
    return constant(size) if isinstance(size, int) else Number(INT, size=size)


def _opened(p: Lowering, ranges: Sequence[tuple[Size, int, Size]], axis: int) -> Abstract:
    draft = Draft(p.e)
    return materialized(draft, _along(draft, ranges, axis), p.node)


def _part(made: View, axis: int) -> View:
    """One of the arrays of a grid."""
    return View(made.buffer, made.shape[1:], (axis, *made.starts[1:]), tuple(row[1:] for row in made.steps))

"""Index with slices whose step is only known at run time: `s[i * i :: i] = False`, `y = x[::k]`.

A view has constant steps. So a store goes through the slice one position after the other, and a load gathers a copy.
NumPy returns a view of the array instead, so the copy must not be used after a store to the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.dims import Size
from ....ir.dtypes import I64
from ....ir.graph import Value
from ....ir.nest import ops
from ....ir.records import record
from ....ir.types import Sizes
from ..arithmetic import INT, value_of
from ..context import Lowering
from ..kinds import Known
from ..values import Abstract, CutProblem, Number, SliceValue, View
from .indexing import bound, has_known_step, is_none, is_whole_number, view_of
from .scatter import Put, apart, part_of

EVERY = SliceValue(None, None, None)


def strided_item(p: Lowering, items: Sequence[Abstract]) -> int | None:
    """Find the only slice in an index whose step is not known at compile time, and return its position."""
    found = [k for k, item in enumerate(items) if isinstance(item, SliceValue) and not has_known_step(p.e, item)]
    if len(found) > 1:
        raise CutProblem("two slices have steps that are not known at compile time")
    return found[0] if found else None


@record(eq=False)
class StridedWalk:
    """List the positions of a slice: `start + k * step` for `k` from 0 to `count`."""

    start: Value
    step: Value
    count: Size


def _walk(p: Lowering, item: Abstract, size: Size) -> StridedWalk:
    assert isinstance(item, SliceValue)
    e, step = p.e, item.step
    if not isinstance(step, Number) or not is_whole_number(step):
        raise CutProblem("the step of a slice must be an integer")
    first = 0 if is_none(item.start) else bound(e, item.start, size)
    last = size if is_none(item.stop) else bound(e, item.stop, size)
    by = e.cast(value_of(e, step), I64)
    if step.size is None or not e.proves(step.size - 1):
        e.check(e.op("gt", by, e.constant(0, I64)), "the step of a slice is not positive")
    start = e.size_number(first)
    length = e.op("sub", e.size_number(last), start)
    count = e.op("floor_divide", e.op("add", length, e.op("sub", by, e.constant(1, I64))), by)
    return StridedWalk(start, by, e.bind(e.op("maximum", count, e.constant(0, I64)), size + 1, "count"))


def store_strided(p: Lowering, of: View, items: Sequence[Abstract], at: int, value: Abstract, put: Put) -> None:
    """Call `put` for each position of the slice at this place of an index, with the part of the value for it."""
    value = apart(p, p.computed(value), of)
    if not isinstance(value, (Number, View)):
        raise CutProblem("only arrays and numbers can be stored")
    full, axis = _along(p, of, items, at)
    walk = _walk(p, items[at], full.shape[axis])
    p.compute_waiting(of.buffer)

    def store(k: Size, place: View) -> None:
        put(place, part_of(p, value, axis - full.rank, k, walk.count))

    _each(p, full, axis, walk, store)


def load_strided(p: Lowering, of: View, items: Sequence[Abstract], at: int) -> View:
    """Copy what an index selects that has a slice at this place."""
    full, axis = _along(p, of, items, at)
    walk = _walk(p, items[at], full.shape[axis])
    shape = (*full.shape[:axis], walk.count, *full.shape[axis + 1 :])
    made = p.e.allocate(of.dtype, shape, p.node)

    def load(k: Size, place: View) -> None:
        index: list[Abstract] = [EVERY] * full.rank
        index[axis] = Number(INT, size=k)
        p.copy(view_of(p.e, made, index), place)

    _each(p, full, axis, walk, load)
    made.buffer.shadow = of.buffer.shadow or (of.buffer, of.buffer.version)
    return made


def _along(p: Lowering, of: View, items: Sequence[Abstract], at: int) -> tuple[View, int]:
    """Return the view with the whole axis that the slice runs along, and the number of that axis in it."""
    if any(isinstance(item, Known) and item.value is Ellipsis for item in items):
        raise CutProblem("'...' beside a slice whose step is not known at compile time")
    axis = sum(not isinstance(item, Number) for item in items[:at])
    return view_of(p.e, of, [*items[:at], EVERY, *items[at + 1 :]]), axis


def _each(p: Lowering, full: View, axis: int, walk: StridedWalk, run: Callable[[Size, View], None]) -> None:
    """Emit a loop over the positions of a slice."""
    e, name = p.e, p.e.fresh("k")
    e.enter(is_loop=True)
    k = e.variable(name, 0, walk.count)
    position = e.op("add", walk.start, e.op("mul", e.size_number(k), walk.step))
    index: list[Abstract] = [EVERY] * full.rank
    index[axis] = Number(INT, size=e.bind(position, full.shape[axis], "at"))
    run(k, view_of(e, full, index))
    e.node(ops.FOR, (), (), e.leave([]), var=name, range=Sizes((0, walk.count)), kind="serial")

"""Define NumPy's functions that change the shape of an array.

If NumPy returns an array without dimensions unchanged, the value stays the same, so that a scalar stays a scalar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.dims import Size
from ...ir.errors import AxisProblem, ShapeProblem, TypeProblem, ValueProblem, quantity
from ...ir.graph import Value
from ...ir.ops import BROADCAST, RESHAPE, SLICE, TRANSPOSE
from ...ir.rules import shown
from ...ir.types import Sizes
from ..fixed import countable, fixed_int
from ..maker import Maker, Operand, static_int, static_size
from ..memory import reading_order, turned
from ..sizes import guard_one, guard_reaches
from .arrays import array_of
from .axes import axes_of, axis_of, ordered_axes
from .elementwise import Make


def shape_of(m: Maker, shape: object) -> tuple[Size, ...]:
    """Read a static shape: one size or several."""
    parts = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(countable(m, static_size(part, "shape", m.span), "shape") for part in parts)


def reshaped(m: Maker, x: Value, shape: Sequence[Size]) -> Value:
    """Reshape a value, unless it already has the shape."""
    if tuple(shape) == x.type.shape:
        return x
    return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(shape))


def reshape(m: Maker, a: Operand, /, shape: object, order: str = "C", *, copy: bool | None = None) -> Value:
    x = array_of(m, a)
    if not isinstance(order, str | None):
        raise TypeProblem("reshape takes the new shape as one argument", m.span, "write it in ( ), as in (n, -1)")
    wanted = _completed(m, x, shape_of(m, shape))
    if reading_order(m, x, order) == "C":
        return reshaped(m, x, wanted)
    return transpose(m, reshaped(m, transpose(m, x), wanted[::-1]))


def _completed(m: Maker, x: Value, shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """Compute the size written as -1 (or any negative number) from the other sizes."""
    shape = tuple(-1 if isinstance(size, int) and size < 0 else size for size in shape)
    unknown = [i for i, size in enumerate(shape) if size == -1]
    if not unknown:
        return shape
    if len(unknown) > 1:
        raise ValueProblem(
            "can only specify one unknown dimension", m.span, f"{shown(shape)} has -1 in {len(unknown)} places"
        )
    total = m.builder.facts.canonical(dims.product(x.type.shape))
    others = m.builder.facts.canonical(dims.product(s for s in shape if s != -1))
    return tuple(_quotient(m, total, others, shape) if size == -1 else size for size in shape)


def _quotient(m: Maker, total: Size, others: Size, shape: tuple[Size, ...]) -> Size:
    facts = m.builder.facts
    exact = dims.divide(total, others) if guard_reaches(facts, others, 1) else None
    if exact is not None:
        return exact
    have, by = facts.number(total), facts.number(others)
    if by == 0 or (have is not None and by is not None and have % by):
        raise ShapeProblem(
            f"cannot reshape array of size {have if have is not None else total} into shape {shown(shape)}", m.span
        )
    if isinstance(others, int):
        return dims.floordiv(total, others)
    if have is None or by is None:
        raise m.refuse(f"'reshape' of {total} elements by {others} with -1")
    return have // by


def ravel(m: Maker, a: Operand, order: str = "C") -> Value:
    x = array_of(m, a)
    return reshape(m, x, -1 if x.type.rank else 1, order)


def transpose(m: Maker, a: Operand, axes: object = None) -> Value:
    x = array_of(m, a)
    rank = x.type.rank
    if axes is None:
        return turned(m, x) if rank > 1 else x
    order = tuple(axis_of(m, axis, rank) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,)))
    if len(order) != rank:
        raise ValueProblem("axes don't match array", m.span, f"name each of the {rank} axes once")
    if len(set(order)) != rank:
        raise ValueProblem("repeated axis in transpose", m.span, f"name each of the {rank} axes once")
    return x if order == tuple(range(rank)) else m.builder.op(TRANSPOSE, x, span=m.span, order=order)


def matrix_transpose(m: Maker, x: Operand, /) -> Value:
    value = array_of(m, x)
    if value.type.rank < 2:
        raise ValueProblem(
            f"Input array must be at least 2-dimensional, but it is {value.type.rank}",
            m.span,
            "pass a matrix, or a stack of matrices",
        )
    return swapaxes(m, value, -1, -2)


def swapaxes(m: Maker, a: Operand, axis1: object, axis2: object) -> Value:
    x = array_of(m, a)
    order = list(range(x.type.rank))
    i, j = axis_of(m, axis1, x.type.rank), axis_of(m, axis2, x.type.rank)
    order[i], order[j] = order[j], order[i]
    return transpose(m, x, order)


def moveaxis(m: Maker, a: Operand, source: object, destination: object) -> Value:
    x = array_of(m, a)
    rank = x.type.rank
    sources, targets = (ordered_axes(m, axes, rank) for axes in (source, destination))
    if len(sources) != len(targets):
        raise ValueProblem("`source` and `destination` arguments must have the same number of elements", m.span)
    order = [axis for axis in range(rank) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return transpose(m, x, order)


def rollaxis(m: Maker, a: Operand, axis: object, start: object = 0) -> Value:
    x = array_of(m, a)
    rank = x.type.rank
    moved, given = axis_of(m, axis, rank), static_int(start, "start", m.span)
    target = given + rank if given < 0 else given
    if not 0 <= target <= rank:
        raise AxisProblem(f"'start' arg requires {-rank} <= start < {rank + 1}, but {given} was passed in", m.span)
    order = [k for k in range(rank) if k != moved]
    order.insert(target - (moved < target), moved)
    return transpose(m, x, order)


def expand_dims(m: Maker, a: Operand, axis: object) -> Value:
    x = array_of(m, a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = ordered_axes(m, axis, x.type.rank + count)
    old = iter(x.type.shape)
    shape = [1 if i in new else next(old) for i in range(x.type.rank + count)]
    return reshaped(m, x, shape) if shape else m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(()))


def squeeze(m: Maker, a: Operand, axis: object = None) -> Value:
    x = array_of(m, a)
    shape = x.type.shape
    if axis is None:
        axes: tuple[int, ...] = tuple(i for i, size in enumerate(shape) if guard_one(m.builder.facts, size))
    else:
        axes = axes_of(m, axis, x.type.rank)
        if not all(guard_one(m.builder.facts, shape[i]) for i in axes):
            raise ValueProblem(
                "cannot select an axis to squeeze out which has size not equal to one",
                m.span,
                f"the shape is {shown(shape)}",
            )
    return reshaped(m, x, [size for i, size in enumerate(shape) if i not in axes])


def broadcast_to(m: Maker, array: Operand, shape: object, subok: bool = False) -> Value:
    sizes = shape_of(m, shape)
    if any((n := m.builder.facts.number(size)) is not None and n < 0 for size in sizes):
        raise ValueProblem(
            "all elements of broadcast shape must be non-negative", m.span, f"the shape is {shown(sizes)}"
        )
    return m.builder.op(BROADCAST, array_of(m, array), span=m.span, shape=Sizes(sizes))


def broadcast_arrays(m: Maker, *args: Operand, subok: bool = False) -> tuple[Value, ...]:
    values = [array_of(m, a) for a in args]
    shape = m.builder.facts.broadcast([v.type.shape for v in values], m.span)
    return tuple(v if shape and v.type.shape == shape else broadcast_to(m, v, shape) for v in values)


def part(m: Maker, x: Value, axis: int, start: Size, size: Size, step: int = 1) -> Value:
    """Take a slice along one axis, from a start that is in range."""
    shape = x.type.shape
    if start == 0 and step == 1 and size == shape[axis]:
        return x
    starts: list[Size] = [0] * len(shape)
    steps, sizes = [1] * len(shape), list(shape)
    starts[axis], steps[axis], sizes[axis] = start, step, size
    return m.builder.op(SLICE, x, span=m.span, starts=Sizes(starts), steps=tuple(steps), sizes=Sizes(sizes))


def flip(maker: Maker, /, m: Operand, axis: object = None) -> Value:
    x = array_of(maker, m)
    axes = axes_of(maker, axis, x.type.rank, lenient=False)
    if not x.type.rank:  # it is `m[()]` to NumPy, a scalar
        return maker.builder.op(RESHAPE, x, span=maker.span, shape=Sizes(()), element=True)
    for along in axes:
        size = x.type.shape[along]
        x = part(maker, x, along, size - 1, size, -1)
    return x


def _flip_axis(axis: int) -> Make:
    def make(maker: Maker, /, m: Operand) -> Value:
        x, needed = array_of(maker, m), axis + 1
        if x.type.rank < needed:
            hint = f"the array has {quantity(x.type.rank, 'dimension')}"
            raise ValueProblem(f"Input must be >= {needed}-d.", maker.span, hint)
        return flip(maker, x, axis)

    return make


def rot90(maker: Maker, /, m: Operand, k: object = 1, axes: object = (0, 1)) -> Value:
    x, turning = array_of(maker, m), "name the two axes of the plane to rotate in"
    named = axes if isinstance(axes, (tuple, list)) else (axes,)
    if len(named) != 2:
        raise ValueProblem("len(axes) must be 2.", maker.span, turning)
    first, second = (axis_of(maker, axis, x.type.rank) for axis in named)
    if first == second:
        raise ValueProblem("Axes must be different.", maker.span, turning)
    turns = fixed_int(maker, k, "k") % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(maker, x, (first, second))
    if turns == 1:
        return swapaxes(maker, flip(maker, x, second), first, second)
    return flip(maker, swapaxes(maker, x, first, second), second)


def at_least(m: Maker, x: Value, rank: int) -> Value:
    """Add axes of size 1 in front, up to a rank."""
    return reshaped(m, x, (1,) * (rank - x.type.rank) + x.type.shape)


def at_least_3d(m: Maker, x: Value) -> Value:
    """Add axes up to three: after a matrix, or on both sides of a vector."""
    if x.type.rank >= 3:
        return x
    grown = at_least(m, x, 2)
    return reshaped(m, grown, (*grown.type.shape, 1))


def _at_least_dims(rank: int) -> Make:
    def make(m: Maker, *arys: Operand) -> Value | tuple[Value, ...]:
        values = [array_of(m, a) for a in arys]
        grown = [at_least_3d(m, x) if rank == 3 else at_least(m, x, rank) for x in values]
        return grown[0] if len(grown) == 1 else tuple(grown)

    return make


SHAPING: Mapping[str, Make] = {
    "reshape": reshape, "ravel": ravel, "transpose": transpose, "matrix_transpose": matrix_transpose,
    "swapaxes": swapaxes, "moveaxis": moveaxis, "rollaxis": rollaxis, "expand_dims": expand_dims, "squeeze": squeeze,
    "broadcast_to": broadcast_to, "broadcast_arrays": broadcast_arrays, "flip": flip, "flipud": _flip_axis(0),
    "fliplr": _flip_axis(1), "rot90": rot90, "atleast_1d": _at_least_dims(1), "atleast_2d": _at_least_dims(2),
    "atleast_3d": _at_least_dims(3),
}  # fmt: skip
ALIASES = {"permute_dims": "transpose"}

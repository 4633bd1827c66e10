"""NumPy's functions that change the shape: values and static shapes or axes in, views out.

What NumPy gives back unchanged for an array without dimensions stays the same value, so that a scalar stays one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir import dims
from ..ir.dims import Size
from ..ir.dtypes import DType
from ..ir.errors import IndexProblem, ShapeProblem, ValueProblem
from ..ir.graph import Value
from ..ir.ops import BROADCAST, RESHAPE, SLICE, TRANSPOSE, WHERE
from ..ir.rules import shown
from ..ir.types import Sizes, normalize_axis
from .elementwise import Make
from .maker import Maker, Operand, as_dtype, static_int, static_size
from .reducing import axes_of
from .sizes import is_one


def shape_of(m: Maker, shape: object) -> tuple[Size, ...]:
    """A static shape: one size or several."""
    parts = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(static_size(part, "shape", m.span) for part in parts)


def reshaped(m: Maker, x: Value, shape: Sequence[Size]) -> Value:
    """A reshape, unless the shape is the one that the value has."""
    if tuple(shape) == x.type.shape:
        return x
    return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(shape))


def reshape(m: Maker, a: Operand, /, shape: object, order: str = "C", *, copy: bool | None = None) -> Value:
    x = m.lift(a)
    if order not in ("C", "F"):
        raise m.refuse(f"'reshape' with order='{order}'")
    wanted = shape_of(m, shape)
    if order == "C":
        return reshaped(m, x, _completed(m, x, wanted))
    turned = _completed(m, x, wanted)[::-1]
    return transpose(m, reshaped(m, transpose(m, x), turned))


def _completed(m: Maker, x: Value, shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """The shape with its one -1 computed from the others."""
    unknown = [i for i, size in enumerate(shape) if size == -1]
    if any(isinstance(size, int) and size < -1 for size in shape):
        raise ValueProblem(f"negative dimensions are not allowed in {shown(shape)}", m.span, "one size may be -1")
    if not unknown:
        return shape
    if len(unknown) > 1:
        raise ValueProblem("can only specify one unknown dimension", m.span, f"{shown(shape)} has {len(unknown)} of -1")
    total = m.builder.facts.canonical(dims.product(x.type.shape))
    others = m.builder.facts.canonical(dims.product(s for s in shape if s != -1))
    return tuple(_quotient(m, total, others, shape) if size == -1 else size for size in shape)


def _quotient(m: Maker, total: Size, others: Size, shape: tuple[Size, ...]) -> Size:
    facts = m.builder.facts
    if (exact := dims.divide(total, others)) is not None and others != 0:
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
    return reshape(m, a, -1 if m.lift(a).type.rank else 1, order)


def transpose(m: Maker, a: Operand, axes: object = None) -> Value:
    x = m.lift(a)
    rank = x.type.rank
    order = tuple(range(rank))[::-1]
    if axes is not None:
        given = axes if isinstance(axes, (tuple, list)) else (axes,)
        order = tuple(_axis(m, axis, rank) for axis in given)
        if sorted(order) != list(range(rank)):
            raise ValueProblem("axes don't match array", m.span, f"name each of the {rank} axes once")
    return x if order == tuple(range(rank)) else m.builder.op(TRANSPOSE, x, span=m.span, order=order)


def _axis(m: Maker, axis: object, rank: int) -> int:
    number = static_int(axis, "axis", m.span)
    found = normalize_axis(number, rank)
    if found is None:
        raise IndexProblem(f"axis {number} is out of bounds for array of dimension {rank}", m.span)
    return found


def matrix_transpose(m: Maker, x: Operand, /) -> Value:
    return swapaxes(m, x, -1, -2)


def swapaxes(m: Maker, a: Operand, axis1: object, axis2: object) -> Value:
    x = m.lift(a)
    order = list(range(x.type.rank))
    i, j = _axis(m, axis1, x.type.rank), _axis(m, axis2, x.type.rank)
    order[i], order[j] = order[j], order[i]
    return transpose(m, x, order)


def moveaxis(m: Maker, a: Operand, source: object, destination: object) -> Value:
    x = m.lift(a)
    rank = x.type.rank
    pairs = [s if isinstance(s, (tuple, list)) else (s,) for s in (source, destination)]
    sources, targets = ([_axis(m, axis, rank) for axis in side] for side in pairs)
    if len(sources) != len(targets) or len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise ValueProblem("'source' and 'destination' must name as many axes, each once", m.span)
    order = [axis for axis in range(rank) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return transpose(m, x, order)


def expand_dims(m: Maker, a: Operand, axis: object) -> Value:
    x = m.lift(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = axes_of(m, axis if isinstance(axis, (tuple, list)) else (axis,), x.type.rank + count)
    old = iter(x.type.shape)
    return reshaped(m, x, [1 if i in new else next(old) for i in range(x.type.rank + count)])


def squeeze(m: Maker, a: Operand, axis: object = None) -> Value:
    x = m.lift(a)
    shape = x.type.shape
    if axis is None:
        axes: tuple[int, ...] = tuple(i for i, size in enumerate(shape) if is_one(m.builder.facts, size))
    else:
        axes = axes_of(m, axis, x.type.rank)
        if not all(is_one(m.builder.facts, shape[i]) for i in axes):
            raise ValueProblem(
                "cannot select an axis to squeeze out which has size not equal to one",
                m.span,
                f"the shape is {shown(shape)}",
            )
    return reshaped(m, x, [size for i, size in enumerate(shape) if i not in axes])


def broadcast_to(m: Maker, array: Operand, shape: object, subok: bool = False) -> Value:
    return m.builder.op(BROADCAST, m.lift(array), span=m.span, shape=Sizes(shape_of(m, shape)))


def broadcast_arrays(m: Maker, *args: Operand, subok: bool = False) -> tuple[Value, ...]:
    values = [m.lift(a) for a in args]
    shape = m.builder.facts.broadcast([v.type.shape for v in values], m.span)
    return tuple(v if v.type.shape == shape else broadcast_to(m, v, shape) for v in values)


def flip(m: Maker, a: Operand, axis: object = None) -> Value:
    x = m.lift(a)
    axes = axes_of(m, axis, x.type.rank)
    if not axes:
        return x
    starts = Sizes(size - 1 if i in axes else 0 for i, size in enumerate(x.type.shape))
    steps = tuple(-1 if i in axes else 1 for i in range(x.type.rank))
    return m.builder.op(SLICE, x, span=m.span, starts=starts, steps=steps, sizes=Sizes(x.type.shape))


def _flip_axis(axis: int) -> Make:
    def make(m: Maker, a: Operand, /) -> Value:
        if m.lift(a).type.rank <= axis:
            raise ValueProblem(f"the array must have {axis + 1} dimensions or more", m.span)
        return flip(m, a, axis)

    return make


def _at_least_dims(rank: int) -> Make:
    def make(m: Maker, *arys: Operand) -> Value | tuple[Value, ...]:
        values = [m.lift(a) for a in arys]
        grown = [reshaped(m, x, (1,) * (rank - x.type.rank) + x.type.shape) for x in values]
        return grown[0] if len(grown) == 1 else tuple(grown)

    return make


def _filled_like(number: int) -> Make:
    """An array of one number with the shape of another."""

    def make(
        m: Maker, a: Operand, dtype: object = None, order: str = "K", subok: bool = True, shape: object = None
    ) -> Value:
        return full_like(m, a, number, dtype, order, subok, shape)

    return make


def full_like(m: Maker, a: Operand, fill_value: Operand, dtype: object = None, order: str = "K", subok: bool = True,
              shape: object = None) -> Value:  # fmt: skip
    x, fill = m.lift(a), m.lift(fill_value)
    if fill.type.rank:
        raise m.refuse("'full_like' with an array")
    wanted: DType = x.type.dtype.strong if dtype is None else as_dtype(dtype, m.span)
    sizes = x.type.shape if shape is None else shape_of(m, shape)
    if order not in ("K", "A", "C"):
        raise m.refuse(f"'full_like' with order={order!r}")
    filled = m.builder.op(BROADCAST, m.cast(fill, wanted), span=m.span, shape=Sizes(sizes))
    if shape is not None or order == "C" or not x.type.rank:
        return filled
    # The prototype has no say in the values, but memory follows its axis order, as in NumPy.
    return m.op(WHERE, m.builder.constant(True, span=m.span), filled, m.cast(x, wanted))


def copy(m: Maker, a: Operand, order: str = "K", subok: bool = False) -> Value:
    """Values never change, so a copy is the value; without dimensions it is an array, not a scalar."""
    x = m.lift(a)
    if order not in ("K", "C"):
        raise m.refuse(f"a copy with order={order!r}")
    if order == "C" and x.type.rank > 1:
        return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(x.type.shape), order="C")
    return x if x.type.rank else broadcast_to(m, x, ())


def real(m: Maker, val: Operand, /) -> Value:
    x = m.lift(val)
    if x.type.dtype.kind == "complex":
        raise m.refuse("'real' of complex numbers")
    return x


SHAPING: Mapping[str, Make] = {
    "reshape": reshape, "ravel": ravel, "transpose": transpose, "matrix_transpose": matrix_transpose,
    "swapaxes": swapaxes, "moveaxis": moveaxis, "expand_dims": expand_dims, "squeeze": squeeze,
    "broadcast_to": broadcast_to, "broadcast_arrays": broadcast_arrays, "flip": flip, "flipud": _flip_axis(0),
    "fliplr": _flip_axis(1), "atleast_1d": _at_least_dims(1), "atleast_2d": _at_least_dims(2), "copy": copy,
    "zeros_like": _filled_like(0), "ones_like": _filled_like(1), "full_like": full_like, "real": real,
}  # fmt: skip
ALIASES = {"permute_dims": "transpose"}

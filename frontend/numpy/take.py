"""Index arrays with arrays of integers.

Integers and slices are applied first, as views. Then the index arrays select elements together. As in NumPy, their axes
replace the axis of the first one, or come first if a slice stands between index arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.dtypes import I64
from ...ir.errors import IndexProblem, ShapeProblem, Span, TypeProblem, Unsupported, ValueProblem
from ...ir.graph import Value
from ...ir.ops import GATHER, TABLE
from ..maker import Maker, Operand, literal
from ..memory import laid_out
from ..sizes import guard_reaches
from . import indexing
from .arrays import array_of, strong_array
from .axes import axis_of
from .creation import numbered
from .elementwise import Make
from .shapes import broadcast_to, ravel, reshaped, transpose

REMAINDER, MINIMUM, MAXIMUM, SUB = (TABLE[name] for name in ("remainder", "minimum", "maximum", "sub"))


def index(builder: Builder, value: Value, items: Sequence[Any], span: Span | None) -> Value:
    """Compute `value[items]`; items are ints, sizes, slices, None, Ellipsis and integer arrays."""
    if not any(is_array(item) for item in items):
        return indexing.index(builder, value, items, span)
    m = Maker(builder, span)
    full = indexing.expanded(items, value.type.rank, span)
    taken, places = _without_arrays(m, value, full)
    arrays = [_as_index(m, full[k]) for k in places]
    axes = [_axis_behind(full, k) for k in places]
    found = _looked_up(m, taken, arrays, axes, _stand_apart(full))
    return found if found.type.rank or Ellipsis not in items else broadcast_to(m, found, ())


def is_array(item: Any) -> bool:
    """Tell whether an index is read from memory at a call."""
    return isinstance(item, Value) and literal(item) is None


def _without_arrays(m: Maker, value: Value, items: Sequence[Any]) -> tuple[Value, list[int]]:
    """Apply all other items as a view that keeps the axes of index arrays; return their positions too."""
    places = [k for k, item in enumerate(items) if is_array(item)]
    basic = [slice(None) if k in places else item for k, item in enumerate(items)]
    whole = all(isinstance(item, slice) and item == slice(None) for item in basic)
    return value if whole else indexing.index(m.builder, value, basic, m.span), places


def _axis_behind(items: Sequence[Any], place: int) -> int:
    """Return the axis of the view that an item belongs to; integers leave none."""
    return sum(1 for item in items[:place] if item is None or isinstance(item, slice) or is_array(item))


def _stand_apart(items: Sequence[Any]) -> bool:
    """Tell whether a slice or a new axis stands between index arrays; integers count as arrays if there is one."""
    kinds = [not (item is None or isinstance(item, slice)) for item in items]
    first, last = kinds.index(True), len(kinds) - 1 - kinds[::-1].index(True)
    return not all(kinds[first : last + 1])


def _as_index(m: Maker, x: Value) -> Value:
    if x.type.dtype.kind == "bool":
        raise Unsupported(
            "indexing with a bool mask is not supported: the shape of the result would depend on its elements",
            m.span,
            "use where(mask, x, 0) instead",
        )
    if not x.type.dtype.is_integer:
        raise IndexProblem(
            "arrays used as indices must be of integer (or boolean) type", m.span, "convert them: i64(...)"
        )
    return m.cast(x, I64)


def _looked_up(m: Maker, x: Value, arrays: Sequence[Value], axes: Sequence[int], apart: bool) -> Value:
    """Gather elements by arrays for any axes; axes that are not adjacent are first moved together."""
    first = 0 if apart else axes[0]
    if list(axes) != list(range(first, first + len(axes))):
        others = [k for k in range(x.type.rank) if k not in axes]
        x = transpose(m, x, [*others[:first], *axes, *others[first:]])
    _demand_one_shape(m, arrays)
    target = tuple(range(first, first + len(axes)))
    return m.builder.op(GATHER, x, *arrays, span=m.span, axes=target)


def _demand_one_shape(m: Maker, arrays: Sequence[Value]) -> None:
    """Check that index arrays broadcast; if not, raise NumPy's error about the index rather than about shapes."""
    try:
        m.builder.facts.broadcast([array.type.shape for array in arrays], m.span)
    except ShapeProblem as error:
        _, _, shapes = error.message.partition("with ")
        message = f"shape mismatch: indexing arrays could not be broadcast together with {shapes}"
        raise IndexProblem(message, error.span, error.hint) from error


def take(m: Maker, a: Operand, indices: Operand, axis: object = None, out: None = None, mode: str = "raise") -> Value:
    x, places = array_of(m, a), strong_array(m, indices)
    if axis is None or not x.type.rank:
        x, axis = ravel(m, x), 0 if axis is None else axis
    along, facts = axis_of(m, axis, x.type.rank), m.builder.facts
    if places.type.dtype.kind not in ("bool", "int", "uint"):
        if not guard_reaches(facts, dims.product(places.type.shape), 1):
            raise m.refuse("an empty list of indices")
        raise TypeProblem(
            f"Cannot cast array data from {places.type.dtype} to i64 according to the rule 'safe'",
            m.span,
            "use integer indices",
        )
    size, outer, inner = x.type.shape[along], x.type.shape[:along], x.type.shape[along + 1 :]
    looked_at = (*outer, *places.type.shape, *(inner if mode != "raise" else ()))  # NumPy checks before it copies
    if not guard_reaches(facts, size, 1) and guard_reaches(facts, dims.product(looked_at), 1):
        raise IndexProblem("cannot do a non-empty take from an empty axes.", m.span)
    places = _kept_inside(m, m.cast(places, I64), size, mode)
    return laid_out(m, m.builder.op(GATHER, x, places, span=m.span, axes=(along,)), "C")


def _kept_inside(m: Maker, places: Value, size: Size, mode: object) -> Value:
    """Apply `mode` to indices that are out of range."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueProblem(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})", m.span)
    if mode == "raise":
        return places
    count = m.builder.size(size, m.span)
    if mode == "wrap":
        return m.op(REMAINDER, places, count)
    return m.op(MINIMUM, m.op(MAXIMUM, places, 0), m.op(SUB, count, 1))


def take_along_axis(m: Maker, arr: Operand, indices: Operand, axis: object = -1) -> Value:
    x, places = array_of(m, arr), strong_array(m, indices)
    if axis is None:
        if places.type.rank != 1:
            raise ValueProblem("when axis=None, `indices` must have a single dimension.", m.span)
        x, axis = ravel(m, x), 0
    along = axis_of(m, axis, x.type.rank)
    if not places.type.dtype.is_integer:
        raise IndexProblem("`indices` must be an integer array", m.span, "convert it: indices.astype(i64)")
    if places.type.rank != x.type.rank:
        raise ValueProblem("`indices` and `arr` must have the same number of dimensions", m.span)
    lone = [[n if k == axis_ else 1 for k, n in enumerate(x.type.shape)] for axis_ in range(x.type.rank)]
    by = [m.cast(places, I64) if k == along else numbered(m, sizes, k) for k, sizes in enumerate(lone)]
    return _looked_up(m, x, by, range(x.type.rank), False)


def ix_(m: Maker, *args: Operand) -> tuple[Value, ...]:
    values = [strong_array(m, x) for x in args]
    if any(value.type.rank != 1 for value in values):
        raise ValueProblem("Cross index must be 1 dimensional", m.span)
    if any(value.type.dtype.kind == "bool" for value in values):
        raise m.refuse("'ix_' with a bool mask")
    alone = enumerate(values)
    return tuple(reshaped(m, x, [x.type.shape[0] if j == k else 1 for j in range(len(values))]) for k, x in alone)


TAKING: Mapping[str, Make] = {"take": take, "take_along_axis": take_along_axis, "ix_": ix_}

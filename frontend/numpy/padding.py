"""Define NumPy's `pad`.

Axes are padded one after another, so corners come from the padding of earlier axes, as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.dims import Size
from ...ir.dtypes import WEAK_INT, DType
from ...ir.errors import OverflowProblem, TypeProblem, ValueProblem, quantity
from ...ir.graph import Value
from ...ir.ops import BROADCAST, CONCATENATE, GATHER, IOTA, TABLE
from ...ir.types import Sizes
from ..fixed import count_of
from ..maker import ABSENT, Maker, Operand, number_of
from ..memory import laid_out
from ..sizes import guard_at_least, guard_one, guard_reaches
from .arrays import array_of
from .conversion import assigned
from .elementwise import Make
from .shapes import broadcast_to, part

Pair = tuple[Size, Size]
MANY = 16  # copies of an array from which on a gather is used instead
_ARGUMENTS = {
    "constant": "constant_values", "linear_ramp": "end_values", "reflect": "reflect_type", "symmetric": "reflect_type",
    "maximum": "stat_length", "mean": "stat_length", "median": "stat_length", "minimum": "stat_length", "edge": "",
    "wrap": "", "empty": "",
}  # fmt: skip


def pad(m: Maker, array: Operand, pad_width: object, mode: str = "constant", *, constant_values: object = ABSENT,
        end_values: object = ABSENT, stat_length: object = ABSENT, reflect_type: object = ABSENT) -> Value:  # fmt: skip
    x = array_of(m, array)
    widths = _widths(m, pad_width, x.type.rank)
    given = {"constant_values": constant_values, "end_values": end_values, "stat_length": stat_length,
             "reflect_type": reflect_type}  # fmt: skip
    _check_mode(m, mode, [name for name, value in given.items() if value is not ABSENT])
    if not widths:
        return broadcast_to(m, x, ())
    if mode in ("constant", "empty"):
        return _constant(m, x, widths, 0 if constant_values is ABSENT else constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap") or reflect_type not in (ABSENT, "even"):
        odd = "" if reflect_type is ABSENT else f" and reflect_type='{reflect_type}'"
        raise m.refuse(f"'pad' with mode='{mode}'{odd}")
    for axis, pair in enumerate(widths):
        if _guard_far(m, x, axis, pair, mode):
            x = _looked_up(m, x, axis, pair, mode)
        elif any(_guard_some(m, width) for width in pair):
            x = _around(m, x, axis, *_extended(m, x, axis, pair, mode))
    return laid_out(m, x, "A")


def _check_mode(m: Maker, mode: object, given: Sequence[str]) -> None:
    if not isinstance(mode, str):
        raise m.refuse("'pad' with a function")
    if mode not in _ARGUMENTS:
        raise ValueProblem(f"mode '{mode}' is not supported", m.span, f"the modes are {', '.join(sorted(_ARGUMENTS))}")
    if unknown := [name for name in given if name != _ARGUMENTS[mode]]:
        raise ValueProblem(f"unsupported keyword arguments for mode '{mode}': {', '.join(unknown)}", m.span)


def _constant(m: Maker, x: Value, widths: Sequence[Pair], values: object) -> Value:
    for axis, (pair, numbers) in enumerate(zip(widths, _pairs(m, values, x.type.rank, "constant_values"), strict=True)):
        sides = [
            [_spread(m, _filling(m, _number(m, value), x.type.dtype), x, axis, width)] if _guard_some(m, width) else []
            for width, value in zip(pair, numbers, strict=True)
        ]
        x = _around(m, x, axis, *sides)
    return laid_out(m, x, "A")


def _number(m: Maker, x: object) -> Value:
    value = m.lift(x)  # type: ignore[arg-type]
    if value.type.rank:
        raise m.refuse("'pad' with an array of constants")
    return value


def _filling(m: Maker, value: Value, dtype: DType) -> Value:
    """Convert a constant to the array's dtype. NumPy refuses constants that do not fit i64, and wraps others around."""
    if dtype.kind != "int" or value.type.dtype.kind == "complex":
        return m.cast(value, dtype)
    ends, number = np.iinfo(dtype.numpy), number_of(value)
    if isinstance(number, (int, float)):
        if number != number:
            raise ValueProblem("cannot convert float NaN to integer", m.span)
        if math.isinf(number) or not ends.min <= int(number) <= ends.max:
            raise OverflowProblem(f"Python integer {number} out of bounds for {dtype.numpy}", m.span)
    elif value.type.dtype == WEAK_INT:
        return assigned(m, value, dtype)
    return m.cast(value, dtype)


def _spread(m: Maker, piece: Value, x: Value, axis: int, width: Size) -> Value:
    """Repeat a number, or a slice of one element along the axis, to a width."""
    shape = Sizes(width if k == axis else n for k, n in enumerate(x.type.shape))
    return m.builder.op(BROADCAST, piece, span=m.span, shape=shape)


def _around(m: Maker, x: Value, axis: int, before: Sequence[Value], after: Sequence[Value]) -> Value:
    """Join the pieces before and after the array with it; as in NumPy, the result has the array's memory order."""
    if not before and not after:
        return x
    pieces = (*before, x, *after)
    return m.builder.op(CONCATENATE, *pieces, span=m.span, axis=axis, follows=len(before))


def _extended(m: Maker, x: Value, axis: int, pair: Pair, mode: str) -> tuple[list[Value], list[Value]]:
    """Make the pieces before and after the array along an axis."""
    facts, size = m.builder.facts, x.type.shape[axis]
    if not guard_at_least(facts, size, 1):
        raise ValueProblem(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'", m.span)
    if mode == "edge" or (mode != "wrap" and guard_one(facts, size)):
        edges = part(m, x, axis, 0, 1), part(m, x, axis, size - 1, 1)
        before, after = (
            [_spread(m, edge, x, axis, width)] if _guard_some(m, width) else []
            for edge, width in zip(edges, pair, strict=True)
        )
        return before, after
    left = _repeated(m, x, axis, pair[0], mode, backwards=True)
    return left[::-1], _repeated(m, x, axis, pair[1], mode, backwards=False)


def _guard_far(m: Maker, x: Value, axis: int, pair: Pair, mode: str) -> bool:
    """Tell whether an axis is extended to so many times its length that one piece for each would be too many."""
    size, number = x.type.shape[axis], m.builder.facts.number
    have = number(size)
    if mode == "edge" or have is None or have < 1 or (mode != "wrap" and have == 1):
        return False
    if all((n := number(width)) is None or n <= MANY * have for width in pair):
        return False
    return any(guard_reaches(m.builder.facts, width, MANY * size + 1) for width in pair) and guard_reaches(
        m.builder.facts, size, 1 if mode == "wrap" else 2
    )


def _looked_up(m: Maker, x: Value, axis: int, pair: Pair, mode: str) -> Value:
    """Look up the element for each position: positions run back and forth over the array, or wrap around."""
    size = x.type.shape[axis]
    before, after = pair
    place = m.builder.op(IOTA, span=m.span, shape=Sizes((before + size + after,)), axis=0)
    period = {"wrap": size, "symmetric": 2 * size, "reflect": 2 * size - 2}[mode]
    number = m.builder.size(period, m.span)
    at = m.op(TABLE["remainder"], m.op(TABLE["sub"], place, m.builder.size(before, m.span)), number)
    if mode != "wrap":
        last = number if mode == "reflect" else m.builder.size(period - 1, m.span)
        at = m.op(TABLE["minimum"], at, m.op(TABLE["sub"], last, at))
    return m.builder.op(GATHER, x, at, span=m.span, axes=(axis,), follows=0)


def _repeated(m: Maker, x: Value, axis: int, width: Size, mode: str, backwards: bool) -> list[Value]:
    """List the pieces from the array outwards: copies of it for `wrap`, else every other one mirrored."""
    size, left, turned = x.type.shape[axis], width, mode != "wrap"
    skipped = 1 if mode == "reflect" else 0  # a mirror on the last element does not repeat it
    pieces: list[Value] = []
    while _guard_some(m, left):
        whole = size - skipped
        count = left if guard_at_least(m.builder.facts, whole, left) else whole
        if turned:
            start = (skipped + count if backwards else size - skipped) - 1
        else:
            start = size - skipped - count if backwards else skipped
        pieces.append(part(m, x, axis, start, count, -1 if turned else 1))
        left, turned = left - count, not turned and mode != "wrap"
    return pieces


def _guard_some(m: Maker, width: Size) -> bool:
    """Tell whether a width is not 0, and guard the answer."""
    return guard_reaches(m.builder.facts, width, 1)


def _widths(m: Maker, given: object, rank: int) -> list[Pair]:
    if isinstance(given, dict):
        pairs: list[object] = [(0, 0)] * rank
        for axis, width in given.items():
            if not isinstance(axis, int) or not -rank <= axis < rank:
                raise ValueProblem(
                    f"'pad_width' names axis {axis!r}, but the array has {quantity(rank, 'dimension')}", m.span
                )
            pairs[axis] = width if isinstance(width, (tuple, list)) else (width, width)
        given = tuple(pairs)
    if isinstance(given, (tuple, list)) and not given:  # NumPy would make a float array of it
        raise TypeProblem("`pad_width` must be of integral type.", m.span, "write a whole number")
    return [(_width(m, a), _width(m, b)) for a, b in _pairs(m, given, rank, "pad_width")]


def _width(m: Maker, x: object) -> Size:
    if x is None or isinstance(x, (float, complex, str)):
        raise TypeProblem("`pad_width` must be of integral type.", m.span, "write a whole number")
    if isinstance(x, (int, np.integer)) and x < 0:
        raise ValueProblem(
            "index can't contain negative values", m.span, f"'pad_width' must not be negative, but is {x}"
        )
    return count_of(m, x, "pad_width")


def _pairs(m: Maker, given: object, rank: int, what: str) -> list[tuple[object, object]]:
    """Read one number for all sides, a pair for all axes, or a pair for each axis."""
    if isinstance(given, Value) and given.type.rank:
        raise m.refuse(f"an array as '{what}' of 'pad'")
    shape = _shape(given)
    cells = np.empty(shape or (), object)
    for place in np.ndindex(*(shape or ())):
        item = given
        for k in place:
            item = item[k]  # type: ignore[index]
        cells[place] = item
    try:
        if shape is None:
            raise ValueError
        spread = np.broadcast_to(cells, (rank, 2))
    except ValueError as error:
        hint = "pass a number, a pair (before, after), or one pair for each axis"
        deep = shape is not None and len(shape) > 2
        why = "input operand has more dimensions than allowed by the axis remapping"
        why = why if deep else "operands could not be broadcast together"
        raise ValueProblem(
            f"{why}: '{what}' does not fit an array with {quantity(rank, 'dimension')}", m.span, hint
        ) from error
    return [(row[0], row[1]) for row in spread]


def _shape(given: object) -> tuple[int, ...] | None:
    """Return the shape of nested tuples, or None if they are ragged."""
    if not isinstance(given, (tuple, list)):
        return ()
    inner = {_shape(item) for item in given}
    only = inner.pop() if len(inner) == 1 else None
    return None if only is None else (len(given), *only)


PADDING: Mapping[str, Make] = {"pad": pad}

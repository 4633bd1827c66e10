"""Define `roll`, `tile` and `repeat`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.dtypes import I64
from ...ir.errors import ValueProblem
from ...ir.graph import Value
from ...ir.ops import BROADCAST, GATHER, IOTA, TABLE
from ...ir.types import Sizes
from ..fixed import count_of, fixed_size
from ..maker import Maker, Operand, literal
from ..memory import copied, laid_out, lying_as
from ..sizes import guard_at_least, guard_negative
from .arrays import array_of, joined
from .axes import axis_of
from .elementwise import Make
from .shapes import at_least as with_rank
from .shapes import broadcast_to, part, ravel, reshaped

SUB, REMAINDER = TABLE["sub"], TABLE["remainder"]


def roll(m: Maker, a: Operand, shift: object, axis: object = None) -> Value:
    x = array_of(m, a)
    if axis is None:
        return reshaped(m, roll(m, ravel(m, x), shift, 0), x.type.shape)
    axes = [axis_of(m, one, x.type.rank) for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if isinstance(shift, Value) and len(axes) == 1 and not shift.type.rank and literal(shift) is None:
        return _rolled_by_value(m, x, axes[0], shift)
    shifts = [fixed_size(m, s, "shift") for s in (shift if isinstance(shift, (tuple, list)) else (shift,))]
    if not axes and len(shifts) == 1 and x.type.rank:
        return x
    if not axes or (1 not in (len(axes), len(shifts)) and len(axes) != len(shifts)):
        raise ValueProblem("'shift' and 'axis' should be scalars or 1D sequences", m.span, "give both the same length")
    count = max(len(axes), len(shifts))
    totals: dict[int, Size] = {}
    for along, by in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        totals[along] = totals.get(along, 0) + by
    found = x
    for along, by in totals.items():
        found = _rolled(m, found, along, by)
    return lying_as(m, found, copied(m, x)) if found is not x else x


def _rolled(m: Maker, x: Value, axis: int, shift: Size) -> Value:
    """Join the last elements and the first. A symbolic size is replaced by that of the current call if necessary."""
    facts, size = m.builder.facts, m.builder.facts.canonical(x.type.shape[axis])
    backwards = guard_negative(facts, shift)
    amount = -shift if backwards else shift
    if amount == 0 or size == 0:
        return x
    if not guard_at_least(facts, size, amount):
        number = facts.specialize(size)
        turn = facts.specialize(amount) if isinstance(amount, Dim) else amount
        if number is None or turn is None:
            raise m.refuse(f"'roll' by {amount} of '{size}' elements")
        size, amount = number, turn % number if number else 0
        if amount == 0:
            return x
    front = amount if backwards else size - amount
    return joined(m, [part(m, x, axis, front, size - front), part(m, x, axis, 0, front)], axis)


def _rolled_by_value(m: Maker, x: Value, axis: int, shift: Value) -> Value:
    """Look up the element for each position."""
    size = x.type.shape[axis]
    place = m.builder.op(IOTA, span=m.span, shape=Sizes((size,)), axis=0)
    number = m.builder.size(size, m.span)
    less = m.op(REMAINDER, m.cast(shift, I64), number)  # first, because the difference could overflow
    source = m.op(REMAINDER, m.op(SUB, place, less), number)
    return m.builder.op(GATHER, x, source, span=m.span, axes=(axis,))


def tile(m: Maker, A: Operand, reps: object) -> Value:
    given = reps if isinstance(reps, (tuple, list)) else (reps,)
    counts = [count_of(m, count, "reps") for count in given]
    x = with_rank(m, array_of(m, A), len(counts))
    counts = [*(1 for _ in range(x.type.rank - len(counts))), *counts]
    if not counts:
        return broadcast_to(m, x, ())
    if all(count == 1 for count in counts):
        return x
    spread: list[Size] = []
    for count, size in zip(counts, x.type.shape, strict=True):
        spread += [count, size]
    return _merged(m, x, [s for n in x.type.shape for s in (1, n)], spread)


def repeat(m: Maker, a: Operand, repeats: object, axis: object = None) -> Value:
    x = array_of(m, a)
    if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
        (repeats,) = repeats
    if isinstance(repeats, (tuple, list)):
        raise m.refuse("'repeat' with a count for each element")
    count = count_of(m, repeats, "repeats")
    if axis is None or not x.type.rank:
        x, axis = ravel(m, x), 0 if axis is None else axis
    along = axis_of(m, axis, x.type.rank)
    shape = x.type.shape
    apart = [*shape[: along + 1], 1, *shape[along + 1 :]]
    spread = [*shape[: along + 1], count, *shape[along + 1 :]]
    return _merged(m, x, apart, spread, along)


def _merged(m: Maker, x: Value, apart: Sequence[Size], spread: Sequence[Size], axis: int | None = None) -> Value:
    """Insert axes of size 1, broadcast them, and merge every two axes, or only the pair at `axis`."""
    wide = m.builder.op(BROADCAST, reshaped(m, x, apart), span=m.span, shape=Sizes(spread))
    if axis is None:
        shape = [dims.product(spread[k : k + 2]) for k in range(0, len(spread), 2)]
    else:
        shape = [*spread[:axis], spread[axis] * spread[axis + 1], *spread[axis + 2 :]]
    return laid_out(m, reshaped(m, wide, shape), "C")


REPEATING: Mapping[str, Make] = {"roll": roll, "tile": tile, "repeat": repeat}

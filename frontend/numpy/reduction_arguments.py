"""Read the `initial` and `where` arguments of reductions."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.dims import Size
from ...ir.dtypes import BOOL, WEAK, DType
from ...ir.errors import OverflowProblem, ShapeProblem, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.rules import shown
from ..maker import Maker
from ..sizes import at_least
from ..weak import take
from .arrays import array_of
from .conversion import assigned


def scalar_in(m: Maker, x: object, dtype: DType) -> Value:
    """An argument that is one number, in a dtype; a Python number as an integer must fit it."""
    if type(x) is float and dtype.is_integer:
        x = _truncated(m, x)
    if type(x) is complex and dtype.kind not in ("complex", "bool"):
        raise TypeProblem(f"{x} is not a real number, and the result is {dtype}", m.span)
    if type(x) is int:
        return assigned(m, x, dtype)
    if type(x) in (bool, float, complex):
        return take(m, x, dtype)  # type: ignore[arg-type]
    value = m.lift(x)  # type: ignore[arg-type]
    if value.type.rank:
        raise ValueProblem("setting an array element with a sequence.", m.span, "'initial' is one number")
    if value.type.dtype == WEAK["complex"] and dtype.kind not in ("complex", "bool"):
        raise TypeProblem(f"a complex number is not a real one, and the result is {dtype}", m.span)
    return assigned(m, value, dtype)


def _truncated(m: Maker, x: float) -> int:
    try:
        return int(x)
    except ValueError as error:
        raise ValueProblem(str(error), m.span) from error
    except OverflowError as error:
        raise OverflowProblem(str(error), m.span) from error


def mask_in(m: Maker, where: object, shape: Sequence[Size]) -> Value:
    """A `where` argument as truth values that broadcast to a shape."""
    if where is None or isinstance(where, (bool, int, float, complex)):
        return m.builder.constant(bool(where), span=m.span)
    mask = array_of(m, where)  # type: ignore[arg-type]
    have = mask.type.dtype
    if have != BOOL and not have.weak and not isinstance(where, (tuple, list)):
        raise TypeProblem(
            f"Cannot cast array data from dtype('{have.numpy}') to dtype('bool') according to the rule 'safe'",
            m.span, "compare it with 0",
        )  # fmt: skip
    broadcast = m.builder.facts.broadcast([tuple(shape), mask.type.shape], m.span)
    if len(broadcast) != len(shape) or not all(map(m.builder.facts.same, broadcast, shape)):
        raise ShapeProblem(
            f"a 'where' of shape {shown(mask.type.shape)} does not fit an array of shape {shown(shape)}", m.span,
            "it must broadcast to the shape of the array",
        )  # fmt: skip
    return m.cast(mask, BOOL)


def has_elements(m: Maker, x: Value, axes: Sequence[int]) -> bool:
    """Whether there is something to reduce over these axes; a graph that relies on there being nothing is guarded."""
    facts = m.builder.facts
    for axis in axes:
        if not at_least(facts, x.type.shape[axis], 1):
            facts.assume_equal(x.type.shape[axis], 0)
            return False
    return True

"""Define NumPy's functions that choose between values, such as `where` and `clip`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...ir import rules
from ...ir.dtypes import BF16, BOOL, F32, I64, U64, WEAK_INT, DType
from ...ir.errors import OverflowProblem, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import COMPLEX, DEMAND, IMAG, REAL, RESHAPE, TABLE, WHERE
from ...ir.types import Sizes
from ..maker import ABSENT, Make, Maker, Operand, fits, literal
from ..memory import copied
from .conversion import demand_cast

MINIMUM, MAXIMUM, POSITIVE, BOTH = (TABLE[name] for name in ("minimum", "maximum", "positive", "bitwise_and"))
ISNAN, ISINF, GT, GE, LE = (TABLE[name] for name in ("isnan", "isinf", "gt", "ge", "le"))


def where(m: Maker, condition: Operand, x: Operand | None = None, y: Operand | None = None, /) -> Value:
    if x is None or y is None:
        raise m.refuse("'where' with only a condition")
    dtype = rules.promote((m.dtype_of(x), m.dtype_of(y)))
    return m.op(WHERE, _truth(condition), wrapped(m, x, dtype), wrapped(m, y, dtype))


def _truth(x: Operand) -> Operand:
    """Convert a literal to a bool; an integer may be larger than any dtype holds."""
    return x if literal(x) is None else bool(literal(x))


def wrapped(m: Maker, x: Operand, dtype: DType) -> Operand:
    """Wrap an integer literal around, as NumPy does when it makes an array of it: in `where` and `concatenate`."""
    number = literal(x)
    if number is None or not dtype.is_integer or fits(number, dtype):
        return x
    if not -(2**63) <= number < 2**64:
        raise OverflowProblem(f"the integer {number} does not fit 64 bits", m.span)
    return int(np.asarray(number).astype(dtype.numpy))


def clip(m: Maker, a: Operand, a_min: Any = ABSENT, a_max: Any = ABSENT, *, min: Any = ABSENT,
         max: Any = ABSENT) -> Value:  # fmt: skip
    """Clip to limits. As in NumPy, limits beyond the range of an integer array's dtype are ignored."""
    if (a_min is ABSENT) != (a_max is ABSENT):
        missing = "a_min" if a_min is ABSENT else "a_max"
        raise TypeProblem(
            f"clip() missing 1 required positional argument: '{missing}'", m.span, "pass None for no limit"
        )
    if a_min is not ABSENT and (min is not ABSENT or max is not ABSENT):
        message = "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        raise ValueProblem(message, m.span, "pass only one pair of limits")
    limits = (min, max) if a_min is ABSENT else (a_min, a_max)
    low, high = (None if limit is ABSENT else limit for limit in limits)
    a = m.cast(a, m.dtype_of(a).strong)
    have = a.type.dtype
    if have.is_integer and not have.weak:
        ends = np.iinfo(have.numpy)
        low = None if (n := literal(low)) is not None and n <= ends.min else low
        high = None if (n := literal(high)) is not None and n >= ends.max else high
    if low is None and high is None:
        return m.op(POSITIVE, a)
    dtype = _limited(tuple(m.dtype_of(x) for x in (a, low, high) if x is not None))
    low, high = _reachable(m, low, have, dtype, True), _reachable(m, high, have, dtype, False)
    if low is None:
        assert high is not None
        return m.op(MINIMUM, a, high)
    if high is None:
        return m.op(MAXIMUM, a, low)
    dtype = F32 if dtype == BF16 else dtype  # NumPy has no clip for bf16
    a, low, high = (x if m.dtype_of(x).weak else m.cast(x, dtype) for x in (a, low, high))
    return m.op(MINIMUM, m.op(MAXIMUM, a, low), high)


def _limited(dtypes: tuple[DType, ...]) -> DType:
    """Return the dtype of numbers between limits. For bf16 only NumPy's loops tell: it has no common dtype with i32."""
    if BF16 not in dtypes:
        return rules.promote(dtypes)
    strong_first = sorted(dtypes, key=lambda dtype: dtype.weak)
    return reduce(lambda a, b: MAXIMUM.dtypes((a, b), {})[1][0], strong_first)


def _reachable(m: Maker, limit: Operand | None, have: DType, dtype: DType, lower: bool) -> Operand | None:
    """Clamp a limit that is only known at run time to the range of the array's dtype.

    A limit beyond the range on the other side is refused, like a Python number that does not fit an array.
    """
    if not isinstance(limit, Value) or limit.type.dtype != WEAK_INT or literal(limit) is not None:
        return limit
    if have.weak or have == I64 or not (have.is_integer and dtype.is_integer):
        return limit
    if have == U64:
        return m.op(MAXIMUM, limit, 0) if lower else limit
    first, last = (int(end) for end in (np.iinfo(have.numpy).min, np.iinfo(have.numpy).max))
    beyond, end, holds, other = (MAXIMUM, first, LE, last) if lower else (MINIMUM, last, GE, first)
    kept = m.op(
        DEMAND, m.cast(m.op(beyond, limit, end), I64), m.op(holds, limit, other), error=OverflowProblem.__name__,
        message=f"Python integer out of bounds for {have.numpy}",
    )  # fmt: skip
    return m.cast(kept, have)


def select(m: Maker, condlist: Sequence[Operand], choicelist: Sequence[Operand], default: Operand = 0) -> Value:
    """Take the first choice whose condition holds; the result is always an array in C order."""
    if not isinstance(condlist, (tuple, list)) or not isinstance(choicelist, (tuple, list)):
        raise m.refuse("'select' without lists of conditions and choices")
    if len(condlist) != len(choicelist):
        raise ValueProblem("list of cases must be same length as list of conditions", m.span)
    if not condlist:
        raise ValueProblem("select with an empty condition list is not possible", m.span)
    for place, condition in enumerate(condlist):
        if m.dtype_of(condition) != BOOL:
            raise TypeProblem(f"invalid entry {place} in condlist: should be boolean ndarray", m.span)
    dtype = rules.promote(tuple(m.dtype_of(x) for x in (*choicelist, default)))
    found = m.cast(wrapped(m, default, dtype), dtype)
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        demand_cast(m, m.dtype_of(choice).strong, dtype, "same_kind")
        found = m.op(WHERE, condition, m.cast(wrapped(m, choice, dtype), dtype), found)
    return m.builder.op(RESHAPE, found, span=m.span, shape=Sizes(found.type.shape), order="C")


def nan_to_num(m: Maker, x: Operand, copy: bool = True, nan: Operand = 0.0, posinf: Operand | None = None,
               neginf: Operand | None = None) -> Value:  # fmt: skip
    """Replace NaN and infinities; by default, infinities become the largest and smallest finite numbers."""
    if not copy:
        raise m.refuse("'nan_to_num' in place")
    value = m.lift(x)
    dtype = value.type.dtype.strong
    if dtype.kind not in ("float", "complex") or dtype == BF16:  # bf16 is not a float to NumPy
        return as_scalar(m, copied(m, value))
    value = copied(m, m.cast(value, dtype))
    if dtype.kind == "complex":
        parts = (_finite(m, m.op(part, value), nan, posinf, neginf) for part in (REAL, IMAG))
        return m.op(POSITIVE, m.op(COMPLEX, *parts))
    return m.op(POSITIVE, _finite(m, value, nan, posinf, neginf))


def _finite(m: Maker, x: Value, nan: Operand, posinf: Operand | None, neginf: Operand | None) -> Value:
    dtype = x.type.dtype
    limits = np.finfo(dtype.numpy)
    stand_ins = [nan, float(limits.max) if posinf is None else posinf, float(limits.min) if neginf is None else neginf]
    for given in stand_ins:
        if not np.can_cast(m.dtype_of(given).numpy, dtype.numpy, "same_kind"):
            raise TypeProblem(f"a number of dtype {m.dtype_of(given)} can't stand in for one of {dtype}", m.span)
    number, above, below = (m.cast(given, dtype) for given in stand_ins)
    infinite = m.op(ISINF, x)
    zero = m.builder.constant(0.0, dtype, m.span)
    signed = m.op(WHERE, m.op(GT, x, zero), above, below)
    return m.op(WHERE, m.op(ISNAN, x), number, m.op(WHERE, infinite, signed, x))


def as_scalar(m: Maker, x: Value) -> Value:
    """Return the same value, as a scalar if it has no dimensions."""
    return m.op(BOTH, x, x) if x.type.dtype == BOOL else m.op(POSITIVE, x)


CHOOSING: Mapping[str, Make] = {"where": where, "clip": clip, "select": select, "nan_to_num": nan_to_num}

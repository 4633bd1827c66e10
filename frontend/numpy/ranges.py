"""Define NumPy's sequences of evenly spaced numbers, computed as NumPy computes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.dtypes import BF16, BOOL, F16, F32, WEAK_FLOAT, DType, from_numpy
from ...ir.errors import DivisionByZero, TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import TABLE, WHERE
from ...ir.rules import promote
from ..fixed import count_of
from ..maker import Maker, Operand, as_dtype, number_of
from ..numbers import number_behind
from ..sizes import guard_reaches
from .axes import axis_of, flag
from .creation import numbered
from .elementwise import Make, power
from .shapes import moveaxis

ADD, SUB, MUL, DIV, EQ, FLOOR, ANY = (TABLE[name] for name in ("add", "sub", "mul", "div", "eq", "floor", "any"))


# -- arange


def arange(m: Maker, start: object = None, stop: object = None, step: object = 1, *, dtype: object = None) -> Value:
    if stop is None:
        if start is None:
            raise TypeProblem(
                "arange() requires stop to be specified.", m.span, "write arange(stop) or arange(start, stop)"
            )
        start, stop = 0, start
    start = 0 if start is None else start
    first, last, by = (_fixed(m, x) for x in (start, stop, 1 if step is None else step))
    if any(isinstance(x, Dim) for x in (first, last)) and _are_whole(first, last, by):
        return _symbolic(m, first, last, by, dtype)
    return _counted(m, _number(m, first), _number(m, last), _number(m, by), dtype)


def _fixed(m: Maker, x: object) -> Any:
    """Return a number or a size. Numbers only known at run time go to NumPy, because the shape depends on them."""
    if not isinstance(x, Value):
        return x
    number = number_of(x)
    if number is None and not x.type.rank:
        number = number_behind(m.builder.facts, x)
    if number is None:
        raise m.refuse("'arange' with a bound that is only known at run time")
    return number if x.type.dtype.weak else x.type.dtype.numpy.type(number)


def _are_whole(*parts: object) -> bool:
    return all(isinstance(x, (int, Dim)) and not isinstance(x, bool) for x in parts)


def _number(m: Maker, x: Any) -> Any:
    if not isinstance(x, Dim):
        return x
    number = m.builder.facts.specialize(x)
    if number is None:
        raise m.refuse(f"'arange' with both the size '{x}' and floats")
    return number


def _symbolic(m: Maker, first: Size, last: Size, by: Size, dtype: object) -> Value:
    """Make a range of integers between symbolic sizes with one graph for all of them."""
    step = _number(m, by)
    wanted = as_dtype(np.int64 if dtype is None else dtype, m.span)
    _refuse_dtype(m, wanted)
    if step == 0:
        raise DivisionByZero("Maximum allowed size exceeded", m.span, "the step of 'arange' is 0")
    gap = last - first if step > 0 else first - last
    count = dims.maximum(0, dims.floordiv(gap + (abs(step) - 1), abs(step)))
    inner = F32 if wanted in (F16, BF16) else wanted
    start = m.cast(m.builder.size(first, m.span) if isinstance(first, Dim) else first, inner)
    return m.cast(_spaced(m, count, start, m.cast(step, inner), inner), wanted)


def _counted(m: Maker, first: Any, last: Any, by: Any, dtype: object) -> Value:
    """Make a range between known numbers; NumPy's own arithmetic gives the count and the first two elements."""
    wanted = _dtype_of(m, (first, last, by), dtype)
    _refuse_dtype(m, wanted)
    try:
        with np.errstate(all="ignore"):
            steps = float((last - first) / by)
            after = first + by
        count = max(0, math.ceil(steps))
    except ZeroDivisionError as error:
        raise DivisionByZero("Maximum allowed size exceeded", m.span, "the step of 'arange' is 0") from error
    except (TypeError, OverflowError, ValueError) as error:
        raise ValueProblem(f"'arange' can't tell how many numbers to make: {error}", m.span) from error
    inner = F32 if wanted in (F16, BF16) else wanted
    with np.errstate(all="ignore"):
        pair = np.array([np.array(first).astype(wanted.numpy), np.array(after).astype(wanted.numpy)]).astype(
            inner.numpy
        )
        delta = pair[1] - pair[0]
        exact = bool(pair[0] + delta == pair[1])
    made = _spaced(m, count, m.lift(pair[0]), m.lift(delta), inner)
    if not exact and count > 1:
        made = m.op(WHERE, m.op(EQ, numbered(m, (count,), 0), 1), m.lift(pair[1]), made)
    return m.cast(made, wanted)


def _dtype_of(m: Maker, numbers: tuple[Any, ...], dtype: object) -> DType:
    """Return the requested dtype, or the one that NumPy uses for these numbers: at least i64."""
    if dtype is not None:
        return as_dtype(dtype, m.span)
    try:
        return from_numpy(np.result_type(np.int64, *(np.asarray(x).dtype for x in numbers)))
    except TypeError as error:
        raise TypeProblem(f"'arange' can't use these arguments: {error}", m.span) from error


def _refuse_dtype(m: Maker, dtype: DType) -> None:
    if dtype == BOOL or dtype.kind == "complex":
        raise m.refuse(f"'arange' of {dtype}")


def _spaced(m: Maker, count: Size, start: Value, step: Value, dtype: DType) -> Value:
    """Compute `start + i * step` for each position i."""
    place = m.cast(numbered(m, (count,), 0), dtype)
    return m.op(ADD, start, m.op(MUL, place, step))


# -- linspace and what is made of it


def linspace(m: Maker, start: Operand, stop: Operand, num: object = 50, endpoint: object = True,
             retstep: object = False, dtype: object = None, axis: object = 0) -> Value | tuple[Value, ...]:  # fmt: skip
    y, step = _linspace(m, start, stop, num, flag(m, endpoint, "endpoint"), dtype, axis)
    return (y, step) if flag(m, retstep, "retstep") else y


def _linspace(
    m: Maker, start: Operand, stop: Operand, num: object, endpoint: bool, dtype: object, axis: object
) -> tuple[Value, Value]:
    count = count_of(m, num, "num")
    inner = promote((m.dtype_of(start), m.dtype_of(stop), WEAK_FLOAT))
    wanted = inner if dtype is None else as_dtype(dtype, m.span)
    low, high = m.cast(start, inner), m.cast(stop, inner)
    delta = m.op(SUB, high, low)
    place = numbered(m, (count, *(1,) * delta.type.rank), 0)
    y, step = _scaled(m, m.cast(place, inner), delta, count - 1 if endpoint else count)
    y = m.op(ADD, y, low)
    if endpoint and guard_reaches(m.builder.facts, count, 2):
        y = m.op(WHERE, m.op(EQ, place, m.builder.size(count - 1, m.span)), high, y)
    y = moveaxis(m, y, 0, axis_of(m, axis, y.type.rank))
    if wanted.is_integer:
        y = m.op(FLOOR, y)
    return m.cast(y, wanted), step


def _scaled(m: Maker, place: Value, delta: Value, parts: Size) -> tuple[Value, Value]:
    """Multiply positions by the step. If the step underflows to 0, divide first, as NumPy does."""
    if not guard_reaches(m.builder.facts, parts, 1):
        return m.op(MUL, place, delta), m.lift(math.nan)
    by = m.builder.size(parts, m.span)
    step = m.op(DIV, delta, by)
    vanishes = m.op(EQ, step, 0)
    if step.type.rank:
        vanishes = m.op(ANY, vanishes, axes=tuple(range(step.type.rank)))
    divided = m.op(MUL, m.op(DIV, place, by), delta)
    return m.op(WHERE, vanishes, divided, m.op(MUL, place, step)), step


def logspace(m: Maker, start: Operand, stop: Operand, num: object = 50, endpoint: object = True, base: Operand = 10.0,
             dtype: object = None, axis: object = 0) -> Value:  # fmt: skip
    if isinstance(base, Value) and base.type.rank:
        raise m.refuse("'logspace' with several bases")
    y, _ = _linspace(m, start, stop, num, flag(m, endpoint, "endpoint"), None, axis)
    made = power(m, base, y)
    return made if dtype is None else m.cast(made, as_dtype(dtype, m.span))


def geomspace(m: Maker, start: Operand, stop: Operand, num: object = 50, endpoint: object = True,
              dtype: object = None, axis: object = 0) -> Value:  # fmt: skip
    first, last = number_of(start), number_of(stop)
    if not isinstance(first, (int, float)) or not isinstance(last, (int, float)):
        raise m.refuse("'geomspace' with bounds that are only known at run time")
    if not first or not last:
        raise ValueProblem("Geometric sequence cannot include zero", m.span)
    ends, count = flag(m, endpoint, "endpoint"), count_of(m, num, "num")
    sign = np.sign(float(first))
    with np.errstate(all="ignore"):
        low, high = float(first) / sign, float(last) / sign
        made = logspace(m, float(np.log10(low)), float(np.log10(high)), count, ends)
    place = numbered(m, (count,), 0)
    made = m.op(WHERE, m.op(EQ, place, 0), float(low), made)
    if ends and guard_reaches(m.builder.facts, count, 2):
        made = m.op(WHERE, m.op(EQ, place, m.builder.size(count - 1, m.span)), float(high), made)
    axis_of(m, axis, 1)
    made = m.op(MUL, made, float(sign))
    return made if dtype is None else m.cast(made, as_dtype(dtype, m.span))


RANGING: Mapping[str, Make] = {
    "arange": arange, "linspace": linspace, "logspace": logspace, "geomspace": geomspace,
}  # fmt: skip

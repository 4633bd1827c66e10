"""Define NumPy's reductions that skip NaN: ordinary reductions with `where`, or with the identity in place of NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...ir.complexes import PARTS
from ...ir.dtypes import BF16, DType
from ...ir.errors import TypeProblem, ValueProblem
from ...ir.graph import Value
from ...ir.ops import ARGMAX, ARGMIN, DEMAND, TABLE, WHERE, OpDef
from ..maker import ABSENT, Maker, Operand, as_dtype
from ..memory import copied
from . import statistics
from .argminmax import position
from .arrays import array_of
from .axes import axes_of
from .cumulative import along
from .elementwise import Make
from .reductions import ALGEBRAS, PLUS, SUB, TIMES, Algebra, extreme_by, mask_in, reduced
from .statistics import averaged, freedom_lost, quotient, root, squared_distances

IS_NAN, NOT, AND, GREATER = (TABLE[name] for name in ("isnan", "logical_not", "logical_and", "gt"))


def _has_nan(x: Value) -> bool:
    return _is_inexact(x.type.dtype)


def _is_inexact(dtype: DType) -> bool:
    """Tell whether NumPy looks for NaN in this dtype. For NumPy bf16 is not a float, so its NaN is not skipped."""
    return dtype.kind in ("float", "complex") and dtype != BF16


def _without_nan(m: Maker, x: Value, algebra: Algebra) -> Value:
    """Replace each NaN by the identity."""
    assert algebra.identity is not None
    if not _has_nan(x):
        return x
    x = copied(m, x)  # NumPy writes the identity into a copy
    return m.op(WHERE, m.op(IS_NAN, x), algebra.identity, x)


def _total(algebra: Algebra) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None,
             keepdims: object = False, initial: object = ABSENT, where: object = True) -> Value:  # fmt: skip
        x = _without_nan(m, array_of(m, a), algebra)
        return reduced(m, algebra, x, axis, dtype, keepdims, initial, where)

    return make


def _running(algebra: Algebra) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None) -> Value:
        return along(m, algebra, _without_nan(m, array_of(m, a), algebra), axis, dtype)

    return make


def nanmean(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None,
            keepdims: object = False, *, where: object = True) -> Value:  # fmt: skip
    x = array_of(m, a)
    if not _has_nan(x):
        return statistics.mean(m, x, axis, dtype, out, keepdims, where=where)
    _demand_inexact(m, dtype)
    x = copied(m, x)
    return averaged(m, x, axes_of(m, axis, x.type.rank), dtype, keepdims, _numbers(m, x, where))


def _spread(plain: Make, finish: Callable[[Maker, Value, DType], Value]) -> Make:
    """`nanvar` or `nanstd`: `plain` serves arrays that can't have NaN, `finish` takes the variance and its dtype."""

    def make(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None, ddof: Operand = 0,
             keepdims: object = False, *, where: object = True, mean: object = ABSENT,
             correction: object = ABSENT) -> Any:  # fmt: skip
        x = array_of(m, a)
        if not _has_nan(x):
            return plain(m, x, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
        return finish(m, *_variance(m, x, axis, dtype, freedom_lost(m, ddof, correction), keepdims, where, mean))

    return make


def _variance(m: Maker, x: Value, axis: object, dtype: object, lost: Operand, keepdims: object, where: object,
              mean: object) -> tuple[Value, DType]:  # fmt: skip
    """Compute the variance without NaN, in the array's dtype; it is NaN if no degrees of freedom are left."""
    _demand_inexact(m, dtype)
    x = copied(m, x)
    axes, numbers = axes_of(m, axis, x.type.rank), _numbers(m, x, where)
    total, count, wanted = squared_distances(m, x, axes, dtype, keepdims, numbers, mean)
    freedom = m.op(SUB, count, lost)
    found = quotient(m, total, m.op(WHERE, m.op(GREATER, freedom, 0), freedom, math.nan))
    have = x.type.dtype.strong
    return found, wanted if dtype is not None else PARTS.get(have, have)


def _numbers(m: Maker, x: Value, where: object) -> Value:
    """Select the elements that are not NaN and that `where` keeps."""
    numbers = m.op(NOT, m.op(IS_NAN, x))
    return numbers if where is True else m.op(AND, numbers, mask_in(m, where, x.type.shape))


def _position(op: OpDef, worst: float) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, out: None = None, *, keepdims: object = False) -> Value:
        x = array_of(m, a)
        if not _has_nan(x):
            return position(m, op, x, axis, keepdims)
        nan = m.op(IS_NAN, x)
        found = position(m, op, m.op(WHERE, nan, worst, x), axis, keepdims)
        holds = m.op(NOT, reduced(m, ALGEBRAS["logical_and"], nan, axis, None, keepdims))
        return m.op(DEMAND, found, holds, error=ValueProblem.__name__, message="All-NaN slice encountered")

    return make


def _demand_inexact(m: Maker, dtype: object) -> None:
    if dtype is not None and not _is_inexact(as_dtype(dtype, m.span)):
        raise TypeProblem("If a is inexact, then dtype must be inexact", m.span, "name a float or complex dtype")


NAN_AWARE: Mapping[str, Make] = {
    "nansum": _total(PLUS), "nanprod": _total(TIMES), "nancumsum": _running(PLUS), "nancumprod": _running(TIMES),
    "nanmin": extreme_by(ALGEBRAS["fmin"]), "nanmax": extreme_by(ALGEBRAS["fmax"]), "nanmean": nanmean,
    "nanvar": _spread(statistics.var, Maker.cast), "nanstd": _spread(statistics.std, root),
    "nanargmin": _position(ARGMIN, math.inf), "nanargmax": _position(ARGMAX, -math.inf),
}  # fmt: skip

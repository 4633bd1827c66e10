"""NumPy's reductions: an array, axes and NumPy's keyword arguments in, a value with NumPy's result dtype out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..ir import dims
from ..ir.dims import Size
from ..ir.dtypes import BF16, BOOL, F16, F32, F64, DType
from ..ir.errors import IndexProblem, ValueProblem
from ..ir.graph import Value
from ..ir.ops import TABLE, OpDef
from ..ir.types import normalize_axes
from .elementwise import Make
from .maker import Maker, Operand, as_dtype, static_int
from .sizes import at_least

SUM, PROD, MIN, MAX, ANY, ALL = (TABLE[name] for name in ("sum", "prod", "min", "max", "any", "all"))
ADD, SUB, DIV, SQUARE, SQRT, POSITIVE = (TABLE[name] for name in ("add", "sub", "div", "square", "sqrt", "positive"))
LOGICAL_OR = TABLE["logical_or"]
_HALF = frozenset((F16, BF16))


def axes_of(m: Maker, axis: object, rank: int) -> tuple[int, ...]:
    """The axes that NumPy's `axis` argument names; None is all of them."""
    if axis is None:
        return tuple(range(rank))
    given = [static_int(a, "axis", m.span) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if rank == 0 and not isinstance(axis, (tuple, list)) and given[0] in (0, -1):
        return ()
    found = normalize_axes(given, rank)
    if found is not None:
        return found
    if all(-rank <= a < rank for a in given):
        raise ValueProblem("duplicate value in 'axis'", m.span, "name each axis once")
    wrong = next(a for a in given if not -rank <= a < rank)
    raise IndexProblem(
        f"axis {wrong} is out of bounds for array of dimension {rank}", m.span,
        f"axes of this array are {-rank} to {rank - 1}" if rank else "the array has no axes",
    )  # fmt: skip


def reduce(m: Maker, op: OpDef, x: Operand, axes: Sequence[int], keepdims: object) -> Value:
    """One reduction. Over no axis it is its dtype rule alone, and gives a fresh array, as NumPy does."""
    value = m.lift(x)
    if axes:
        return m.builder.op(op, value, span=m.span, axes=tuple(axes), keepdims=bool(keepdims))
    (dtype,), _ = op.dtypes((value.type.dtype,), {})
    same = m.cast(value, dtype)
    if op is SUM and not dtype.is_integer:
        return m.op(ADD, same, 0.0)  # a sum starts from 0.0, which -0.0 does not survive
    return m.op(LOGICAL_OR, same, same) if dtype == BOOL else m.op(POSITIVE, same)


def _accumulate(m: Maker, op: OpDef, a: Operand, axes: Sequence[int], dtype: object, keepdims: object) -> Value:
    """A sum or product in a chosen dtype; integers wrap, so narrow ones are taken in 64 bits and cut at the end."""
    if dtype is None:
        return reduce(m, op, a, axes, keepdims)
    wanted = as_dtype(dtype, m.span)
    if wanted == BOOL:
        raise m.refuse(f"'{op.name}' with dtype=bool")
    return m.cast(reduce(m, op, m.cast(a, wanted), axes, keepdims), wanted)


def _total(op: OpDef) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None,
             keepdims: object = False) -> Value:  # fmt: skip
        a = m.lift(a)
        return _accumulate(m, op, a, axes_of(m, axis, a.type.rank), dtype, keepdims)

    return make


def _extreme(op: OpDef) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, out: None = None, keepdims: object = False) -> Value:
        a = m.lift(a)
        axes = axes_of(m, axis, a.type.rank)
        _demand_elements(m, a, axes, op)
        return reduce(m, op, a, axes, keepdims)

    return make


def _demand_elements(m: Maker, a: Value, axes: Sequence[int], op: OpDef) -> None:
    for axis in axes:
        if not at_least(m.builder.facts, a.type.shape[axis], 1):
            name = {"min": "minimum", "max": "maximum"}[op.name]
            raise ValueProblem(f"zero-size array to reduction operation {name} which has no identity", m.span)


def _truth(op: OpDef) -> Make:
    def make(m: Maker, a: Operand, axis: object = None, out: None = None, keepdims: object = False) -> Value:
        a = m.lift(a)
        return reduce(m, op, a, axes_of(m, axis, a.type.rank), keepdims)

    return make


def _count(a: Value, axes: Sequence[int]) -> Size:
    return dims.product(a.type.shape[axis] for axis in axes)


def _mean_dtype(have: DType, asked: object, m: Maker) -> DType:
    """What a mean is summed in: integers in f64, halves in f32."""
    if asked is not None:
        return as_dtype(asked, m.span)
    have = have.strong
    if have in _HALF:
        return F32
    return have if have.kind in ("float", "complex") else F64


def mean(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None,
         keepdims: object = False) -> Value:  # fmt: skip
    a = m.lift(a)
    axes = axes_of(m, axis, a.type.rank)
    inner = _mean_dtype(a.type.dtype, dtype, m)
    total = _accumulate(m, SUM, a, axes, inner, keepdims)
    half = dtype is None and a.type.dtype in _HALF
    return m.cast(m.op(DIV, total, m.builder.size(_count(a, axes), m.span)), a.type.dtype if half else inner)


def var(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None, ddof: object = 0,
        keepdims: object = False, *, correction: object = None) -> Value:  # fmt: skip
    """Two passes, as NumPy: the mean first, then the mean of the squared distances to it."""
    a = m.lift(a)
    if a.type.dtype.kind == "complex":
        raise m.refuse("the variance of complex numbers")
    axes = axes_of(m, axis, a.type.rank)
    inner = as_dtype(dtype, m.span) if dtype is not None else _mean_dtype(a.type.dtype, None, m)
    if inner.kind != "float":
        raise m.refuse(f"a variance in {inner}")
    off = static_int(ddof if correction is None else correction, "ddof", m.span)
    count = _count(a, axes)
    centre = m.cast(m.op(DIV, _accumulate(m, SUM, a, axes, inner, True), m.builder.size(count, m.span)), inner)
    squares = m.op(SQUARE, m.op(SUB, a, centre))
    total = _accumulate(m, SUM, squares, axes, inner, keepdims)
    freedom = m.builder.size(dims.maximum(0, count - off), m.span)
    return m.cast(m.op(DIV, total, freedom), a.type.dtype if dtype is None and a.type.dtype in _HALF else inner)


def std(m: Maker, a: Operand, axis: object = None, dtype: object = None, out: None = None, ddof: object = 0,
        keepdims: object = False, *, correction: object = None) -> Value:  # fmt: skip
    return m.op(SQRT, var(m, a, axis, dtype, out, ddof, keepdims, correction=correction))


def ptp(m: Maker, a: Operand, axis: object = None, out: None = None, keepdims: object = False) -> Value:
    low, high = (_extreme(op)(m, a, axis, None, keepdims) for op in (MIN, MAX))
    assert isinstance(low, Value) and isinstance(high, Value)
    return m.op(SUB, high, low)


def count_nonzero(m: Maker, a: Operand, axis: object = None, *, keepdims: object = False) -> Value:
    a = m.lift(a)
    return reduce(m, SUM, m.cast(a, BOOL), axes_of(m, axis, a.type.rank), keepdims)


REDUCTIONS: Mapping[str, Make] = {
    "sum": _total(SUM), "prod": _total(PROD), "min": _extreme(MIN), "max": _extreme(MAX), "any": _truth(ANY),
    "all": _truth(ALL), "mean": mean, "var": var, "std": std, "ptp": ptp, "count_nonzero": count_nonzero,
}  # fmt: skip
ALIASES = {"amin": "min", "amax": "max"}
UFUNC_REDUCTIONS: Mapping[np.ufunc, str] = {
    np.add: "sum", np.multiply: "prod", np.minimum: "min", np.maximum: "max", np.logical_or: "any",
    np.logical_and: "all",
}  # fmt: skip

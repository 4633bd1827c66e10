"""NumPy's elementwise functions as ops: a table of names, and the few functions that are composed of several ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..ir import rules
from ..ir.dtypes import BOOL, DType
from ..ir.errors import OverflowProblem, ValueProblem
from ..ir.graph import Value
from ..ir.ops import TABLE, WHERE, OpDef
from .maker import Maker, Operand, as_dtype, fits, literal, number_of

# NumPy's names of the ops; an op that is not listed has NumPy's name.
_NUMPY_NAMES = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
ALIASES = {
    "true_divide": "divide", "mod": "remainder", "pow": "power", "abs": "absolute", "bitwise_not": "invert",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "conj": "conjugate", "around": "round", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip

POWER, SQRT, SQUARE, RECIPROCAL = (TABLE[name] for name in ("power", "sqrt", "square", "reciprocal"))
MINIMUM, MAXIMUM, POSITIVE, ABS = (TABLE[name] for name in ("minimum", "maximum", "positive", "abs"))
_FABS, _FLOAT_POWER = rules.ufunc_dtypes(np.fabs), rules.ufunc_dtypes(np.float_power)

Make = Callable[..., "Value | tuple[Value, ...]"]


def simple(op: OpDef) -> Make:
    """A function that is one op."""
    if op.arity == 1:
        return lambda m, x, /: m.op(op, x)
    return lambda m, x1, x2, /: m.op(op, x1, x2)


def power(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    """NumPy takes literal exponents 2, 1/2 and -1 as square, sqrt and reciprocal; that differs at -inf and -0."""
    exponent = number_of(x2)
    if exponent is None or isinstance(exponent, complex):
        return m.op(POWER, x1, x2)
    dtype = POWER.dtypes((m.dtype_of(x1), m.dtype_of(x2)), {})[0][0]
    if dtype.is_integer and exponent < 0:
        raise ValueProblem(
            "Integers to negative integer powers are not allowed.", m.span, "make the base a float, as in x.astype(f64)"
        )
    if type(exponent) is int and exponent == 2 and dtype.kind != "complex" and m.dtype_of(x1) != BOOL:
        return m.op(SQUARE, x1)
    fast = {2.0: SQUARE, 0.5: SQRT, -1.0: RECIPROCAL}.get(float(exponent))
    if fast is None or dtype.kind != "float":
        return m.op(POWER, x1, x2)
    return m.op(fast, x1 if m.dtype_of(x1).weak else m.cast(x1, dtype))


def where(m: Maker, condition: Operand, x: Operand = None, y: Operand = None, /) -> Value:  # type: ignore[assignment]
    if x is None or y is None:
        raise m.refuse("'where' with a condition alone")
    dtype = rules.promote((m.dtype_of(x), m.dtype_of(y)))
    return m.op(WHERE, condition, _wrapped(m, x, dtype), _wrapped(m, y, dtype))


def _wrapped(m: Maker, x: Operand, dtype: DType) -> Operand:
    """NumPy's `where` lets an integer literal wrap around."""
    number = literal(x)
    if number is None or not dtype.is_integer or fits(number, dtype):
        return x
    if not -(2**63) <= number < 2**63:
        raise OverflowProblem(f"the integer {number} does not fit i64", m.span)
    return int(np.asarray(number, np.int64).astype(dtype.numpy))


def clip(m: Maker, a: Operand, a_min: Operand | None = None, a_max: Operand | None = None, *,
         min: Operand | None = None, max: Operand | None = None) -> Value:  # fmt: skip
    """Limits of a kind that the array can't reach are no limits, as in NumPy."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    have = m.dtype_of(a)
    if have.is_integer and not have.weak:
        limits = np.iinfo(have.numpy)
        low = None if (n := literal(low)) is not None and n <= limits.min else low
        high = None if (n := literal(high)) is not None and n >= limits.max else high
    if low is None and high is None:
        return m.op(POSITIVE, a)
    if low is None or high is None:
        return m.op(MINIMUM, a, high) if high is not None else m.op(MAXIMUM, a, low)  # type: ignore[arg-type]
    dtype = rules.promote(tuple(m.dtype_of(x) for x in (a, low, high)))
    if dtype == BOOL:
        raise m.refuse("'clip' of bool")
    a, low, high = (x if m.dtype_of(x).weak else m.cast(x, dtype) for x in (a, low, high))
    return m.op(MINIMUM, m.op(MAXIMUM, a, low), high)


def fabs(m: Maker, x: Operand, /) -> Value:
    """Always a float, unlike `absolute`."""
    (dtype,), _ = _FABS((m.dtype_of(x).strong,), {})
    return m.op(ABS, m.cast(x, dtype))


def float_power(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    dtypes, _ = _FLOAT_POWER((m.dtype_of(x1).strong, m.dtype_of(x2).strong), {})
    return m.op(POWER, m.cast(x1, dtypes[0]), m.cast(x2, dtypes[1]))


def divmod(m: Maker, x1: Operand, x2: Operand, /) -> tuple[Value, ...]:
    return m.op(TABLE["floor_divide"], x1, x2), m.op(TABLE["remainder"], x1, x2)


def round(m: Maker, a: Operand, decimals: int = 0) -> Value:
    if number_of(decimals) != 0:
        raise m.refuse("'round' to decimals")
    return m.op(POSITIVE if m.dtype_of(a).is_integer else TABLE["rint"], a)


def conjugate(m: Maker, x: Operand, /) -> Value:
    if m.dtype_of(x).kind in ("complex", "bool"):
        raise m.refuse("'conjugate' of complex numbers and bools")
    return m.op(POSITIVE, x)


def astype(m: Maker, x: Operand, dtype: object, /, *, copy: bool = True) -> Value:
    return m.cast(x, as_dtype(dtype, m.span))


ELEMENTWISE: Mapping[str, Make] = {
    **{_NUMPY_NAMES.get(op.name, op.name): simple(op) for op in TABLE.values() if isinstance(op.numpy, np.ufunc)},
    "power": power, "where": where, "clip": clip, "fabs": fabs, "float_power": float_power, "divmod": divmod,
    "round": round, "conjugate": conjugate, "astype": astype,
}  # fmt: skip

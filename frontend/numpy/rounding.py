"""Define `round` and `sinc` by the operations that NumPy uses."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...ir.dtypes import F64, DType
from ...ir.errors import TypeProblem
from ...ir.graph import Value
from ...ir.ops import COMPLEX, IMAG, REAL, TABLE, WHERE
from ..maker import Make, Maker, Operand, static_int
from ..memory import copied

MUL, DIV, RINT, POSITIVE, SIN = (TABLE[name] for name in ("mul", "div", "rint", "positive", "sin"))


def round(m: Maker, a: Operand, decimals: int = 0) -> Value:
    """Multiply by a power of ten, round to even, and divide again."""
    places = static_int(decimals, "decimals", m.span)
    value = m.lift(a)
    dtype = value.type.dtype
    if dtype.is_integer and places >= 0:
        return m.op(POSITIVE, copied(m, value))
    if places == 0:
        return m.op(RINT, value)
    if dtype.kind == "bool":
        raise TypeProblem("bools can't be rounded to decimals", m.span, "convert them with .astype(...) first")
    if dtype.kind == "complex":
        value = copied(m, value)
        parts = (_rounded(m, m.op(part, value), places) for part in (REAL, IMAG))
        return m.op(POSITIVE, m.op(COMPLEX, *parts))
    if dtype.is_integer:
        return m.cast(_rounded(m, m.cast(copied(m, value), F64), places), dtype)
    return _rounded(m, value, places)


def _rounded(m: Maker, x: Value, places: int) -> Value:
    """Round each step to the dtype of the array: bf16 with a number would compute in f32."""
    factor, dtype = _power_of_ten(abs(places)), x.type.dtype
    first, last = (MUL, DIV) if places > 0 else (DIV, MUL)
    whole = m.op(RINT, m.cast(m.op(first, x, factor), dtype))
    return m.cast(m.op(last, whole, factor), dtype)


def _power_of_ten(exponent: int) -> float:
    """Compute a power of ten like NumPy: exact up to 10**9, then multiplied by 10 step by step, and rounded."""
    power = 10.0 ** min(exponent, 9)
    for _ in range(exponent - 9):
        power *= 10.0
        if math.isinf(power):
            break
    return power


def sinc(m: Maker, x: Operand) -> Value:
    """Compute `sin(pi x) / (pi x)`; NumPy replaces 0 by a small number."""
    value = m.lift(x)
    scaled = m.op(MUL, value, math.pi)
    argument = m.op(WHERE, scaled, scaled, m.builder.constant(_tiny(scaled.type.dtype.strong), None, m.span))
    return m.op(DIV, m.op(SIN, argument), argument)


def _tiny(dtype: DType) -> float:
    return float(np.finfo(dtype.numpy).eps) if dtype.kind == "float" else 1e-20


ROUNDING: Mapping[str, Make] = {"round": round, "sinc": sinc}

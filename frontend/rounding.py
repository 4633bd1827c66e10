"""Rounding to decimals and the cardinal sine, each composed of the ops that NumPy computes it by."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..ir.dtypes import F64, DType
from ..ir.errors import TypeProblem
from ..ir.graph import Value
from ..ir.ops import COMPLEX, IMAG, REAL, TABLE, WHERE
from .maker import Make, Maker, Operand, static_int

MUL, DIV, RINT, POSITIVE, SIN = (TABLE[name] for name in ("mul", "div", "rint", "positive", "sin"))


def round(m: Maker, a: Operand, decimals: int = 0) -> Value:
    """Multiplies by a power of ten, rounds to even, and divides again."""
    places = static_int(decimals, "decimals", m.span)
    value = m.lift(a)
    dtype = value.type.dtype
    if dtype.is_integer and places >= 0:
        return m.op(POSITIVE, value)
    if places == 0:
        return m.op(RINT, value)
    if dtype.kind == "bool":
        raise TypeProblem("'round' of bool to decimals", m.span, "NumPy refuses it too; convert with .astype(...)")
    if dtype.kind == "complex":
        return m.op(COMPLEX, *(_rounded(m, m.op(part, value), places) for part in (REAL, IMAG)))
    if dtype.is_integer:
        return m.cast(_rounded(m, m.cast(value, F64), places), dtype)
    return _rounded(m, value, places)


def _rounded(m: Maker, x: Value, places: int) -> Value:
    # As a number it takes the dtype of the array, and is infinite where that does not hold it.
    factor = 10.0 ** abs(places) if abs(places) < 309 else math.inf
    first, last = (MUL, DIV) if places > 0 else (DIV, MUL)
    return m.op(last, m.op(RINT, m.op(first, x, factor)), factor)


def sinc(m: Maker, x: Operand) -> Value:
    """`sin(pi x) / (pi x)`; NumPy puts a small number in the place of 0."""
    value = m.lift(x)
    scaled = m.op(MUL, value, math.pi)
    argument = m.op(WHERE, scaled, scaled, m.builder.constant(_tiny(scaled.type.dtype.strong), None, m.span))
    return m.op(DIV, m.op(SIN, argument), argument)


def _tiny(dtype: DType) -> float:
    return float(np.finfo(dtype.numpy).eps) if dtype.kind == "float" else 1e-20


ROUNDING: Mapping[str, Make] = {"round": round, "sinc": sinc}

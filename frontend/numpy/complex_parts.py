"""Define NumPy's functions of real parts, imaginary parts and angles."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...ir.builder import is_scalar_result
from ...ir.graph import Value
from ...ir.ops import IMAG, REAL, RESHAPE, TABLE, WHERE
from ...ir.types import Sizes
from ..maker import Make, Maker, Operand
from .choosing import as_scalar

ARCTAN2, MUL = TABLE["arctan2"], TABLE["mul"]


def real(m: Maker, val: Operand) -> Value:
    """Return the real part; a real number is its own."""
    value = m.lift(val)
    return _part(m, value, m.op(REAL, value)) if value.type.dtype.kind == "complex" else value


def imag(m: Maker, val: Operand) -> Value:
    """Return the imaginary part; for a real number it is 0 in the same dtype."""
    value = m.lift(val)
    dtype = value.type.dtype
    if dtype.kind == "complex":
        return _part(m, value, m.op(IMAG, value))
    if dtype.weak:
        return m.lift(0.0 if dtype.kind == "float" else 0)
    zero = m.builder.constant(False if dtype.kind == "bool" else 0, dtype, m.span)
    return _part(m, value, m.op(WHERE, True, zero, value))


def real_if_close(m: Maker, a: Operand, tol: float = 100) -> Value:
    """Return a real array itself. Only NumPy can say whether the imaginary parts of a complex one are small."""
    value = m.lift(a)
    if value.type.dtype.kind == "complex":
        raise m.refuse("real_if_close of complex numbers")
    if not value.type.dtype.weak and not is_scalar_result(value):
        return value
    strong = m.cast(value, value.type.dtype.strong)
    return m.builder.op(RESHAPE, strong, span=m.span, shape=Sizes(()))  # NumPy makes an array of a number


def _part(m: Maker, whole: Value, part: Value) -> Value:
    """Return a part: a scalar for a NumPy scalar, an array for an array without dimensions."""
    return as_scalar(m, part) if is_scalar_result(whole) else part


def angle(m: Maker, z: Operand, deg: bool = False) -> Value:
    """Return the angle from the positive real axis, in radians or degrees."""
    value = m.lift(z)
    is_complex = value.type.dtype.kind == "complex"
    parts = (m.op(IMAG, value), m.op(REAL, value)) if is_complex else (0, value)
    found = m.op(ARCTAN2, *parts)
    return m.cast(m.op(MUL, found, 180 / math.pi), found.type.dtype) if deg else found


COMPLEX_PARTS: Mapping[str, Make] = {
    "real": real, "imag": imag, "real_if_close": real_if_close, "angle": angle,
}  # fmt: skip

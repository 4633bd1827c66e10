"""Emit conversions between f32 and the 16-bit floats, with one rounding to nearest even.

Sums, differences, products, quotients and square roots of 16-bit floats may be computed in f32: f32 has more than twice
as many digits, so rounding to f32 and then to 16 bits gives the same as rounding once.
"""

from __future__ import annotations

import struct

import numpy as np

from ....ir.dtypes import F16, DType
from ..code.text import Emitter, Val


def bits(value: float, dtype: DType) -> int:
    """The bits of a number that the dtype holds exactly."""
    if dtype == F16:
        return int(np.asarray(value, np.float16).view(np.uint16))
    return int(struct.unpack("<I", struct.pack("<f", value))[0]) >> 16


def widen(e: Emitter, x: Val, dtype: DType) -> Val:
    """Converts a 16-bit float to f32, exactly."""
    if dtype == F16:
        return e.cast("fpext", e.cast("bitcast", x, "half"), "float")
    whole = e.cast("zext", x, "i32")
    return e.cast("bitcast", e.op("shl", whole, e.const_like(whole, 16)), "float")


def narrow(e: Emitter, x: Val, dtype: DType) -> Val:
    """Rounds an f32 to the nearest number of the dtype."""
    if dtype == F16:
        return e.cast("bitcast", e.cast("fptrunc", x, "half"), "i16")
    raw = e.cast("bitcast", x, "i32")
    upper = e.op("lshr", raw, e.const_like(raw, 16))
    # Adding just under half of the last place, and one more where the last digit kept is odd, rounds ties to even.
    odd = e.op("and", upper, e.const_like(raw, 1))
    rounded = e.op("add", raw, e.op("add", odd, e.const_like(raw, 0x7FFF)))
    nan = e.op("or", e.op("and", upper, e.const_like(raw, 0x8000)), e.const_like(raw, 0x7FC0))
    kept = e.select(e.fcmp("uno", x, x), nan, e.op("lshr", rounded, e.const_like(raw, 16)))
    return e.cast("trunc", kept, "i16")


def double_to_float(e: Emitter, x: Val, dtype: DType) -> Val:
    """Round an f64 to the f32 from which a 16-bit float is made.

    NumPy rounds to f16 once, so the f32 is rounded to odd: its last digit tells whether anything was lost. ml_dtypes
    rounds to bf16 twice.
    """
    nearest = e.cast("fptrunc", x, "float")
    if dtype != F16:
        return nearest
    back = e.cast("fpext", nearest, "double")
    raw = e.cast("bitcast", nearest, "i32")
    beyond = e.fcmp("ogt", e.call("fabs", back), e.call("fabs", x))
    toward_zero = e.op("sub", raw, e.cast("zext", beyond, "i32"))
    lost = e.cast("zext", e.fcmp("one", back, x), "i32")
    return e.cast("bitcast", e.op("or", toward_zero, lost), "float")

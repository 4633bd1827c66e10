"""Emit the combination of two partial results of a reduction, and its neutral element."""

from __future__ import annotations

import math

from ....ir.dtypes import BF16, F16, F32, DType
from ....ir.ops import OpDef
from ..code.text import Emitter, Val
from . import halves
from .joint import JOINT
from .ops import emit

Number = bool | int | float


def combined(e: Emitter, op: OpDef, dtype: DType, older: Val, newer: Val) -> Val:
    """Combines two partial results; 16-bit floats are combined in f32 and rounded."""
    if dtype in (F16, BF16):
        wide = combined(e, op, F32, halves.widen(e, older, dtype), halves.widen(e, newer, dtype))
        return halves.narrow(e, wide, dtype)
    joint = JOINT.get(op)
    if joint is not None and joint.position is not None:
        return joint.function(e, dtype, older, newer)[joint.position]
    return emit(e, op, (dtype, dtype), (older, newer))


def neutral(op: OpDef, dtype: DType) -> Number | None:
    """The neutral element of an op, also for zeros of either sign and NaN."""
    if dtype.kind == "float":
        zero, one, lowest, highest = -0.0, 1.0, -math.inf, math.inf
    else:
        zero, one, is_signed = 0, 1, dtype.kind == "int"
        lowest, highest = -(1 << (dtype.bits - 1)) if is_signed else 0, (1 << (dtype.bits - is_signed)) - 1
    found: dict[str, Number] = {
        "add": zero, "mul": one, "minimum": highest, "maximum": lowest,
        "fmin": math.nan if dtype.kind == "float" else highest, "fmax": math.nan if dtype.kind == "float" else lowest,
        "bitwise_and": 1 if dtype.kind == "bool" else -1, "logical_and": True,
        "bitwise_or": 0, "bitwise_xor": 0, "logical_or": 0, "logical_xor": 0,
    }  # fmt: skip
    return found.get(op.name)

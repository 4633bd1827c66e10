"""Emit the combination of two partial results of a reduction, and its neutral element."""

from __future__ import annotations

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
    is_float = dtype.kind == "float"
    match op.name:
        case "add":
            return -0.0 if is_float else 0
        case "mul":
            return 1.0 if is_float else 1
        case "minimum":
            return float("inf") if is_float else _highest(dtype)
        case "maximum":
            return float("-inf") if is_float else _lowest(dtype)
        case "fmin":
            return float("nan") if is_float else _highest(dtype)
        case "fmax":
            return float("nan") if is_float else _lowest(dtype)
        case "bitwise_and":
            return 1 if dtype.kind == "bool" else -1
        case "logical_and":
            return True
        case "bitwise_or" | "bitwise_xor" | "logical_or" | "logical_xor":
            return 0
        case _:
            return None


def _highest(dtype: DType) -> int:
    return (1 << (dtype.bits - (dtype.kind == "int"))) - 1


def _lowest(dtype: DType) -> int:
    return -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0

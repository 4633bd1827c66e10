"""Element types in LLVM, and conversions between them with NumPy's meaning.

A bool is an `i1` in a register and a byte in memory. Floats out of range become the smallest integer, the rule that
x86 has and that we keep everywhere (NumPy leaves it open); NaN likewise.
"""

from __future__ import annotations

from ...ir.dtypes import DType
from ...ir.errors import Unsupported
from .text import BITS, Emitter, Val


def element(dtype: DType) -> str:
    """The LLVM type of a value in a register."""
    strong = dtype.strong
    if strong.kind == "bool":
        return "i1"
    if strong.is_integer:
        return f"i{strong.bits}"
    if strong.name in ("f32", "f64"):
        return {"f32": "float", "f64": "double"}[strong.name]
    raise Unsupported(f"native code for dtype {strong}", hint="convert to bool, i32, i64, f32 or f64 with .astype(...)")


def memory_element(dtype: DType) -> str:
    """The LLVM type of a value in memory."""
    return "i8" if dtype.strong.kind == "bool" else element(dtype)


def cast(e: Emitter, x: Val, have: DType, want: DType) -> Val:
    """NumPy's `astype`. A Python int becomes an f32 by way of f64, as in NumPy."""
    source, target = have.strong, want.strong
    if have.weak and have.kind == "int" and target.kind == "float":
        x = e.cast("sitofp", x, "double")
        return x if target.bits == 64 else e.cast("fptrunc", x, element(target))
    if source == target:
        return x
    if target.kind == "bool":
        return e.fcmp("une", x, e.zero_like(x)) if source.kind == "float" else e.icmp("ne", x, e.zero_like(x))
    if source.kind == "float" and target.kind == "float":
        return e.cast("fptrunc" if target.bits < source.bits else "fpext", x, element(target))
    if source.kind == "float":
        return float_to_integer(e, x, target)
    if target.kind == "float":
        return e.cast("sitofp" if source.kind == "int" else "uitofp", x, element(target))
    if BITS[x.elem] > target.bits:
        return e.cast("trunc", x, element(target))
    if BITS[x.elem] == target.bits:
        return x
    return e.cast("sext" if source.kind == "int" else "zext", x, element(target))


def float_to_integer(e: Emitter, x: Val, target: DType) -> Val:
    """Towards zero; what does not fit is the smallest integer."""
    limit = 2.0 ** (target.bits - 1)
    fits = e.op("and", e.fcmp("olt", x, e.const_like(x, limit)), e.fcmp("oge", x, e.const_like(x, -limit)))
    whole = e.cast("fptosi", e.select(fits, x, e.zero_like(x)), element(target))
    return e.select(fits, whole, e.const_like(whole, -(1 << (target.bits - 1))))

"""Map dtypes to LLVM types, and emit conversions between them as NumPy defines them.

A bool is an `i1` in a register and a byte in memory. The 16-bit floats are kept as their bits, an `i16`, and computed
with as f32 (`halves` converts). A float that does not fit an integer dtype becomes what NumPy's C code gives on x86, on
every machine (see `float_to_integer`).
"""

from __future__ import annotations

from ....ir.dtypes import BF16, F16, F32, DType
from ....ir.errors import Unsupported
from ..elements import halves
from .text import BITS, Emitter, Val

_FLOATS = {"f16": "i16", "bf16": "i16", "f32": "float", "f64": "double"}


def element(dtype: DType) -> str:
    """The LLVM type of a value in a register."""
    strong = dtype.strong
    if strong.kind == "bool":
        return "i1"
    if strong.is_integer:
        return f"i{strong.bits}"
    if strong.name in _FLOATS:
        return _FLOATS[strong.name]
    raise Unsupported(f"dtype {strong} has no register type", hint="complex values are split into their parts first")


def memory_element(dtype: DType) -> str:
    """The LLVM type of a value in memory."""
    return "i8" if dtype.strong.kind == "bool" else element(dtype)


def constant(e: Emitter, dtype: DType, value: bool | int | float) -> Val:
    """A number as a scalar of this dtype."""
    if dtype in (F16, BF16):
        return e.const("i16", halves.bits(float(value), dtype))
    return e.const(element(dtype), value)


def cast(e: Emitter, x: Val, have: DType, want: DType) -> Val:
    """NumPy's `astype`. A Python int becomes a narrow float by way of f64, as in NumPy."""
    source, target = have.strong, want.strong
    if have.weak and have.kind == "int" and target.kind == "float":
        return _from_double(e, e.cast("sitofp", x, "double"), target)
    if source == target:
        return x
    if source in (F16, BF16):
        return cast(e, halves.widen(e, x, source), F32, target)
    if target in (F16, BF16):
        return _to_half(e, x, source, target)
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


def _to_half(e: Emitter, x: Val, source: DType, target: DType) -> Val:
    if x.elem == "double":
        return _from_double(e, x, target)
    return halves.narrow(e, x if source == F32 else cast(e, x, source, F32), target)


def _from_double(e: Emitter, x: Val, target: DType) -> Val:
    if target in (F16, BF16):
        return halves.narrow(e, halves.double_to_float(e, x, target), target)
    return x if target.bits == 64 else e.cast("fptrunc", x, "float")


def float_to_integer(e: Emitter, x: Val, target: DType) -> Val:
    """Convert towards zero. A float that does not fit becomes the smallest i32 or i64. Narrower integers take the low
    bits of that i32, u32 those of the i64. A u64 is the i64 if it fits; otherwise 2**63 is subtracted before and added
    after."""
    if target.kind == "uint" and target.bits == 64:
        limit = e.const_like(x, 2.0**63)
        above = e.fcmp("oge", x, limit)
        low = _signed(e, e.select(above, e.op("fsub", x, limit), x), 64)
        return e.op("xor", low, e.select(above, e.const_like(low, -(1 << 63)), e.zero_like(low)))
    bits = 32 if target.bits < 32 else 64 if target.kind == "uint" else target.bits
    whole = _signed(e, x, bits)
    return whole if bits == target.bits else e.cast("trunc", whole, element(target))


def _signed(e: Emitter, x: Val, bits: int) -> Val:
    limit = 2.0 ** (bits - 1)
    fits = e.op("and", e.fcmp("olt", x, e.const_like(x, limit)), e.fcmp("oge", x, e.const_like(x, -limit)))
    whole = e.cast("fptosi", e.select(fits, x, e.zero_like(x)), f"i{bits}")
    return e.select(fits, whole, e.const_like(whole, -(1 << (bits - 1))))

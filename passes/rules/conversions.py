"""Simplify casts: drop one to the same dtype, and drop the first of two if it loses nothing."""

from __future__ import annotations

from ...ir.dtypes import BF16, DType
from ...ir.graph import Value
from ...ir.ops import CAST, OpDef
from .site import Rule, Site

_SIGNIFICANT_BITS = {16: 11, 32: 24, 64: 53}


def cast(site: Site) -> Value | None:
    value, to = site.operands[0], site.type.dtype
    if value.type.dtype == to:
        return value
    inner = value.node
    if inner is None or inner.op is not CAST:
        return None
    source = inner.operands[0]
    first, middle = source.type.dtype, value.type.dtype
    if first == to and holds_all(middle, first):
        return source
    return site.make(CAST, source, to=to) if _drops(first, middle, to) else None


def _drops(first: DType, middle: DType, to: DType) -> bool:
    if first.weak:
        return False
    if first.is_integer and middle.is_integer and to.is_integer and to.bits <= middle.bits:
        return True  # both wrap
    if to.is_integer and not middle.is_integer:
        # How a float beyond an integer's range converts may depend on the float's own width.
        return first.is_integer and holds_all(middle, first) and holds_all(to, first)
    return holds_all(middle, first)


def holds_all(wide: DType, narrow: DType) -> bool:
    """Whether one dtype holds every value of another."""
    if wide == narrow or narrow.kind == "bool":
        return True
    if narrow.weak or wide.kind == "bool":
        return False
    if narrow.is_integer:
        bits = narrow.bits - (narrow.kind == "int")
        if wide.is_integer:
            return bits <= wide.bits - (wide.kind == "int") and not (narrow.kind == "int" and wide.kind == "uint")
        return bits <= _significant(wide)
    if narrow.kind == "float" and wide.kind in ("float", "complex"):
        return _part(wide) > narrow.bits or (wide.kind == "complex" and _part(wide) == narrow.bits)
    return narrow.kind == "complex" == wide.kind and wide.bits > narrow.bits


def _part(dtype: DType) -> int:
    return dtype.bits // 2 if dtype.kind == "complex" else dtype.bits


def _significant(dtype: DType) -> int:
    return 8 if dtype == BF16 else _SIGNIFICANT_BITS[_part(dtype)]


RULES: dict[OpDef, tuple[Rule, ...]] = {CAST: (cast,)}

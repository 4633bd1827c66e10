"""Simplify logic, bits, comparisons and `where` by identities that are exact for every value.

x & 0 = 0      x | 0 = x      not(not x) = x      not(a == b) = a != b      x != x = isnan(x)      where(c, a, a) = a
"""

from __future__ import annotations

from ...ir.dtypes import BOOL
from ...ir.graph import Value
from ...ir.ops import TABLE, WHERE, OpDef
from .site import Rule, Site, constant_of, is_exactly, made_by

EQ, NE, LT, LE, GT, GE = (TABLE[n] for n in ("eq", "ne", "lt", "le", "gt", "ge"))
NOT, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR = (
    TABLE[n] for n in ("logical_not", "logical_and", "logical_or", "logical_xor")
)
INVERT, BITWISE_AND, BITWISE_OR, BITWISE_XOR = (
    TABLE[n] for n in ("invert", "bitwise_and", "bitwise_or", "bitwise_xor")
)
SHIFTS = (TABLE["left_shift"], TABLE["right_shift"])
ISNAN, ISINF, ISFINITE = TABLE["isnan"], TABLE["isinf"], TABLE["isfinite"]
ANDS, ORS, XORS = (BITWISE_AND, LOGICAL_AND), (BITWISE_OR, LOGICAL_OR), (BITWISE_XOR, LOGICAL_XOR)
OPPOSITE = {EQ: NE, NE: EQ}
OPPOSITE_IN_ORDER = {LT: GE, GE: LT, GT: LE, LE: GT}  # not for floats: a comparison with NaN is false either way


def conjunction(site: Site) -> Value | None:
    x, y = site.operands
    if x is y or _is_ones(site, y):
        return x
    return site.filled(False if site.dtype == BOOL else 0) if is_exactly(y, 0) else None


def disjunction(site: Site) -> Value | None:
    x, y = site.operands
    if x is y or is_exactly(y, 0):
        return x
    return site.filled(constant_of(y) or 0) if _is_ones(site, y) else None


def exclusive(site: Site) -> Value | None:
    x, y = site.operands
    if x is y:
        return site.filled(False if site.dtype == BOOL else 0)
    if is_exactly(y, 0):
        return x
    if _is_ones(site, y):
        return site.make(NOT if site.dtype == BOOL else INVERT, x)
    return None


def negation(site: Site) -> Value | None:
    """Simplifies `not` and `invert`, and `not` of a comparison."""
    inner = site.operands[0].node
    if inner is None:
        return None
    if inner.op is site.op and site.dtype == inner.operands[0].type.dtype:
        return inner.operands[0]
    if site.dtype != BOOL:
        return None
    opposite = OPPOSITE.get(inner.op)
    if opposite is None and all(v.type.dtype.kind in ("bool", "int", "uint") for v in inner.operands):
        opposite = OPPOSITE_IN_ORDER.get(inner.op)
    return site.make(opposite, *inner.operands) if opposite is not None else None


def shift(site: Site) -> Value | None:
    x, y = site.operands
    return x if is_exactly(y, 0) else None


def comparison(site: Site) -> Value | None:
    """Simplifies a comparison of a value with itself, or of a bool with a constant."""
    x, y = site.operands
    ordered = site.dtype.kind in ("bool", "int", "uint")
    if x is y and (ordered or site.op is LT or site.op is GT):
        return site.filled(site.op in (EQ, LE, GE))
    if x is y and site.op is NE and site.dtype.kind == "float":
        return site.make(ISNAN, x)
    if site.dtype != BOOL or site.op not in OPPOSITE or constant_of(y) is None:
        return None
    return x if (constant_of(y) is True) == (site.op is EQ) else site.make(NOT, x)


def classification(site: Site) -> Value | None:
    """Folds `isnan`, `isinf` and `isfinite` of integers."""
    return site.filled(site.op is ISFINITE) if site.dtype.kind in ("bool", "int", "uint") else None


def where(site: Site) -> Value | None:
    condition, yes, no = site.operands
    known = constant_of(condition)
    if known is not None:
        return site.shaped(yes if known else no)
    if yes is no:
        return site.shaped(yes)
    if made_by(condition, NOT):
        assert condition.node is not None
        return site.make(WHERE, condition.node.operands[0], no, yes)
    if constant_of(yes) is True and constant_of(no) is False:
        return site.shaped(condition)
    return None


def _is_ones(site: Site, value: Value) -> bool:
    """Whether all bits of a constant are set."""
    if site.dtype == BOOL:
        return constant_of(value) is True
    return is_exactly(value, -1 if site.dtype.kind == "int" else (1 << site.dtype.bits) - 1)


RULES: dict[OpDef, tuple[Rule, ...]] = {
    **dict.fromkeys(ANDS, (conjunction,)),
    **dict.fromkeys(ORS, (disjunction,)),
    **dict.fromkeys(XORS, (exclusive,)),
    **dict.fromkeys((EQ, NE, LT, LE, GT, GE), (comparison,)),
    **dict.fromkeys((ISNAN, ISINF, ISFINITE), (classification,)),
    **dict.fromkeys(SHIFTS, (shift,)),
    NOT: (negation,),
    INVERT: (negation,),
    WHERE: (where,),
}

"""Simplify scans of one element, and split running sums of complex numbers into sums of the parts."""

from __future__ import annotations

from ...ir.graph import Value
from ...ir.ops import COMPLEX, IMAG, REAL, SCAN, OpDef
from ...ir.types import integer
from .site import Rule, Site

IN_EACH_PART = frozenset(("add", "sub"))


def of_one(site: Site) -> Value | None:
    """Replaces the scan of one element by that element."""
    return site.operands[0] if site.type.shape[integer(site.attrs, "axis")] == 1 else None


def in_parts(site: Site) -> Value | None:
    if site.dtype.kind != "complex" or site.attrs["combine"] not in IN_EACH_PART:
        return None
    parts = (site.make(part, site.operands[0]) for part in (REAL, IMAG))
    return site.make(COMPLEX, *(site.make(SCAN, part, **site.attrs) for part in parts))


RULES: dict[OpDef, tuple[Rule, ...]] = {SCAN: (of_one, in_parts)}

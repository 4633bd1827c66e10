"""Emit the ops of the main table on the numbers of a nest."""

from __future__ import annotations

from ....ir.dtypes import BF16, F16, F32
from ....ir.graph import Node
from ....ir.ops import CAST, COMPLEX, CONSTANT, IMAG, REAL, SIZE, WHERE
from ....ir.types import sizes
from ..code.casts import constant
from ..code.text import Val
from ..elements import halves
from ..elements.numbers import emit_number
from . import numbers
from .function import STATUS, NestFunction, Points
from .leaving import leave_if
from .points import Point

HALVES = (F16, BF16)
PART_OF = {REAL: 0, IMAG: 1}


def number(f: NestFunction, node: Node, points: Points) -> None:
    """Emits an op of the main table at every point; complex numbers are pairs of their parts."""
    for point in points:
        if node.op is COMPLEX:
            re, im = (point.values[v] for v in node.operands)
            lanes = max(re.lanes, im.lanes)
            point.parts[node.result] = (f.e.splat(re, lanes), f.e.splat(im, lanes))
            continue
        point.values[node.result] = _one(f, node, point)


def _one(f: NestFunction, node: Node, point: Point) -> Val:
    e = f.e
    if node.op is CONSTANT:
        value = node.attrs["value"]
        assert isinstance(value, (bool, int, float))
        return constant(e, node.result.type.dtype, value)
    if node.op is SIZE:
        return numbers.number(f, sizes(node.attrs, "size")[0], point)
    if node.op in PART_OF:
        return point.parts[node.operands[0]][PART_OF[node.op]]
    values = [point.values[v] for v in node.operands]
    lanes = max((v.lanes for v in values), default=0)
    values = [e.splat(v, lanes) for v in values]
    e.active, failed = (point.mask if lanes else None), e.fails
    e.fails = False
    found = _halves(f, node, values)
    if e.fails:
        leave_if(f, e.icmp("ne", e.load(STATUS, "i32", 0, 4), e.const("i32", 0)), node)
    e.fails = failed
    return found


def _halves(f: NestFunction, node: Node, values: list[Val]) -> Val:
    """Computes 16-bit floats as f32 and rounds the result."""
    dtypes = [v.type.dtype for v in node.operands]
    if node.op in (CAST, WHERE) or not any(d in HALVES for d in dtypes):
        return emit_number(f.e, node, dtypes, values)
    wide = [halves.widen(f.e, x, d) if d in HALVES else x for x, d in zip(values, dtypes, strict=True)]
    found = emit_number(f.e, node, [F32 if d in HALVES else d for d in dtypes], wide)
    return halves.narrow(f.e, found, node.result.type.dtype) if node.result.type.dtype in HALVES else found

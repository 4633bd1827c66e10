"""Find reductions that need the result of another one and can still share its walk over memory.

They are sums over `u - shift`, where `shift` comes from a reduction of `u` itself:

    exp, exp2     sum(exp(u - shift)), shift = max(u)
    moment1       sum(u - shift), shift = sum(u) / count
    moment2       sum((u - shift)**2), shift = sum(u) / count

Each chunk of the columns uses its own maximum or mean as the shift, and is walked a second time while it is in the
cache. When all chunks are done, sums of powers are moved from their own shift to the common one and added up. Moments
of two neighbours are joined to those of both, pair by pair (Chan, Golub and LeVeque), and moved to the common shift at
the end. A sum from which the shift can be computed is the `total` of that join.
"""

from __future__ import annotations

from collections.abc import Sequence

from .dims import Size
from .dtypes import F32, F64
from .graph import Graph, Node, Value
from .ops import GATHER, RESHAPE, TABLE, Trait
from .records import record
from .stages import known_stages
from .types import ints

SCALED = {TABLE["exp"]: "exp", TABLE["exp2"]: "exp2"}
TOTAL = "total"
SUM, MAX, SUB, MUL, DIV, SQUARE = (TABLE[n] for n in ("sum", "max", "sub", "mul", "div", "square"))


@record
class Composite:
    """A sum over `difference`, which is `u - shift`; `reference` is the reduction of `u` that gives the shift."""

    node: Node
    kind: str
    difference: Value
    shift: Value
    reference: Node

    @property
    def u(self) -> Value:
        return self.reference.operands[0]


def recognise(node: Node) -> Composite | None:
    """Recognise a reduction that can share the walk of the reduction that it needs."""
    if node.op is not SUM or node.result.type.dtype not in (F32, F64) or node.operands[0].node is None:
        return None
    summed, term = node.operands[0], node.operands[0].node
    if term.op in SCALED:
        return _shifted(node, SCALED[term.op], term.operands[0])
    if term.op is SQUARE or (term.op is MUL and term.operands[0] is term.operands[1]):
        return _shifted(node, "moment2", term.operands[0])
    return _shifted(node, "moment1", summed)


def _shifted(node: Node, kind: str, difference: Value) -> Composite | None:
    if difference.node is None or difference.node.op is not SUB:
        return None
    u, shift = difference.node.operands
    source, wanted = _unshaped(shift).node, MAX
    if kind.startswith("moment"):
        wanted = SUM
        if source is None or source.op not in (DIV, MUL) or source.operands[1].type.rank:
            return None
        source = _unshaped(source.operands[0]).node
    if source is None or source.op is not wanted or source.operands[0] is not u:
        return None
    axes, shape = ints(node.attrs, "axes"), u.type.shape
    rows = (
        tuple(s for k, s in enumerate(shape) if k not in axes),
        tuple(1 if k in axes else s for k, s in enumerate(shape)),
    )
    if ints(source.attrs, "axes") != axes or difference.type.shape != shape or shift.type.shape not in rows:
        return None
    return Composite(node, kind, difference, shift, source)


def _unshaped(value: Value) -> Value:
    """The value before axes of size 1 were added or removed."""
    node = value.node
    if node is None or node.op is not RESHAPE:
        return value
    before, after = ([s for s in v.type.shape if s != 1] for v in (node.operands[0], value))
    return node.operands[0] if before == after else value


def composites(body: Graph, space: Sequence[Size], in_lanes: bool = True) -> list[Composite]:
    """Return the reductions that share a walk: all of a stage that writes nothing, with those of the stage before.

    If the lanes of the sums run along the columns (`in_lanes`) and each term is a power, memory is far from being the
    bottleneck. Then only moments share a walk.
    """
    known, found = known_stages(body), list[Composite]()
    reductions = [n for n in body if Trait.REDUCTION in n.op.traits]
    written = {known[v] for v in body.outputs if v.type.shape == tuple(space)}
    before: list[Composite] = []
    for stage in range(1, 1 + max((known[n.operands[0]] for n in reductions), default=0)):
        here = [recognise(n) for n in reductions if known[n.operands[0]] == stage]
        shared = [c for c in here if c is not None and known[c.u] == stage - 1 and _is_cheap(c.u)]
        shared = [c for c in shared if in_lanes or c.kind.startswith("moment")]
        before = shared if here and len(shared) == len(here) and stage not in written and not before else []
        found += before
    return found


def totals(body: Graph, found: Sequence[Composite]) -> list[Node]:
    """Return the sums that belong to moments: those of the same values over the same axes."""
    known = {(c.u, ints(c.node.attrs, "axes")) for c in found if c.kind.startswith("moment")}
    return [n for n in body if n.op is SUM and (n.operands[0], ints(n.attrs, "axes")) in known]


def needs_another(node: Node) -> bool:
    """Whether a reduction is planned to share the walk of one that it needs."""
    return node.attrs.get("composite", TOTAL) != TOTAL


def is_exact(node: Node) -> bool:
    """Whether the order in which a reduction combines elements can't change the result."""
    return node.op.name not in ("sum", "prod") or node.result.type.dtype.kind not in ("float", "complex")


def _is_cheap(value: Value) -> bool:
    """Whether a value is cheap enough to be computed again in every walk."""
    pending, seen = [value], set[Value]()
    while pending:
        node = pending.pop().node
        if node is None or node.result in seen or Trait.REDUCTION in node.op.traits:
            continue
        if Trait.EXPENSIVE in node.op.traits or node.op is GATHER:
            return False
        seen.add(node.result)
        pending += node.operands
    return True

"""Count, for each value of a region, how many reductions must finish one after another before it is known."""

from __future__ import annotations

from .graph import Graph, Value
from .ops import Trait


def known_stages(body: Graph) -> dict[Value, int]:
    """The first stage in which each value is known; a reduction ends the one that its operand is known in."""
    known: dict[Value, int] = dict.fromkeys(body.inputs, 0)
    for node in body:
        after = Trait.REDUCTION in node.op.traits
        stage = max((known[v] for v in node.operands), default=0) + after
        known.update(dict.fromkeys(node.results, stage))
    return known

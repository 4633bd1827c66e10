"""Sort the body of a region into stages: a reduction ends a stage, and operations that need its result come later."""

from __future__ import annotations

from collections.abc import Mapping

from .accesses import operands_at
from .graph import Graph, Node, Value
from .indexing import loop_variables
from .ops import POSITIONS, Trait
from .tuples import NamedTuple
from .types import sizes


def known_stages(body: Graph) -> dict[Value, int]:
    """Return the first stage in which each value is known; a reduction ends the stage in which its operand is known."""
    known: dict[Value, int] = dict.fromkeys(body.inputs, 0)
    for node in body:
        after = Trait.REDUCTION in node.op.traits
        stage = max((known[v] for v in node.operands), default=0) + after
        known.update(dict.fromkeys(node.results, stage))
    return known


class RegionStages(NamedTuple):
    """Sorts a body into stages: the reductions and full-size outputs of each, the outputs of rows, and when each value
    is known.

    A value is known in stage s if the reductions that it needs ended in stages before s. Outputs come with their slot.
    """

    known: Mapping[Value, int]
    stage_count: int
    reductions: list[list[Node]]
    outputs: list[list[tuple[int, Value]]]
    row_outputs: list[tuple[int, Value]]


def region_stages(region: Node) -> RegionStages:
    """The stages of a region."""
    body, space = region.body, tuple(sizes(region.attrs, "space"))
    assert body is not None
    known = known_stages(body)
    nodes = [n for n in body if Trait.REDUCTION in n.op.traits]
    slots = list(enumerate(body.outputs, len(body.inputs)))
    full = [(slot, v) for slot, v in slots if v.type.shape == space]
    needed = [*(known[n.operands[0]] for n in nodes), *(known[v] for _, v in full)]
    count = 1 + max(needed, default=0)
    reductions = [[n for n in nodes if known[n.operands[0]] == s] for s in range(count)]
    outputs = [[(k, v) for k, v in full if known[v] == s] for s in range(count)]
    return RegionStages(known, count, reductions, outputs, [(k, v) for k, v in slots if v.type.shape != space])


def needed_in(region: Node, stages: RegionStages, kept: Mapping[Value, int]) -> dict[Value, set[int]]:
    """The stages in which each value is computed. A value that is kept in memory is computed only in the first one."""
    space = tuple(sizes(region.attrs, "space"))
    home, found = loop_variables(space), dict[Value, set[int]]()
    roots = [(v, s) for s in range(stages.stage_count) for _, v in stages.outputs[s]]
    roots += [(n.operands[0], s) for s in range(stages.stage_count) for n in stages.reductions[s]]
    for root, stage in roots:
        pending, seen = [(root, home)], set()
        while pending:
            value, index = pending.pop()
            node = value.node
            if (value, index) in seen or node is None or Trait.REDUCTION in node.op.traits:
                continue
            if value in kept and kept[value] < stage:
                continue
            seen.add((value, index))
            if index == home:
                found.setdefault(value, set()).add(stage)
            pending += operands_at(node, index, space)
    return found


def only_writes(stages: RegionStages, stage: int) -> bool:
    """Whether a stage comes after all reductions and writes full-size outputs."""
    return stage > 0 and not stages.reductions[stage] and bool(stages.outputs[stage])


def finds_first(reductions: list[Node], outputs: list[tuple[int, Value]]) -> bool:
    """Whether a walk only looks for the first true element, so that it may stop early."""
    wanted = all(n.op in POSITIONS and n.operands[0].type.dtype.kind == "bool" for n in reductions)
    return bool(reductions) and wanted and not outputs

"""Write the functions of a region whose columns are shared between threads, in the order in which they run."""

from __future__ import annotations

from ....ir.composites import needs_another
from ....ir.graph import Node
from ....ir.stages import region_stages
from ..functions import FrameWord, WrittenFunction
from .chunk_context import may_stop
from .chunk_stage import Begin, Join, Spread, Walk
from .line_walk import LineWalk
from .shared_walks import SharedJoin, SharedWalk


def chunk_parts(node: Node, entries: dict[FrameWord, int], name: str) -> list[WrittenFunction]:
    """The functions of a region, in their order."""
    stages, shares = region_stages(node), bool(node.attrs.get("shared_walks"))
    found, stage = list[WrittenFunction](), 0

    def add(function: Begin | Walk | Join | Spread, kind: str) -> None:
        e = function.nest.e
        found.append((function.function(f"{name}_{kind}{stage}"), e.declared, e.fails))

    while stage < stages.stage_count:
        reductions, outputs = stages.reductions[stage], stages.outputs[stage]
        later = stages.reductions[stage + 1] if stage + 1 < stages.stage_count else []
        if shares and any(map(needs_another, later)):
            add(SharedWalk(node, entries, stage, keeps=False), "walk")
            add(SharedJoin(node, entries, stage, keeps=False), "join")
            stage += 2
            continue
        if may_stop(node, reductions, outputs):
            add(Begin(node, entries, stage), "begin")
        if node.attrs.get("spread") and stage == stages.stage_count - 1:
            add(Spread(node, entries, stage), "spread")
        elif "lines" in node.attrs and reductions and not outputs:
            add(LineWalk(node, entries, stage, keeps=not shares), "walk")
        elif reductions or outputs:
            add(Walk(node, entries, stage, keeps=not shares), "walk")
        if reductions:
            add(Join(node, entries, stage, keeps=not shares), "join")
        stage += 1
    return found

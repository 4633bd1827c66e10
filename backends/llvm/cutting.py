"""Emit the functions of a region whose columns are shared between threads, in the order in which they run."""

from __future__ import annotations

from ...ir.graph import Node
from ...ir.ops import Trait
from .chunks import Begin, Chunked, Join, Walk
from .functions import Entry, Part
from .places import may_stop
from .region import Region
from .row_values import is_spread
from .shared_walks import SharedJoin, SharedWalk
from .spread import Spread

Cut = tuple[Part, dict[str, str], bool]


def can_be_cut(region: Region) -> bool:
    """Whether the columns are to be walked in chunks.

    Not where a row leaves what no chunk has memory for, nor where the walk over each row may be over at once.
    """
    stages = region.stages
    if "chunk" not in region.region.attrs or not any(stages.reductions):
        return False
    if not region.rows or not region.across_columns or shares_walks(region.region):
        return True
    ends_early = (may_stop(region, r, o) for r, o in zip(stages.reductions, stages.outputs, strict=True))
    return not any(buffer.is_scratch for buffer, _ in region.elements.kept.values()) and not any(ends_early)


def shares_walks(region: Node) -> bool:
    """Whether reductions of the region may share a walk."""
    assert region.body is not None
    return any("composite" in n.attrs for n in region.body if Trait.REDUCTION in n.op.traits)


def chunk_parts(node: Node, entries: dict[Entry, int], name: str, shares: bool, is_large: bool) -> list[Cut]:
    """The functions, each with its declarations and whether it may fail; `shares` whether reductions share walks."""
    region = Region(node, entries, keeps_rows=False)
    stages, found, stage = region.stages, list[Cut](), 0

    def add(function: Chunked, kind: str) -> None:
        e = function.nest.e
        found.append((function.function(f"{name}_{kind}{stage}"), e.declared, e.fails))

    while stage < stages.count:
        reductions, outputs = stages.reductions[stage], stages.outputs[stage]
        later = stages.reductions[stage + 1] if stage + 1 < stages.count else []
        if shares and any("composite" in n.attrs for n in later):
            add(SharedWalk(node, entries, stage, keeps=False), "walk")
            add(SharedJoin(node, entries, stage, keeps=False), "join")
            stage += 2
            continue
        if may_stop(region, reductions, outputs) and not region.rows:
            add(Begin(node, entries, stage), "begin")
        if is_spread(region, stage):
            add(Spread(node, entries, stage, is_large), "spread")
        elif reductions or outputs:
            add(Walk(node, entries, stage, keeps=not shares), "walk")
        if reductions:
            add(Join(node, entries, stage, keeps=not shares), "join")
        stage += 1
    return found

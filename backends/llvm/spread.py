"""A region and a stage that only writes in, its function out: in the order of memory.

The stages before it reduce over axes outside of the vectors, in which they walk down from line to line. What is left to
do then has no such order: line after line is written, with what the reductions left for it.
"""

from __future__ import annotations

from ...ir.graph import Node, Value
from .chunks import Chunked
from .functions import Entry
from .region import Region
from .text import Val


def is_spread(region: Region, stage: int) -> bool:
    """Whether a stage only writes, and across the way that the reductions walk."""
    stages = region.stages
    if not region.rows or region.across_columns or "chunk" not in region.region.attrs:
        return False
    return stage > 0 and not stages.reductions[stage] and not stages.scans[stage] and bool(stages.outputs[stage])


class Spread(Chunked):
    """The stage while its function is written: all axes are rows."""

    def __init__(self, region: Node, entries: dict[Entry, int], stage: int) -> None:
        super().__init__(region, entries, stage)
        *outer, line = self.rows
        self.rows, self.columns = (*outer, *self.columns, line), ()

    def outputs_of_rows(self) -> list[tuple[int, Value]]:
        return self.stages.outputs[self.stage]

    def row(self, offsets: list[int]) -> list[Val]:
        self.visit([], self.outputs_of_rows(), offsets)
        return []

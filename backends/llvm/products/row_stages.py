"""Emit a function that runs a region's stages on finished rows of the product.

The stages are those of any region, with the same walks and trees. Only the product is read from memory, where the tiles
wrote it, and the rows are some of one matrix.
"""

from __future__ import annotations

from ....ir.graph import Node
from ..loops.region import Region
from ..loops.short_rows import Short
from .called import CalledProduct

BEFORE = -1  # the product is computed before the first stage


class RowStages(CalledProduct):
    """Computes the results of some rows of one matrix; `memory` is where its first row would be."""

    names = ("matrix", "row", "row_end")
    kind: type[Region] = Region

    def write(self) -> None:
        stages = self.kind(_row_region(self.region), self.frame.entries)
        self.nest, self.e, self.frame = stages.nest, stages.nest.e, stages.frame
        self.bind_stack(self.parameter("matrix"), self.node.result)
        stages.elements.kept = {**stages.elements.kept, self.node.result: (self.row_buffer(self.memory), BEFORE)}
        rows = stages.rows[-1]
        stages.rows = (rows,)
        stages.row_loops([rows], {rows: (self.parameter("row"), self.parameter("row_end"))})


class ShortRowStages(RowStages):
    """Computes the results of rows that have only a few elements."""

    kind = Short


def _row_region(region: Node) -> Node:
    """The region for its stages over rows, whose vectors may have another width than the product's."""
    types = tuple(r.type for r in region.results)
    attrs = {**region.attrs, "width": region.attrs["row_width"]}
    return Node(region.op, region.operands, attrs, types, region.span, region.body)

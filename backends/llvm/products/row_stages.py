"""Emit a function that runs a region's stages on finished rows of the product.

They are a loop nest like that of any region (`to-nest`). Only the product is read from memory, where the tiles wrote
it, and the rows are some of one matrix.
"""

from __future__ import annotations

from ....ir.dims import LOOP
from ....ir.graph import Node
from ....ir.nest import ops
from ....ir.nest.scopes import nodes_in
from ....ir.types import axis_groups
from ..code.text import Val
from ..loops.region_nest import RegionNest
from .called import CalledProduct


class RowStages(CalledProduct):
    """Computes the results of some rows of one matrix; `memory` is where its first row would be."""

    names = ("matrix", "row", "row_end")

    def write(self) -> None:
        nest = RegionNest(_row_region(self.region), self.frame.entries)
        self.nest, self.e, self.frame = nest.nest, nest.nest.e, nest.frame
        rows = axis_groups(self.region.attrs, "rows")
        loops = [n for n in nodes_in(nest.code) if n.op is ops.FOR][: len(rows)]
        self.variables = {group[-1]: LOOP + str(loop.attrs["var"]) for group, loop in zip(rows, loops, strict=True)}
        self.bind_stack(self.parameter("matrix"), self.node.result)
        nest.buffers[nest.code.inputs[len(self.region.operands)]] = self.row_buffer(self.memory)
        nest.loop(loops[-1], {loops[-1]: (self.parameter("row"), self.parameter("row_end"))})
        self.e.owners[:] = nest.known_owners()

    def bind(self, axis: int, value: Val) -> None:
        self.nest.variables[self.variables[axis]] = (value, self.nest.scope)


def _row_region(region: Node) -> Node:
    """The region for its stages over rows, whose vectors may have another width than the product's."""
    types = tuple(r.type for r in region.results)
    attrs = {**region.attrs, "width": region.attrs["row_width"]}
    return Node(region.op, region.operands, attrs, types, region.span, region.body, region.code)

"""Emit a stage that only writes, in the order of memory.

The stages before it reduce over axes outside of the vectors, so they walk down from line to line. The last stage has
the results of the reductions and writes line after line instead.
"""

from __future__ import annotations

from ....ir.graph import Node, Value
from ..code.text import Val
from ..functions import FrameWord
from .chunks import Chunked


class Spread(Chunked):
    """The stage while its function is written: all axes are rows."""

    def __init__(self, region: Node, entries: dict[FrameWord, int], stage: int) -> None:
        super().__init__(region, entries, stage)
        self.elements.kept = {**self.elements.kept, **{v: (buffer, 0) for v, buffer in self.of_rows.items()}}
        *outer, line = self.rows
        self.rows, self.columns = (*outer, *self.columns, line), ()

    def outputs_of_rows(self) -> list[tuple[int, Value]]:
        return self.stages.outputs[self.stage]

    def row(self, offsets: list[int]) -> list[Val]:
        self.visit([], self.outputs_of_rows(), offsets)
        return []

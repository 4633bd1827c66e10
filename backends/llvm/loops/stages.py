"""Collect what each stage of a region computes, and assign buffers to values that are kept between walks."""

from __future__ import annotations

from ....ir import dims
from ....ir.dims import Size
from ....ir.forms import RESULT, SCRATCH
from ....ir.graph import Node, Value
from ....ir.ops import SCAN
from ....ir.stages import needed_in, region_stages
from ....ir.types import integer, sizes
from ..code.frame import Frame
from ..code.memory import Buffer
from ..elements.evaluate import Elements


class Stages:
    """Reductions, scans and full-size outputs by stage, outputs of rows, and buffers for what later stages need."""

    def __init__(
        self, region: Node, elements: Elements, frame: Frame, columns: tuple[tuple[int, ...], ...], has_rows: bool
    ) -> None:
        body = region.body
        assert body is not None
        self.region, self.elements, self.frame, self.columns = region, elements, frame, columns
        self.space = tuple(sizes(region.attrs, "space"))
        self.sorted, self.has_rows = region_stages(region), has_rows
        self.known, self.count, self.reductions, self.outputs, self.row_outputs = self.sorted
        elements.kept = self._kept()
        scans = [n for n in body if n.op is SCAN] if columns else []
        first = {value: stage for value, (_, stage) in elements.kept.items()}
        needed = needed_in(region, self.sorted, first) if scans else {}
        self.scans = [[n for n in scans if s in needed.get(n.result, ())] for s in range(self.count)]

    def _kept(self) -> dict[Value, tuple[Buffer, int]]:
        """The values that the plan keeps between stages: each with its buffer and the stage that writes it."""
        assert self.region.body is not None
        places = {n.result: str(n.attrs["keep"]) for n in self.region.body if "keep" in n.attrs}
        places = {v: p for v, p in places.items() if p.startswith(RESULT) or (p == SCRATCH and self.has_rows)}
        needed = needed_in(self.region, self.sorted, {}) if places else {}
        return {v: (self._buffer(v, places[v]), min(stages)) for v, stages in needed.items() if v in places}

    def _buffer(self, value: Value, place: str) -> Buffer:
        """The buffer that keeps a value: the row of a result, or scratch memory of one row."""
        if place == SCRATCH:
            return self._scratch(value)
        return self.elements.operand(len(self.region.operands) + int(place.removeprefix(RESULT)))

    def _scratch(self, value: Value) -> Buffer:
        """Scratch memory for the columns of one row, or of one step of vectors of rows, in the order of the walk."""
        itemsize = value.type.dtype.size
        strides: list[Size] = [0] * len(self.space)
        size: Size = itemsize
        vector = self.elements.vector
        if vector not in self.columns[-1]:
            strides[vector] = itemsize
            size = itemsize * self.elements.memory.width * integer(self.region.attrs, "unroll")
        for group in reversed(self.columns):
            strides[group[-1]] = size
            size = size * dims.product(self.space[a] for a in group)
        return Buffer(self.frame.scratch(size), tuple(strides), value.type.dtype, 1, is_scratch=True)

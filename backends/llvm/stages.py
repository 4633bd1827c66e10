"""Split a scheduled region into stages: what each walk over the columns computes and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import dims
from ...ir.accesses import operands_at
from ...ir.dims import Size
from ...ir.graph import Node, Value
from ...ir.indexing import loop_variables
from ...ir.ops import MATMUL, POSITIONS, SCAN, Trait
from ...ir.stages import known_stages
from ...ir.types import integer, ints, sizes
from .elements import Elements
from .frame import Frame
from .memory import Buffer


class Stages:
    """Reductions, scans and full-size outputs by stage, outputs of rows, and buffers for what later stages need again.

    A value is known in stage s if the reductions that it needs ended in stages before s.
    """

    def __init__(
        self, region: Node, elements: Elements, frame: Frame, columns: tuple[tuple[int, ...], ...], has_rows: bool
    ) -> None:
        body = region.body
        assert body is not None
        self.region, self.elements, self.frame = region, elements, frame
        self.columns, self.has_rows = columns, has_rows
        self.space, self.reduced = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
        self.known = known_stages(body)
        nodes = [n for n in body if Trait.REDUCTION in n.op.traits]
        full = [(len(body.inputs) + k, v) for k, v in enumerate(body.outputs) if v.type.shape == self.space]
        self.row_outputs = [(len(body.inputs) + k, v) for k, v in enumerate(body.outputs) if v.type.shape != self.space]
        needed = [*(self.known[n.operands[0]] for n in nodes), *(self.known[v] for _, v in full)]
        self.count = 1 + max(needed, default=0)
        self.reductions = [[n for n in nodes if self.known[n.operands[0]] == s] for s in range(self.count)]
        self.outputs = [[(k, v) for k, v in full if self.known[v] == s] for s in range(self.count)]
        elements.kept = self._kept()
        scans = [n for n in body if n.op is SCAN] if columns else []
        needed_in = self._needed_in(elements.kept) if scans else {}
        self.scans = [[n for n in scans if s in needed_in.get(n.result, ())] for s in range(self.count)]

    def _kept(self) -> dict[Value, tuple[Buffer, int]]:
        """Expensive values that several stages need: each gets a buffer, written in the first of these stages."""
        kept: dict[Value, tuple[Buffer, int]] = {}
        if not self.columns:
            return kept
        free = [(slot, v) for outputs in self.outputs for slot, v in outputs]
        for value, stages in self._needed_in({}).items():
            node = value.node
            if len(stages) < 2 or node is None or Trait.EXPENSIVE not in node.op.traits:
                continue
            if value.type.shape != self.space or node.op is MATMUL:  # whose rows are in memory before the first stage
                continue
            first, last = min(stages), max(stages)
            if any(n.op in POSITIONS for n in self.reductions[last]):
                last += 1  # what was found is searched for when the walk is over
            found = next((o for o in free if o[1].type.dtype == value.type.dtype and self._is_unwritten(o, last)), None)
            if found is not None:
                free.remove(found)
                kept[value] = (self.elements.operand(found[0]), first)
            elif self.has_rows:
                kept[value] = (self._scratch(value), first)
        return kept

    def _is_unwritten(self, output: tuple[int, Value], stage: int) -> bool:
        """Whether an output's row is free up to the last use in a stage; outputs are stored in order, before sums."""
        made = self.known[output[1]]
        return made > stage or (made == stage and output == self.outputs[stage][-1] and not self.reductions[stage])

    def _needed_in(self, kept: Mapping[Value, tuple[Buffer, int]]) -> dict[Value, set[int]]:
        """The stages in which each value is computed at the index of the iteration; what is kept only in its first."""
        home = loop_variables(self.space)
        found: dict[Value, set[int]] = {}
        roots = [(v, s) for s in range(self.count) for _, v in self.outputs[s]]
        roots += [(n.operands[0], s) for s in range(self.count) for n in self.reductions[s]]
        for root, stage in roots:
            pending, seen = [(root, home)], set()
            while pending:
                value, index = pending.pop()
                node = value.node
                if (value, index) in seen or node is None or Trait.REDUCTION in node.op.traits:
                    continue
                if value in kept and kept[value][1] < stage:
                    continue
                seen.add((value, index))
                if index == home:
                    found.setdefault(value, set()).add(stage)
                pending += operands_at(node, index, self.space)
        return found

    def _scratch(self, value: Value) -> Buffer:
        """Memory for the columns of one row, or of one step of vectors of rows, as dense as the walk over it."""
        itemsize = value.type.dtype.size
        strides: list[Size] = [0] * len(self.space)
        size: Size = itemsize
        vector = self.elements.memory.vector
        if vector not in self.columns[-1]:
            strides[vector] = itemsize
            size = itemsize * self.elements.memory.width * integer(self.region.attrs, "unroll")
        for group in reversed(self.columns):
            strides[group[-1]] = size
            size = size * dims.product(self.space[a] for a in group)
        return Buffer(self.frame.scratch(size), tuple(strides), value.type.dtype, 1, is_scratch=True)

"""Write what one row of a region computes: a walk along the columns for each stage with reductions, or a loop.

    walk along the columns: the reductions of the first stage, and what the stage writes
    walk or loop along the columns: the next stage
    store the results of the row

A value that several stages need is stored by the first one and loaded by the others, if the plan keeps it.
"""

from __future__ import annotations

from ...ir import dims
from ...ir.accesses import region_position
from ...ir.dims import LOOP, Size
from ...ir.forms import RESULT, walks_along_vectors
from ...ir.graph import Node, Value
from ...ir.indexing import loop_variables
from ...ir.layouts import byte_strides
from ...ir.nest import ops
from ...ir.ops import POSITIONS, SCAN
from ...ir.stages import finds_first, needed_in, region_stages
from ...ir.types import Attr, Sizes, TensorType, axis_groups, integer, ints, sizes
from .numbers import KeptPlace, Numbers
from .writing import NestBlock


class NestStages:
    """The stages of a row while they are written; `names` are the variables of the columns."""

    def __init__(self, region: Node, numbers: Numbers, names: list[str]) -> None:
        assert region.body is not None
        self.region, self.numbers, self.names, self.block = region, numbers, names, numbers.block
        self.plan, self.space = region.attrs, tuple(sizes(region.attrs, "space"))
        groups = axis_groups(self.plan, "columns")
        self.extents = [dims.product(self.space[axis] for axis in group) for group in groups]
        self.is_across = walks_along_vectors(region)
        walked = [axis for group in groups for axis in group]
        self.in_order = walked == sorted(walked)
        self.has_scans = any(n.op is SCAN for n in region.body)
        self.stages = region_stages(region)
        self.kept = self._kept()

    def write(self) -> None:
        for stage in range(self.stages.stage_count):
            if self.stages.reductions[stage] or self.stages.outputs[stage]:
                self.stage(stage)
        for slot, value in self.stages.row_outputs:
            self.numbers.store(slot, value)

    def _kept(self) -> dict[Value, tuple[int, KeptPlace]]:
        """The values that the plan keeps: for each the stage that computes it, and where it is."""
        places = {n.result: str(n.attrs["keep"]) for n in self.region.body or () if "keep" in n.attrs}
        needed = needed_in(self.region, self.stages, {}) if places else {}
        found = dict[Value, tuple[int, KeptPlace]]()
        for value, stages in needed.items():
            if value not in places:
                continue
            if places[value].startswith(RESULT):
                place: KeptPlace = len(self.region.operands) + int(places[value].removeprefix(RESULT))
            else:
                memory = TensorType(value.type.dtype, tuple(self.extents), "memref")
                place = self.block.add(ops.ALLOC, (), {"place": "worker"}, (memory,)).result
            found[value] = min(stages), place
        return found

    def stage(self, stage: int) -> None:
        """Writes one stage."""
        reductions, outputs = self.stages.reductions[stage], self.stages.outputs[stage]
        blocks = [self.block]
        for names in ([*self.names],) if reductions else ([name] for name in self.names):
            blocks.append(NestBlock(blocks[-1], [LOOP + name for name in names]))
        loaded = {v: place for v, (first, place) in self.kept.items() if first < stage}
        inner, home = self.numbers.inside(blocks[-1], loaded), loop_variables(self.space)
        for value, (first, place) in self.kept.items():
            if first == stage:
                number = inner.get(value, home)
                inner.block.store(number, *inner.kept_at(place, home))
        streamed = bool(self.plan.get("stream")) and self.is_across and stage == self.stages.stage_count - 1
        for slot, value in outputs:
            inner.store(slot, value, streamed and not reductions and slot == outputs[0][0])
        elements = [inner.get(n.operands[0], home) for n in reductions]
        if not self.is_across and "prefetch" in self.plan:
            self.fetch(inner)
        if self.has_scans:
            inner.block.add(ops.ASK)
        if reductions:
            self.walk(reductions, outputs, inner.block, elements)
            return
        for k in reversed(range(len(self.names))):
            attrs: dict[str, Attr] = {"var": self.names[k], "range": Sizes((0, self.extents[k])), "kind": "serial"}
            if self.is_across and k == len(self.names) - 1:
                attrs |= {"kind": "vector", "width": self.plan["width"], "times": self.plan["unroll"]}
            blocks[k].add(ops.FOR, (), attrs, (), blocks[k + 1].body())

    def walk(
        self, reductions: list[Node], outputs: list[tuple[int, Value]], inner: NestBlock, elements: list[Value]
    ) -> None:
        """Adds the walk of a stage, and the numbers that its lanes give."""
        plan, lanes = self.plan, [integer(n.attrs, "lanes") for n in reductions]
        in_lanes = self.is_across or max(lanes) > 1
        attrs: dict[str, Attr] = {
            "vars": tuple(self.names),
            "range": Sizes(size for extent in self.extents for size in (0, extent)),
            "kind": "vector" if in_lanes else "serial",
            "combine": tuple(n.op.name for n in reductions),
            "steps": tuple(integer(n.attrs, "steps") for n in reductions),
        }
        if self.is_across:
            attrs["width"] = plan["width"]
            if all(n.op in POSITIONS for n in reductions):
                attrs["times"] = lanes[0] // integer(plan, "width")
        if self._may_begin_at_line(reductions) and not outputs:
            attrs["line"] = plan["peel"]
        if "taps" in plan:
            taps = ints(plan, "taps")
            attrs["taps"] = (0,) * (len(self.names) - len(taps)) + taps
        if any("chained" in n.attrs for n in reductions):
            attrs["chained"] = tuple(int("chained" in n.attrs) for n in reductions)
        if plan.get("early_exit") and finds_first(reductions, outputs):
            attrs["until"] = True
        if any(n.op in POSITIONS for n in reductions) and not self.in_order:
            attrs["position"] = Sizes((self._position(),))
        types = []
        for node, count in zip(reductions, lanes, strict=True):
            dtype = node.result.type.dtype
            is_vector = in_lanes and node.op not in POSITIONS
            types.append(TensorType(dtype, (count,), "vector") if is_vector else TensorType(dtype))
        made = self.block.add(ops.WALK, (), attrs, types, inner.body((), elements), reductions[0].span)
        for node, found in zip(reductions, made.results, strict=True):
            if found.type.kind == "vector":
                total, combine = (TensorType(found.type.dtype),), {"combine": node.op.name}
                found = self.block.add(ops.ACROSS, (found,), combine, total, None, node.span).result
            self.numbers.given[node.result] = found

    def _may_begin_at_line(self, reductions: list[Node]) -> bool:
        """Whether whole vectors of a walk begin at a cache line, by the plan."""
        in_any_order = not self.plan["rows"] or any(integer(n.attrs, "steps") for n in reductions)
        is_single = self.is_across and len(self.names) == 1
        return "peel" in self.plan and is_single and in_any_order and not self.has_scans

    def _position(self) -> Size:
        """The position of an element in C order, which may differ from the order of the walk."""
        return dims.substitute(region_position(self.region), self.numbers.variables)

    def fetch(self, inner: Numbers) -> None:
        """Prefetch what the walk will read a few lines later."""
        ahead, level = ints(self.plan, "prefetch")
        variable, vector = LOOP + self.names[-1], integer(self.plan, "vector")
        for slot, value in enumerate(self.region.operands):
            size = value.type.dtype.size
            strides = byte_strides(self.numbers.layouts[slot], value.type.shape, size, "b")
            if value.type.shape != self.space or strides[vector] != size:
                continue
            buffer, at = inner.place(slot, loop_variables(self.space))
            later = tuple(dims.substitute(i, {variable: dims.symbol(variable) + ahead}) for i in at)
            inner.block.add(ops.FETCH, (buffer,), {"at": Sizes(later), "level": level})

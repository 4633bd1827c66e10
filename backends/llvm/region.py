"""A scheduled region in, the text of one native function out.

Rows are looped over first. For each row (or, where vectors lie along a row axis, for each vector of rows) the stages
run one after another: a stage walks the columns, feeds the reductions whose operands are known by then, and stores
the results that are. What a row leaves is stored last. A region without reductions and scans is all rows and has no
columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir import dims
from ...ir.accesses import home_index
from ...ir.dims import Size
from ...ir.graph import Node, Value
from ...ir.indexing import Index, loop_name
from ...ir.types import integer, ints, sizes
from .columns import Columns
from .elements import Elements
from .frame import Entry, Frame
from .reduce import combine, identity
from .scopes import Nest
from .stages import Stages
from .text import Val

PARAMETERS = ("begin0", "end0", "begin1", "end1", "worker")


@dataclass(frozen=True)
class Function:
    """A native function's text, the intrinsics that it needs, its frame, and what it can be cut into.

    `extents` are those of its two outer loops, `grains` what a part of each is best a multiple of, and `unit` is the
    estimated time of one iteration of both in picoseconds. A function that may fail says so when it has run, and may
    have written results by then.
    """

    text: str
    declared: dict[str, str]
    entries: tuple[Entry, ...]
    extents: tuple[Size, Size]
    grains: tuple[int, int]
    unit: Size
    may_fail: bool


def emit_region(region: Node, name: str) -> Function:
    """`i32 name(ptr frame, i64 begin0, i64 end0, i64 begin1, i64 end1, i64 worker)`: a part of the two outer loops.

    `worker` says which scratch memory is the caller's own.
    """
    return Region(region).function(name)


class Region:
    """One region while its function is written."""

    def __init__(self, region: Node) -> None:
        self.region = region
        self.space, self.reduced = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
        self.rows, self.columns = _groups(region.attrs["rows"]), _groups(region.attrs["columns"])
        self.vector, self.width = integer(region.attrs, "vector"), integer(region.attrs, "width")
        self.unroll = integer(region.attrs, "unroll")
        self.across_columns = bool(self.columns) and self.columns[-1][-1] == self.vector
        self.nest = Nest()
        self.frame = Frame(self.nest)
        self.elements = Elements(region, self.nest, self.frame, self.width, self.vector, self.across_columns)
        self.stages = Stages(region, self.elements, self.frame, self.columns, bool(self.rows))

    def function(self, name: str) -> Function:
        e = self.nest.e
        parts = [(Val(f"%begin{k}", "i64", 0), Val(f"%end{k}", "i64", 0)) for k in range(2)]
        self.row_loops(list(self.rows), parts)
        head = [f"define i32 @{name}(ptr noalias %frame, {', '.join(f'i64 %{p}' for p in PARAMETERS)}) {{"]
        status = Val("0", "i32", 0)
        if e.fails:
            self.nest.entry.lines[1:1] = ["  %status = alloca i32, align 4", "  store i32 0, ptr %status, align 4"]
            status = e.load(Val("%status", "ptr", 0), "i32", 0, 4)
        lines = [*head, *self.nest.entry.lines, f"  ret i32 {status.text}", "}"]
        extents = [self.extent(group) for group in self.rows[:2]] + [1] * (2 - len(self.rows))
        grains = [self.grain(k) for k in range(2)]
        inside = dims.product(self.extent(g) for g in (*self.rows[2:], *self.columns))
        unit = inside * integer(self.region.attrs, "cost")
        return Function(
            "\n".join(lines), e.declared, tuple(self.frame.entries), (extents[0], extents[1]), (grains[0], grains[1]),
            unit, e.fails,
        )  # fmt: skip

    # -- rows

    def extent(self, group: tuple[int, ...]) -> Size:
        return dims.product(self.space[axis] for axis in group)

    def grain(self, level: int) -> int:
        """How many iterations of a row loop are one step of it."""
        has_vectors = level == len(self.rows) - 1 and not self.across_columns
        return self.width * self.unroll if has_vectors else 1

    def row_loops(self, groups: list[tuple[int, ...]], parts: list[tuple[Val, Val]]) -> None:
        """Loops over the row groups from the outside in; vectors of rows have a main loop and a masked one.

        `parts` are the ranges of the outer ones; the others run in full.
        """
        if not groups:
            self.row([0])
            return
        group, *inner = groups
        variable = loop_name(group[-1])
        start, stop = parts[0] if parts else (self.frame.size(0), self.frame.size(self.extent(group)))
        if inner or self.across_columns:

            def step(at: Val, carried: list[Val]) -> list[Val]:
                self.row_loops(inner, parts[1:])
                return []

            self.nest.loop(variable, start, stop, 1, [], step)
            return
        end = self.whole_steps(start, stop, self.width * self.unroll)
        offsets = [self.width * k for k in range(self.unroll)]
        self.nest.loop(variable, start, end, self.width * self.unroll, [], lambda at, _: self.row(offsets))
        self.nest.loop(variable, end, stop, self.width, [], lambda at, _: self.masked(at, stop, lambda: self.row([0])))

    def whole_steps(self, start: Val, stop: Val, step: int) -> Val:
        """Where the last whole step from `start` ends."""
        e = self.nest.e
        length = e.call("smax", e.op("sub", stop, start), e.const("i64", 0))
        return e.op("add", start, e.op("and", length, e.const("i64", -step)))

    def lane_mask(self, at: Val, stop: Val, offset: int = 0) -> Val:
        """The lanes from `at + offset` on that lie before `stop`."""
        e = self.nest.e
        left = e.splat(e.op("sub", stop, at), self.width)
        return e.icmp("slt", e.lanes_of("i64", [offset + k for k in range(self.width)]), left)

    def masked(self, at: Val, stop: Val, body: Callable[[], list[Val]]) -> list[Val]:
        self.elements.memory.mask = self.lane_mask(at, stop)
        result = body()
        self.elements.memory.mask = None
        return result

    def row(self, offsets: list[int]) -> list[Val]:
        """All stages of one row, or of the vectors of rows at these offsets."""
        for stage in range(self.stages.count):
            self.elements.stage = stage
            self.run_stage(stage, offsets)
        self.elements.stage = self.stages.count
        for slot, value in self.stages.row_outputs:
            for offset in offsets:
                index = self.home(value, offset)
                self.elements.write(slot, value, index)
        return []

    def home(self, value: Value, offset: int) -> Index:
        """The index of this iteration's element of a value, moved along the vector axis."""
        index = home_index(self.space, self.reduced, value.type.shape)
        assert index is not None
        joined = {loop_name(axis): 0 for group in (*self.rows, *self.columns) for axis in group[:-1]}
        moved = {loop_name(self.vector): dims.symbol(loop_name(self.vector)) + offset} if offset else {}
        return tuple(dims.substitute(i, {**joined, **moved}) for i in index)

    # -- columns

    def run_stage(self, stage: int, offsets: list[int]) -> None:
        reductions, outputs = self.stages.reductions[stage], self.stages.outputs[stage]
        if not reductions and not outputs:
            return
        if not self.columns:
            found = self.visit(reductions, outputs, offsets)
            for node in reductions:
                for offset, x in zip(offsets, found[node], strict=True):
                    total = combine(self.nest.e, node, self.nest.e.const_like(x, identity(node)), x)
                    self.elements.put(node.result, self.home(node.result, offset), total)
            return
        if self.across_columns:
            lanes = integer(reductions[0].attrs, "lanes") if reductions else self.width * self.unroll
            offsets = [self.width * k for k in range(lanes // self.width)]
        walk = Columns(self, reductions, self.stages.scans[stage], outputs, offsets)
        for node, totals in walk.run():
            if self.across_columns:
                self.elements.put(node.result, self.home(node.result, 0), totals[0])
                continue
            for offset, total in zip(offsets, totals, strict=True):
                self.elements.put(node.result, self.home(node.result, offset), total)

    def visit(
        self, reductions: list[Node], outputs: list[tuple[int, Value]], offsets: list[int]
    ) -> dict[Node, list[Val]]:
        """Stores outputs at this iteration, and gives the operands of reductions."""
        get = self.elements.get
        for slot, value in outputs:
            for offset in offsets:
                index = self.home(value, offset)
                self.elements.write(slot, value, index)
        return {n: [get(n.operands[0], self.home(n.operands[0], k)) for k in offsets] for n in reductions}


def _groups(text: object) -> tuple[tuple[int, ...], ...]:
    """`("0+1", "2")` as axes."""
    assert isinstance(text, tuple)
    return tuple(tuple(int(a) for a in str(g).split("+")) for g in text)

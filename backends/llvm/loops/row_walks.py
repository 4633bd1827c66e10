"""Emit the walks of a region's nest: reductions along the columns of rows, and loops with running values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir.accesses import address, coefficient_of
from ....ir.dims import LOOP
from ....ir.forms import FEW
from ....ir.graph import Node
from ....ir.nest import ops
from ....ir.nest.lanes import lanes_of, position_of, reductions_of
from ....ir.nest.scopes import variables
from ....ir.types import integer
from ..code.casts import element
from ..code.text import BITS, Val
from ..code.vectors import load, memory_form, store
from ..reductions.accumulators import combine, identity
from .columns import ColumnLoops, Columns, Reduction, StageCode, positions_in

if TYPE_CHECKING:
    from .region_nest import Point, RegionNest

Totals = tuple[Reduction, list[Val]]


def walk(f: RegionNest, node: Node) -> None:
    """Emits a walk, or a loop with running values."""
    if "taps" in node.attrs:
        from .windows import Windows  # imported here because few kernels need it

        Windows(f, node).run()
        return
    around, width = f.points, integer(node.attrs, "width") if "width" in node.attrs else 0
    is_across = node.attrs["kind"] == "vector" and not f.memory.vector and width > 0
    if is_across:
        f.memory.vector, f.memory.width = LOOP + variables(node)[-1].name, width
        lanes = lanes_of(node) or width * (integer(node.attrs, "times") if "times" in node.attrs else 1)
        _walk_rows(f, node, [width * k for k in range(max(1, lanes // width))], f.together, True)
        f.memory.vector, f.memory.width = "", 0
    else:
        for row in range(f.together):  # rows whose vectors run across them have nothing to share
            f.points = [p for p in around if p[1] == row]
            _walk_rows(f, node, [offset for offset, _ in f.points], 1, False)
    f.points = around


def _walk_rows(f: RegionNest, node: Node, offsets: list[int], rows: int, is_across: bool) -> None:
    """Emits the walk of one row, or of rows that are walked together along vectors."""
    assert node.body is not None
    reductions, scans = reductions_of(node), [n for n in node.body if n.op is ops.SCAN]
    for proxy, result in zip(reductions, node.results, strict=True):
        f.totals.pop(result, None)
        f.proxies[proxy.result] = result
    first = f.points[0][1] if not is_across else 0
    short = ShortRows(f, node, reductions) if not is_across and lanes_of(node) else None
    summed = [] if short is None else list(short.places)
    code = _stage_code(f, node, offsets, range(first, first + rows), short)
    others = [n for n in reductions if n not in summed]
    walk = Columns(_column_loops(f, node, offsets, code, rows, is_across), others, scans)
    memo = f.nest.scope.memo
    found = walk.totals()
    for (sums, totals), row in zip(found, walk.downs, strict=True):
        result = node.results[reductions.index(sums.node)]
        if is_across and result.type.kind == "vector":
            f.totals.setdefault(result, []).append((sums, totals))
            continue
        for offset, total in zip(offsets, walk.results(sums, totals), strict=False):
            memo[result, (0 if is_across else offset, first + row)] = total
    for sum in summed:
        assert short is not None
        for offset, total in zip(offsets, short.halved(sum), strict=True):
            memo[node.results[reductions.index(sum)], (offset, first)] = total


def _column_loops(
    f: RegionNest, node: Node, offsets: list[int], code: StageCode, rows: int, is_across: bool
) -> ColumnLoops:
    columns = tuple((LOOP + v.name, v.first, v.end) for v in variables(node))
    line = next((n for n in node.body or () if _is_line(f, n, node.attrs.get("line"))), None)
    return ColumnLoops(
        f.nest, f.frame, f.memory, columns, offsets, code, is_across, f.frame.size,
        rows=rows,
        in_order="position" not in node.attrs,
        is_whole=not f.shared,
        may_stop=bool(node.attrs.get("until")) and is_across,
        is_narrow=not is_across and len(columns) == 1 and "chunk" in f.region.attrs,
        line=None if line is None else (lambda: f.place(line)),
    )  # fmt: skip


def _is_line(f: RegionNest, node: Node, slot: object) -> bool:
    """Whether a node loads whole vectors of an operand."""
    if slot is None or node.op is not ops.LOAD or f.slot(node.operands[0]) != slot:
        return False
    buffer, at = f.place(node)
    return coefficient_of(address(at, buffer.strides), f.memory.vector) == buffer.dtype.size


def _stage_code(f: RegionNest, node: Node, step: list[int], rows: range, short: ShortRows | None) -> StageCode:
    """What one step of a walk computes."""
    assert node.body is not None
    body, around = node.body, f.points

    def visit(reductions: list[Node], offsets: list[int], writes: bool) -> dict[Node, list[Val]]:
        f.points = [(offset, row) for offset in offsets for row in rows]
        for node in [n for n in body if n.op is ops.STORE and writes]:
            for point in f.points:
                f.store(node, point)
        found = {n: [f.get(n.operands[0], p) for p in f.points] for n in reductions}
        if short is not None:
            short.put(f.points)
        f.points = around
        return found

    def scanned(scan: Node, offsets: list[int], down: int) -> list[Val]:
        return [f.get(scan.operands[0], (offset, rows[down])) for offset in offsets]

    def set_scanned(scan: Node, offsets: list[int], down: int, made: list[Val]) -> None:
        f.nest.scope.memo.update({(scan.result, (k, rows[down])): x for k, x in zip(offsets, made, strict=True)})

    def fetch() -> None:
        for node in [n for n in body if n.op is ops.FETCH]:
            for offset in step:
                f.fetch(node, (offset, rows[0]))

    return StageCode(visit, positions_in(f.memory, position_of(node)), fetch, scanned, set_scanned)


def across(f: RegionNest, node: Node, point: Point) -> None:
    """Combine the lanes of a walk. Those of short rows are already combined."""
    memo, lanes = f.nest.scope.memo, node.operands[0]
    if lanes not in f.totals:
        memo[node.result, point] = f.operations.known((lanes, point))[0]
        return
    sums, totals = f.totals[lanes][point[1]]
    with f.nest.e.writing(node.result):
        (memo[node.result, point],) = sums.results(totals)


class ShortRows:
    """The sums of a walk over a few columns, with one lane for each row.

    Along the columns vectors would be nearly empty. A float sum keeps its tree: a row has no more elements than the
    tree has lanes, so each element is one lane's total. The elements are stored as one vector of rows per column, and
    then halved like lanes.
    """

    def __init__(self, f: RegionNest, walk: Node, reductions: list[Node]) -> None:
        self.f, self.nest, self.width, self.count = f, f.nest, f.memory.width, len(f.points)
        (variable,) = variables(walk)
        self.variable, self.columns = LOOP + variable.name, f.frame.size(variable.end)
        summed = [n for n in reductions if integer(n.attrs, "steps")]
        self.places = {n: f.frame.reserve(FEW * self.count * self.bytes(n)) for n in summed}

    def bytes(self, node: Node) -> int:
        """The bytes of one column's elements in one vector."""
        return self.width * BITS[memory_form(element(node.result.type.dtype))] // 8

    def put(self, points: Sequence[tuple[int, ...]]) -> None:
        """Stores the elements of this column."""
        e, (column, _) = self.nest.e, self.nest.variables[self.variable]
        for node in self.places:
            for k, point in enumerate(points):
                x = e.splat(self.f.get(node.operands[0], point), self.width)
                store(e, combine(e, node, e.const_like(x, identity(node)), x), self.place(node, column, k))

    def place(self, node: Node, column: Val, k: int) -> Val:
        e, bytes = self.nest.e, self.bytes(node)
        found = e.offset(self.places[node], e.op("mul", column, e.const("i64", self.count * bytes)))
        return e.offset(found, e.const("i64", k * bytes)) if k else found

    def halved(self, node: Node) -> list[Val]:
        """Combines the upper half of the columns with the lower half until one is left; missing columns are neutral."""
        e, one = self.nest.e, self.nest.e.const("i64", 1)
        elem, vectors = element(node.result.type.dtype), range(self.count)

        def level(values: list[Val]) -> list[Val]:
            (half,) = values

            def pair(at: Val, carried: list[Val]) -> list[Val]:
                for k in vectors:
                    upper = self.place(node, e.op("add", at, half), k)
                    low, high = (load(e, elem, self.width, p) for p in (self.place(node, at, k), upper))
                    store(e, combine(e, node, low, high), self.place(node, at, k))
                return []

            above = e.op("sub", self.columns, half)
            self.nest.loop(None, e.const("i64", 0), e.call("smin", half, above), 1, [], pair)
            return [e.op("lshr", half, one)]

        nothing = e.const(elem, identity(node), self.width)
        self.nest.while_loop([e.const("i64", FEW // 2)], lambda v: e.icmp("sgt", v[0], e.const("i64", 0)), level)
        places = [e.offset(self.places[node], e.const("i64", k * self.bytes(node))) for k in vectors if k]
        found = [load(e, elem, self.width, place) for place in (self.places[node], *places)]
        some = e.splat(e.icmp("sgt", self.columns, e.const("i64", 0)), self.width)
        return [e.select(some, x, nothing) for x in found]

"""Emit a walk over windows: totals stay in registers, and ranges of a few numbers are unrolled.

A step of the loops around computes several vectors of several rows. Unrolled ranges are walked tap by tap; the others
are loops around that. Elements that neighbouring rows share are loaded once: the taps of all rows are ordered by the
elements that they read, which keeps the order within each row.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ....ir.accesses import coefficient_of
from ....ir.dims import LOOP
from ....ir.graph import Node, Value
from ....ir.nest import ops
from ....ir.nest.lanes import reductions_of
from ....ir.nest.scopes import LoopVariable, variables
from ....ir.tuples import NamedTuple
from ....ir.types import integer, ints, sizes
from ..code.casts import element
from ..code.text import Val
from ..reductions.accumulators import combine, identity

if TYPE_CHECKING:
    from .region_nest import Point, RegionNest

Tap = tuple[int, ...]


class Partial(NamedTuple):
    """A float sum in straight-line code: finished blocks with their levels, and the current block."""

    finished: tuple[tuple[int, Val], ...]
    block: tuple[int, ...] | None
    total: Val


class Windows:
    """Such a walk while it is written. Totals are listed by reduction, then by row, then by vector."""

    def __init__(self, f: RegionNest, walk: Node) -> None:
        assert walk.body is not None
        self.f, self.e, self.walk, self.body = f, f.nest.e, walk, walk.body
        taps = list(zip(variables(walk), ints(walk.attrs, "taps"), strict=True))
        self.loops = [v for v, count in taps if not count]
        self.straight = {LOOP + v.name: count for v, count in taps if count}
        places = sorted(f.points, key=lambda point: (point[1], point[0]))
        self.totals = [(node, point) for node in reductions_of(walk) for point in places]

    def run(self) -> None:
        found = self.over(self.loops, [self.start(node) for node, _ in self.totals])
        count = len(self.f.points)
        for k, ((node, point), total) in enumerate(zip(self.totals, found, strict=True)):
            result = self.walk.results[k // count]
            self.f.proxies[node.result] = result
            self.f.nest.scope.memo[result, point] = total

    def start(self, node: Node) -> Val:
        return self.e.const(element(node.result.type.dtype), identity(node), self.f.memory.width)

    def over(self, loops: list[LoopVariable], totals: list[Val]) -> list[Val]:
        """Emits loops over the ranges that are not unrolled, and the taps inside."""
        if not loops:
            return self.taps(totals)
        (variable, *inner), size = loops, self.f.frame.size
        return self.f.nest.loop(
            LOOP + variable.name, size(0), size(variable.end), 1, totals, lambda at, values: self.over(inner, values)
        )[1]

    def taps(self, totals: list[Val]) -> list[Val]:
        f, around = self.f, self.f.points
        parts = [Partial((), None, total) for total in totals]
        f.unrolled = tuple(self.straight)
        for tap, row in self.order():
            for k, (node, point) in enumerate(self.totals):
                if point[1] == row:
                    f.points = [(*point, *tap)]
                    parts[k] = self.add(node, parts[k], f.points[0], tap)
        f.unrolled, f.points = (), around
        return [self.joined(node, part) for (node, _), part in zip(self.totals, parts, strict=True)]

    def order(self) -> list[tuple[Tap, int]]:
        """Orders the taps of all rows of a step so that those that read the same elements are adjacent."""
        taps = itertools.product(*(range(n) for n in self.straight.values()))
        moves = self.moves()

        def key(found: tuple[Tap, int]) -> tuple[int, ...]:
            tap, row = found
            return (*(at + moves.get(name, 0) * row for name, at in zip(self.straight, tap, strict=True)), row)

        return sorted(itertools.product(taps, range(self.f.together)), key=key)

    def moves(self) -> dict[str, int]:
        """Return by how many taps the next row of a step is shifted, if it reads the same elements."""
        found: dict[str, int] = {}
        for load in self.body if self.f.rows is not None else ():
            for place in sizes(load.attrs, "at") if load.op is ops.LOAD else ():
                down = coefficient_of(place, self.f.rows[0]) if self.f.rows is not None else 0
                for name in self.straight:
                    along = coefficient_of(place, name)
                    if isinstance(down, int) and isinstance(along, int) and along and down % along == 0:
                        found.setdefault(name, down // along)
        return found

    # -- totals

    def add(self, node: Node, part: Partial, point: Point, tap: Tap) -> Partial:
        """Adds the element of a tap to a total."""
        (term,) = node.operands
        if "chained" in node.attrs:
            assert term.node is not None
            a, b = (self.in_lanes(v, point) for v in term.node.operands)
            with self.e.writing(node.result):
                return part._replace(total=self.e.fma(a, b, part.total))
        found, steps = self.in_lanes(term, point), integer(node.attrs, "steps")
        block = (*tap[:-1], tap[-1] // steps) if steps else None
        if part.block is not None and part.block != block:
            part = Partial(self.pushed(node, part), None, self.start(node))
        return part._replace(block=block, total=combine(self.e, node, part.total, found))

    def in_lanes(self, value: Value, point: Point) -> Val:
        self.f.get(value, point)
        return self.f.memory.splat(*self.f.operations.known((value, point)), self.f.memory.width)

    def pushed(self, node: Node, part: Partial) -> tuple[tuple[int, Val], ...]:
        """Joins a finished block with those before it, like the carries of a binary counter."""
        finished, level, total = list(part.finished), 0, part.total
        while finished and finished[-1][0] == level:
            total = combine(self.e, node, finished.pop()[1], total)
            level += 1
        return (*finished, (level, total))

    def joined(self, node: Node, part: Partial) -> Val:
        """Joins the last block with all before it, from the newest to the oldest."""
        total = part.total
        for _, older in reversed(part.finished):
            total = combine(self.e, node, older, total)
        return total

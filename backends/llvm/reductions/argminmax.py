"""Emit `argmin` and `argmax` by vectors along the columns, in one walk in C order.

A few steps compute only their extreme, in vectors. Then one comparison with the best so far, and a branch that is
rarely taken, remember where those steps began. At the end, the remembered steps are searched for the first element that
equals the best. `Columns` runs this like other reductions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir.dtypes import I64, DType
from ....ir.graph import Node
from ..code.text import BITS, Val
from ..code.vectors import masked
from ..loops.vector_loops import lane_mask
from .ranking import RankComparison, across

if TYPE_CHECKING:
    from ..loops.columns import ColumnLoops

WATCHED = 4  # steps between two comparisons with the best


class Watched:
    """Finds a minimum's or maximum's position with vectors along the columns, in C order.

    A few steps together find their extreme and are compared with the best so far. Loops carry the best element of every
    lane and where its steps began. The steps also carry the extreme of each slot, and whether NaN was seen.
    """

    steps = 0

    def __init__(self, node: Node, loops: ColumnLoops, slots: int, watched: int) -> None:
        self.node, self.loops, self.e, self.slots, self.lanes = node, loops, loops.nest.e, slots, loops.width
        self.watched = watched * slots * loops.width  # elements between two comparisons with the best
        self.ranking = RankComparison(self.e, node)
        self.missing = self.e.const(self.ranking.elem, self.ranking.last, self.lanes)
        self.kinds: tuple[DType, ...] = (self.ranking.dtype, I64)
        self.held = len(self.start())
        self.opened = len(self.open(self.start()))

    def start(self) -> list[Val]:
        return [self.missing, self.e.const("i64", 0)]

    def open(self, totals: list[Val]) -> list[Val]:
        """The initial values of the next steps."""
        flags = [self.e.const(f"i{BITS[self.ranking.elem]}", 0, self.lanes)] * ((self.slots + 1) // 2)
        return [*totals, *[self.missing] * self.slots, *(flags if self.ranking.is_float else [])]

    def add(self, totals: list[Val], elements: list[Val], mask: Val | None = None) -> list[Val]:
        e, count = self.e, len(elements)
        elements = [masked(e, self.ranking.element(x, self.lanes), mask, self.missing) for x in elements]
        extremes, flags = totals[2 : 2 + self.slots], totals[2 + self.slots :]
        extremes[:count] = [self.ranking.best(x, total) for x, total in zip(elements, extremes, strict=False)]
        # A comparison tells whether one of two is NaN.
        pairs = [(elements[2 * k], elements[min(2 * k + 1, count - 1)]) for k in range((count + 1) // 2)]
        for k, (flag, (a, b)) in enumerate(zip(flags, pairs, strict=False)):
            flags[k] = e.select(e.fcmp("uno", a, b), e.const_like(flag, -1), flag)
        return [*totals[:2], *extremes, *flags]

    def close(self, totals: list[Val], begin: Val) -> list[Val]:
        """Ends the steps from position `begin` on: remembers them if they hold a better element."""
        e, ranking = self.e, self.ranking
        best, since, extremes, flags = totals[0], totals[1], totals[2 : 2 + self.slots], totals[2 + self.slots :]
        while len(extremes) > 1:
            extremes = [ranking.best(a, b) for a, b in zip(extremes[::2], extremes[1::2], strict=True)]
        while len(flags) > 1:
            flags = [e.op("or", a, b) for a, b in zip(flags[::2], flags[1::2], strict=True)]
        better = ranking.beats(extremes[0], best)
        is_nan = e.icmp("ne", flags[0], e.zero_like(flags[0])) if flags else None

        def record() -> list[Val]:
            (extreme,) = across(e, (extremes[0],), lambda low, high: (ranking.best(low[0], high[0]),))
            if is_nan is None:
                return [e.splat(extreme, self.lanes), begin]
            found = e.select(e.any(is_nan), e.const(ranking.elem, float("nan")), extreme)
            final = e.fcmp("uno", *[e.extract(best, 0)] * 2)  # the first NaN stays
            return [e.select(final, best, e.splat(found, self.lanes)), e.select(final, since, begin)]

        condition = e.any(better if is_nan is None else e.op("or", better, is_nan))
        return e.rare_all(condition, [best, since], record)

    def is_final(self, totals: list[Val]) -> Val:
        """Tell whether nothing can be better."""
        assert self.ranking.first is not None
        return self.e.icmp("eq", self.e.extract(totals[0], 0), self.e.const(self.ranking.elem, self.ranking.first))

    # -- chunks

    def left(self, totals: list[Val]) -> list[list[Val]]:
        """The partial result of a chunk: the best element, and where its steps began."""
        return [[self.e.extract(totals[0], 0)], [totals[1]]]

    def unjoined(self) -> list[Val]:
        return self.start()

    def join(self, older: list[Val], newer: list[list[Val]]) -> list[Val]:
        """Joins a chunk's partial result with the chunks before it."""
        (value,), (since,) = newer
        better = self.ranking.better(value, self.e.extract(older[0], 0))
        return list(self.ranking.chosen(better, (self.e.splat(value, self.lanes), since), (older[0], older[1])))

    # -- the search

    def results(self, totals: list[Val]) -> list[Val]:
        """Finds the position of the first best element, in the steps where it was seen."""
        e, nest, loops, (best, since) = self.e, self.loops.nest, self.loops, totals
        at, outer = loops.column_at(since)
        inner, _, extent = loops.columns[-1]
        stop = e.op("add", at, e.const("i64", self.watched))
        stop = e.call("smin", stop, loops.number(extent))
        zero = e.const("i64", 0)

        def missing(values: list[Val]) -> Val:
            return e.op("and", e.icmp("slt", values[1], zero), e.icmp("slt", values[0], stop))

        def look(values: list[Val]) -> list[Val]:
            variables = {**outer, inner: values[0]}
            nest.variables |= {name: (place, nest.scope) for name, place in variables.items()}
            mask = loops.memory.mask = lane_mask(e, loops.width, values[0], stop)
            x = self.ranking.element(loops.code.visit([self.node], [0], False)[self.node][0], self.lanes)
            loops.memory.mask = None
            hit = e.op("and", mask, self.ranking.same(x, best))
            bits = e.emit(f"bitcast {hit.typed} to i{self.lanes}", f"i{self.lanes}", 0)
            bits = bits if self.lanes == 64 else e.cast("zext", bits, "i64")
            lane = e.call("cttz", bits, Val("true", "i1", 0), suffix=".i64")
            found = e.op("add", e.op("sub", values[0], at), lane)
            found = e.select(e.icmp("ne", bits, zero), found, e.const("i64", -1))
            return [e.op("add", values[0], e.const("i64", self.lanes)), found]

        _, found = nest.while_loop([at, e.const("i64", -1)], missing, look)
        for name in (*outer, inner):
            del nest.variables[name]
        return [e.op("add", since, found)]

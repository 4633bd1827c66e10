"""Emit `argmin` and `argmax` lane by lane, for vectors along the rows or a walk that is not in C order.

Each lane has a best element and its position. Among equal elements the smaller position wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ir.dtypes import I64, DType
from ....ir.graph import Node
from ..code.text import BITS, Val
from ..code.vectors import masked
from .ranking import Pair, RankComparison, across

if TYPE_CHECKING:
    from ..loops.columns import ColumnLoops

NOWHERE = (1 << 63) - 1


class Lanes:
    """A best element and its position in each lane. Loops carry both, slot by slot.

    With `is_ordered` a lane sees its elements in C order, so it keeps the first of equal ones without comparing
    positions. Positions are counted from `base`, if that makes them fit narrow integers.
    """

    steps = 0

    def __init__(self, node: Node, loops: ColumnLoops, base: Val | None) -> None:
        self.node, self.loops, self.e, self.offsets = node, loops, loops.nest.e, loops.offsets
        self.slots, self.lanes, self.base = len(loops.offsets), loops.width, base
        self.ranking = RankComparison(self.e, node)
        self.is_ordered = loops.in_order and not loops.is_across
        self.narrow = base is not None and BITS[self.ranking.elem] < 64
        self.kinds: tuple[DType, ...] = (self.ranking.dtype, I64)
        self.nowhere = 0 if self.is_ordered else NOWHERE
        self.held = self.opened = 2 * self.slots

    def start(self) -> list[Val]:
        return self._start("i32" if self.narrow else "i64", self.lanes, self.slots)

    def unjoined(self) -> list[Val]:
        return self._start("i64", 0, 1) if self.loops.is_across else self._start("i64", self.lanes, self.slots)

    def _start(self, elem: str, lanes: int, slots: int) -> list[Val]:
        last = self.e.const(self.ranking.elem, self.ranking.last, lanes)
        return _flat([(last, self.e.const(elem, self.nowhere, lanes))] * slots)

    def open(self, totals: list[Val]) -> list[Val]:
        return totals

    def close(self, totals: list[Val], begin: Val) -> list[Val]:
        return totals

    def add(self, totals: list[Val], elements: list[Val], mask: Val | None = None) -> list[Val]:
        e, count, older = self.e, len(elements), _pairs(totals)
        positions = [masked(e, x, mask, e.const_like(x, NOWHERE)) for x in self._positions(self.offsets[:count])]
        elements = [self.ranking.element(x, self.lanes) for x in elements]
        elements = [masked(e, x, mask, e.const_like(x, self.ranking.last)) for x in elements]
        newer = zip(elements, positions, strict=True)
        older[:count] = [self._joined(a, b) for a, b in zip(older, newer, strict=False)]
        return _flat(older)

    def _positions(self, offsets: list[int]) -> list[Val]:
        found = []
        for position in self.loops.code.positions(offsets):
            if self.narrow:
                assert self.base is not None
                position = self.e.cast("trunc", self.e.op("sub", position, self.base), "i32")
            found.append(self.e.splat(position, self.lanes))
        return found

    def _joined(self, older: Pair, newer: Pair) -> Pair:
        if not self.is_ordered:
            return self.ranking.earlier(older, newer)
        return self.ranking.chosen(self.ranking.better(newer[0], older[0]), newer, older)

    # -- chunks and results

    def left(self, totals: list[Val]) -> list[list[Val]]:
        """The partial result of a chunk: the best element and its position, for each row or for all lanes together."""
        pairs = self._results(totals)
        return [[value for value, _ in pairs], [place for _, place in pairs]]

    def join(self, older: list[Val], newer: list[list[Val]]) -> list[Val]:
        """Joins a chunk's partial result with the chunks before it."""
        left = zip(*newer, strict=True)
        return _flat([self._joined(a, (value, place)) for a, (value, place) in zip(_pairs(older), left, strict=True)])

    def results(self, totals: list[Val]) -> list[Val]:
        return [place for _, place in self._results(totals)]

    def _results(self, totals: list[Val]) -> list[Pair]:
        pairs = [(value, self._wide(place)) for value, place in _pairs(totals)]
        if not self.loops.is_across:
            return pairs
        while len(pairs) > 1:
            pairs = [self.ranking.earlier(a, b) for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
        value, place = across(self.e, pairs[0], lambda a, b: self.ranking.earlier((a[0], a[1]), (b[0], b[1])))
        return [(value, place)]

    def _wide(self, place: Val) -> Val:
        if place.elem == "i64":
            return place
        assert self.base is not None
        return self.e.op("add", self.e.cast("sext", place, "i64"), self.e.splat(self.base, place.lanes))


def _pairs(totals: list[Val]) -> list[Pair]:
    return list(zip(totals[::2], totals[1::2], strict=True))


def _flat(pairs: list[Pair]) -> list[Val]:
    return [v for pair in pairs for v in pair]

"""Emit a region whose rows are short, with one lane for each row.

Along a few columns vectors would be nearly empty. A float sum keeps its tree: a row has no more elements than the tree
has lanes, so each element is one lane's total. The elements are stored as one vector of rows per column, and then
halved like lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir.dims import LOOP
from ....ir.forms import FEW
from ....ir.graph import Node
from ....ir.nest.scopes import variables
from ....ir.types import integer
from ..code.casts import element
from ..code.text import BITS, Val
from ..code.vectors import load, memory_form, store
from ..reductions.accumulators import combine, identity

if TYPE_CHECKING:
    from .region_nest import RegionNest


class ShortRows:
    """The sums of a walk over a few columns: their elements are stored as they come, and halved at the end."""

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

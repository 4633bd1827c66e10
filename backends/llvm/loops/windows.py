"""Emit a region whose reduced axes are windows: vectors along a kept axis, totals in registers.

A step of the row loops computes several vectors of several rows. Unrolled windows are walked tap by tap; the others are
loops around that. Elements that neighbouring rows share are loaded once: the taps of all rows are ordered by the
elements that they read, which keeps the order within each row.
"""

from __future__ import annotations

import itertools

from ....ir import dims
from ....ir.accesses import coefficient, region_elements
from ....ir.dims import Size
from ....ir.graph import Node, Value
from ....ir.indexing import Index, loop_name, operand_elements, operand_index
from ....ir.ops import Trait
from ....ir.tuples import NamedTuple
from ....ir.types import integer, ints
from ....ir.windows import product_in_sum
from ..code.casts import element
from ..code.text import Val
from ..elements.evaluate import Element
from ..functions import FrameWord
from ..reductions.accumulators import combine, identity
from .region import Region

Tap = tuple[int, ...]


class Partial(NamedTuple):
    """A float sum in straight-line code: finished blocks with their levels, and the current block."""

    finished: tuple[tuple[int, Val], ...]
    block: tuple[int, ...] | None
    total: Val


class Windows(Region):
    """Such a region while its function is written."""

    def __init__(self, region: Node, entries: dict[FrameWord, int]) -> None:
        super().__init__(region, entries)
        axes, taps = ints(region.attrs, "windows"), ints(region.attrs, "taps")
        self.straight = {axis: n for axis, n in zip(axes, taps, strict=True) if n}
        self.fixed: dict[str, Size] = {}  # the position in the windows that code is emitted for
        self.terms = {n: self.terms_of(n) for stage in self.stages.reductions for n in stage}

    def terms_of(self, node: Node) -> list[Element]:
        """Return what a reduction reads in each iteration: its operand, or the two factors of a sum's products.

        Views are resolved here once; otherwise each of the many taps would do it.
        """
        value = node.operands[0]
        found = [(value, self.home(value, 0))]
        product = product_in_sum(node) if "chained" in node.attrs else None
        while product is not None and found[0][0] is not product[0].result:
            found = [self.seen_through(*found[0])]
        if product is not None:
            found = operand_elements(product[0], found[0][1])
        for k, (value, index) in enumerate(found):
            while value.node is not None and Trait.VIEW in value.node.op.traits:
                value, index = self.seen_through(value, index)
            found[k] = (value, index)
        return found

    def seen_through(self, value: Value, index: Index) -> Element:
        """The element that a view's element refers to."""
        assert value.node is not None
        (inner,) = value.node.operands
        return inner, operand_index(value.node, inner, index)

    def run_stage(self, stage: int, offsets: list[int]) -> None:
        reductions = self.stages.reductions[stage]
        places = list(itertools.product(range(self.at_once), offsets))
        start = [self.start(node) for node in reductions for _ in places]
        totals = self.walk([g for g in self.columns if g[-1] not in self.straight], reductions, places, start)
        for k, node in enumerate(reductions):
            for n, (down, offset) in enumerate(places):
                self.down = down
                self.elements.put(node.result, self.home(node.result, offset), totals[k * len(places) + n])
        self.down = 0

    def start(self, node: Node) -> Val:
        return self.nest.e.const(element(node.result.type.dtype), identity(node), self.width)

    def walk(
        self, loops: list[tuple[int, ...]], reductions: list[Node], places: list[tuple[int, int]], totals: list[Val]
    ) -> list[Val]:
        """Emits loops over the windows that are not unrolled, and the taps inside."""
        if not loops:
            return self.taps(reductions, places, totals)
        (group, *inner), size = loops, self.frame.size
        return self.nest.loop(
            loop_name(group[-1]), size(0), size(self.extent(group)), 1, totals,
            lambda at, values: self.walk(inner, reductions, places, values),
        )[1]  # fmt: skip

    def taps(self, reductions: list[Node], places: list[tuple[int, int]], totals: list[Val]) -> list[Val]:
        parts = [Partial((), None, total) for total in totals]
        for tap, down in self.order():
            self.fixed = {loop_name(axis): at for axis, at in zip(self.straight, tap, strict=True)}
            self.down = down
            for k, node in enumerate(reductions):
                for n, (row, offset) in enumerate(places):
                    if row == down:
                        parts[k * len(places) + n] = self.add(node, parts[k * len(places) + n], offset, tap)
        self.fixed, self.down = {}, 0
        return [self.joined(node, part) for node, part in self.of_nodes(reductions, parts)]

    def of_nodes(self, reductions: list[Node], parts: list[Partial]) -> list[tuple[Node, Partial]]:
        each = len(parts) // len(reductions)
        return [(reductions[k // each], part) for k, part in enumerate(parts)]

    def order(self) -> list[tuple[Tap, int]]:
        """Orders the taps of all rows of a step so that those that read the same elements are adjacent."""
        taps = itertools.product(*(range(n) for n in self.straight.values()))
        moves = self.moves()

        def key(found: tuple[Tap, int]) -> tuple[int, ...]:
            tap, down = found
            return (*(at + moves.get(axis, 0) * down for axis, at in zip(self.straight, tap, strict=True)), down)

        return sorted(itertools.product(taps, range(self.at_once)), key=key)

    def moves(self) -> dict[int, int]:
        """Return by how many taps the next row of a step is shifted, if it reads the same elements."""
        found: dict[int, int] = {}
        if self.at_once == 1:
            return found
        for value, index in region_elements(self.region):
            for place in index if value in self.elements.slots else ():
                down = coefficient(place, self.jammed)
                for axis in self.straight:
                    along = coefficient(place, axis)
                    if isinstance(down, int) and isinstance(along, int) and along and down % along == 0:
                        found.setdefault(axis, down // along)
        return found

    # -- totals

    def add(self, node: Node, part: Partial, offset: int, tap: Tap) -> Partial:
        """Adds the element of a tap to a total."""
        e, moved = self.nest.e, {**self.fixed, **self.shifted(offset)}
        terms = [self.in_lanes(v, tuple(dims.substitute(i, moved) for i in index)) for v, index in self.terms[node]]
        if "chained" in node.attrs:
            return part._replace(total=e.fma(terms[0], terms[1], part.total))
        (found,) = terms
        if not integer(node.attrs, "steps"):
            return part._replace(total=combine(e, node, part.total, found))
        block = (*tap[:-1], tap[-1] // integer(node.attrs, "steps"))
        if part.block is not None and part.block != block:
            part = Partial(self.pushed(node, part), None, self.start(node))
        return part._replace(block=block, total=combine(e, node, part.total, found))

    def in_lanes(self, value: Value, index: Index) -> Val:
        self.elements.get(value, index)
        return self.elements.memory.splat(*self.elements.known((value, index)), self.width)

    def pushed(self, node: Node, part: Partial) -> tuple[tuple[int, Val], ...]:
        """Joins a finished block with those before it, like the carries of a binary counter."""
        finished, level, total = list(part.finished), 0, part.total
        while finished and finished[-1][0] == level:
            total = combine(self.nest.e, node, finished.pop()[1], total)
            level += 1
        return (*finished, (level, total))

    def joined(self, node: Node, part: Partial) -> Val:
        """Joins the last block with all before it, from the newest to the oldest."""
        total = part.total
        for _, older in reversed(part.finished):
            total = combine(self.nest.e, node, older, total)
        return total

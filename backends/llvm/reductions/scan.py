"""Emit the scans of a walk along the columns, one element after another, so that the bits are fixed.

If vectors run along the rows, a vector holds the running values of as many rows. If they run along the columns,
a vector's lanes are combined one by one, and operations before and after the scan still use vectors.
"""

from __future__ import annotations

from ....ir.dtypes import BF16, F16
from ....ir.graph import Node
from ....ir.nest.ops import combiner
from ..code.casts import constant, element
from ..code.frame import Frame
from ..code.scopes import Nest
from ..code.text import BITS, Val
from ..code.vectors import load, memory_form, store
from ..elements.combine import combined, neutral

# Ops of one instruction, whose code may be repeated for every lane.
SHORT = frozenset(("add", "sub", "mul", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor"))
MAX_LANES = 16  # lanes beyond which a loop is shorter than code for each lane


class Running:
    """The running value of one scan: one for each slot of rows, or one along the columns."""

    def __init__(self, node: Node, nest: Nest, frame: Frame, slots: int, lanes: int, across: bool) -> None:
        self.node, self.nest, self.frame, self.across, self.width = node, nest, frame, across, lanes
        self.op, self.dtype = combiner(str(node.attrs["combine"])), node.result.type.dtype
        self.neutral = neutral(self.op, self.dtype)
        self.slots, self.lanes = (1, 0) if across else (slots, lanes)

    def start(self) -> list[Val]:
        e = self.nest.e
        return [e.splat(constant(e, self.dtype, 0 if self.neutral is None else self.neutral), self.lanes)] * self.slots

    def step(self, running: list[Val], elements: list[Val], at: Val, mask: Val | None) -> tuple[list[Val], list[Val]]:
        """Scans the elements from column `at` on; returns them and the next running values."""
        e = self.nest.e
        elements = [e.splat(x, self.width) for x in elements]
        first = e.icmp("eq", at, e.const("i64", 0)) if self.neutral is None else None
        if not self.across:
            made = [self._combine(r, x, first) for r, x in zip(running, elements, strict=True)]
            return made, made
        made, value = [], running[0]
        for k, x in enumerate(elements):
            if mask is not None:
                x = e.select(mask, x, e.splat(constant(e, self.dtype, 1), self.width))
            value, vector = self._along(value, x, None if k else first)
            made.append(vector)
        return made, [value]

    def _combine(self, running: Val, x: Val, first: Val | None) -> Val:
        """Return the next running value; the first element stays as it is."""
        e = self.nest.e
        if first is None:
            return combined(e, self.op, self.dtype, running, x)
        one = e.splat(constant(e, self.dtype, 1), x.lanes)  # no op on numbers refuses it
        first = e.splat(first, x.lanes)
        return e.select(first, x, combined(e, self.op, self.dtype, running, e.select(first, one, x)))

    def _along(self, running: Val, x: Val, first: Val | None) -> tuple[Val, Val]:
        """Scans along a vector: returns the last running value, and all of them."""
        is_short = self.op.name in SHORT and self.dtype not in (F16, BF16)
        if not is_short or x.lanes > MAX_LANES:
            return self._looped(running, x, first)
        e, vector = self.nest.e, Val("poison", x.elem, x.lanes)
        for lane in range(x.lanes):
            running = self._combine(running, e.extract(x, lane), first if lane == 0 else None)
            vector = e.insert(vector, running, lane)
        return running, vector

    def _looped(self, running: Val, x: Val, first: Val | None) -> tuple[Val, Val]:
        """Scans along a vector through memory, in a loop over the lanes."""
        e, elem = self.nest.e, element(self.dtype)
        size = BITS[memory_form(elem)] // 8
        base, zero = self._room(size), e.const("i64", 0)
        store(e, x, base)

        def inside(values: list[Val]) -> Val:
            return e.icmp("slt", values[0], e.const("i64", self.width))

        def lane(values: list[Val]) -> list[Val]:
            k, before = values
            place = e.offset(base, e.op("mul", k, e.const("i64", size)))
            start = None if first is None else e.op("and", first, e.icmp("eq", k, zero))
            after = self._combine(before, load(e, elem, 0, place), start)
            store(e, after, place)
            return [e.op("add", k, e.const("i64", 1)), after]

        _, last = e.repeat([zero, running], inside, lane)
        return last, load(e, elem, self.width, base)

    def _room(self, size: int) -> Val:
        """Memory for one vector of elements of a size."""
        memo, key = self.nest.entry.memo, ("lanes of a scan", size)
        if key not in memo:
            memo[key] = self.frame.reserve(size * self.width)
        return memo[key]

"""Emit the join of the moments of chunks, in the order of the tree, as `backends/tree.py` defines it.

The moments of some elements are their sum, their mean, the sum of differences from it, and that of the squared
differences. Those of two neighbours are moved to the mean of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....ir.dtypes import DType
from ..code.casts import element
from ..code.frame import Frame
from ..code.scopes import Nest
from ..code.text import BITS, Val
from ..code.vectors import load, store
from .accumulators import LEVELS, carried, joined

KINDS = 4


class Moments:
    """The moments of some vectors of rows, or of one row, and a stack for earlier parts, which have `length` elements.

    Values that are carried have one kind of moment after the other.
    """

    def __init__(
        self, nest: Nest, frame: Frame, dtype: DType, slots: int, lanes: int, length: int, levels: int = LEVELS
    ) -> None:
        self.nest, self.slots, self.lanes, self.length = nest, slots, lanes, length
        self.elem = element(dtype)
        self.row = max(1, lanes) * BITS[self.elem] // 8
        self.stack = frame.reserve(self.row * KINDS * slots * levels)

    def start(self) -> list[Val]:
        return [self.nest.e.const(self.elem, 0.0, self.lanes)] * (KINDS * self.slots)

    def push(self, parts: list[Val], count: Val) -> None:
        """Joins a part with the `count` before it."""
        level, *found = carried(self.nest.e, count, parts, lambda k, newer: self._both(k, newer, self._length(k)))
        for slot, part in enumerate(found):
            store(self.nest.e, part, self._place(level, slot))

    def finish(self, parts: list[Val], count: Val, last: Val) -> list[Val]:
        """Joins the last part, of `last` elements, with all before it, from the newest to the oldest."""
        e = self.nest.e

        def join(level: Val, values: list[Val]) -> list[Val]:
            length, *newer = values
            return [e.op("add", length, self._length(level)), *self._both(level, newer, length)]

        return joined(e, count, [last, *parts], join)[1:]

    def moved(self, moments: Sequence[Val], count: Val, shift: Val) -> tuple[Val, Val]:
        """The sum of differences from another shift, and that of their squares. If it is infinite it stays so."""
        e, (_, own, plain, squares) = self.nest.e, moments
        apart = e.op("fsub", own, shift)
        far = e.op("fmul", e.splat(e.cast("sitofp", count, self.elem), self.lanes), apart)
        is_here = e.fcmp("oeq", own, shift)  # both may be infinite
        more = e.op("fmul", apart, e.op("fadd", e.op("fadd", plain, plain), far))
        is_vast = e.fcmp("oeq", squares, e.const(self.elem, math.inf, self.lanes))
        stays = e.op("or", is_here, is_vast)
        return e.select(is_here, plain, e.op("fadd", plain, far)), e.select(stays, squares, e.op("fadd", squares, more))

    def _both(self, level: Val, newer: Sequence[Val], count: Val) -> list[Val]:
        """Join the parts that wait at a level with newer ones of this many elements."""
        e, older_count = self.nest.e, self._length(level)
        older = [load(e, self.elem, self.lanes, self._place(level, k)) for k in range(KINDS * self.slots)]
        number = e.splat(e.cast("sitofp", e.op("add", older_count, count), self.elem), self.lanes)
        found = list[list[Val]]()
        for k in range(self.slots):
            one, two = older[k :: self.slots], newer[k :: self.slots]
            total = e.op("fadd", one[0], two[0])
            mean = e.op("fdiv", total, number)
            moved = zip(self.moved(one, older_count, mean), self.moved(two, count, mean), strict=True)
            found.append([total, mean, *(e.op("fadd", x, y) for x, y in moved)])
        return in_kinds(found)

    def _length(self, level: Val) -> Val:
        return self.nest.e.op("shl", self.nest.e.const("i64", self.length), level)

    def _place(self, level: Val, slot: int) -> Val:
        e = self.nest.e
        offset = e.op("mul", level, e.const("i64", self.row * KINDS * self.slots))
        return e.offset(e.offset(self.stack, offset), e.const("i64", self.row * slot))


def in_kinds(moments: Sequence[Sequence[Val]]) -> list[Val]:
    """The moments of some vectors as loops carry them."""
    return [x for same in zip(*moments, strict=True) for x in same]

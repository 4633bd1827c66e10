"""Emit `min` and `max` of floats by vectors along the columns, in few instructions.

The CPU's minimum or maximum of two vectors drops NaN, and which of two zeros it returns depends on their order. So NaN
is recorded separately, with one comparison for two vectors, and the signs of all elements are collected. If the largest
element is a zero, no element is above it, and a clear sign bit belongs to a 0.0. `close` corrects the result, once for
many steps. `Columns` runs this like other reductions.
"""

from __future__ import annotations

from functools import reduce

from ....ir.dtypes import F32, F64, DType
from ....ir.graph import Node
from ....ir.ops import TABLE
from ..code.casts import element
from ..code.frame import Frame
from ..code.scopes import Nest
from ..code.text import BITS, Emitter, Val
from ..code.vectors import masked
from ..elements.combine import combined, neutral
from ..math.bits import as_float, as_integer, sign_bit
from .ranking import across_lanes


def has_extreme(node: Node) -> bool:
    """Whether this code can emit a reduction."""
    return node.op.name in ("min", "max") and node.result.type.dtype in (F32, F64)


def extreme(e: Emitter, name: str, a: Val, b: Val) -> Val:
    """Combine vectors by `min` or `max` in three instructions of x86; a NaN has any content.

    Its `min` and `max` return the second operand if one is NaN or both are zeros. So in both orders they give the same
    number, or both operands, whose bits are joined: NaN keeps its exponent, and a zero gets the sign that counts.
    """
    test = "olt" if name == "min" else "ogt"
    one = as_integer(e, e.select(e.fcmp(test, a, b), a, b))
    other = as_integer(e, e.select(e.fcmp(test, b, a), b, a))
    either = e.op("or", one, other)
    if name == "max":
        unsigned = e.const_like(one, (1 << (BITS[a.elem] - 1)) - 1)
        either = e.op("or", e.op("and", one, other), e.op("and", either, unsigned))
    return as_float(e, either)


class Extremes:
    """Loops carry the extreme in every lane; inside the steps, that of each slot, the signs, and where NaN was seen."""

    steps = 0

    def __init__(self, node: Node, nest: Nest, frame: Frame, slots: int, lanes: int) -> None:
        self.node, self.nest, self.frame, self.e, self.slots, self.lanes = node, nest, frame, nest.e, slots, lanes
        self.dtype: DType = node.result.type.dtype
        self.elem, self.largest = element(self.dtype), node.op.name == "max"
        self.op = TABLE["maximum" if self.largest else "minimum"]
        last = neutral(self.op, self.dtype)
        assert last is not None
        self.last = last
        self.missing = self.e.const(self.elem, self.last, lanes)
        self.kinds: tuple[DType, ...] = (self.dtype,)
        self.held, self.opened = 1, slots + 2

    def start(self) -> list[Val]:
        return [self.missing]

    def open(self, totals: list[Val]) -> list[Val]:
        """The initial values of the next steps: the extreme so far is in the first slot."""
        nothing = self.e.const(f"i{BITS[self.elem]}", 0, self.lanes)
        return [*totals, *self.start() * (self.slots - 1), as_integer(self.e, totals[0]), nothing]

    def add(self, totals: list[Val], elements: list[Val], mask: Val | None = None) -> list[Val]:
        e = self.e
        elements = [masked(e, e.splat(x, self.lanes), mask, self.missing) for x in elements]
        *found, signs, flags = totals
        found[: len(elements)] = [self._best(x, old) for x, old in zip(elements, found, strict=False)]
        signs = reduce(lambda a, b: e.op("and" if self.largest else "or", a, as_integer(e, b)), elements, signs)
        for a, b in zip(elements[::2], elements[1::2] or elements, strict=True):
            flags = e.select(e.fcmp("uno", a, b), e.const_like(flags, -1), flags)
        return [*found, signs, flags]

    def _best(self, newer: Val, older: Val) -> Val:
        """Return the better of two in one instruction, or the older one if one is NaN or both are zeros."""
        return self.e.select(self.e.fcmp("ogt" if self.largest else "olt", newer, older), newer, older)

    def close(self, totals: list[Val], begin: Val) -> list[Val]:
        """The extreme of all slots, with NaN and the sign of a zero."""
        e = self.e
        *found, signs, flags = totals
        while len(found) > 1:  # the first slot is the older of two: NaN from steps before stays
            found = [self._best(b, a) for a, b in zip(found[::2], found[1::2], strict=True)]
        best = e.select(e.fcmp("oeq", found[0], e.zero_like(found[0])), as_float(e, sign_bit(e, signs)), found[0])
        is_nan = e.icmp("ne", flags, e.zero_like(flags))
        return [e.select(is_nan, e.const_like(best, float("nan")), best)]

    # -- chunks and results

    def left(self, totals: list[Val]) -> list[list[Val]]:
        return [self.results(totals)]

    def unjoined(self) -> list[Val]:
        return [self.e.const(self.elem, self.last)]

    def join(self, older: list[Val], newer: list[list[Val]]) -> list[Val]:
        """Joins a chunk's partial result with the chunks before it."""
        return [combined(self.e, self.op, self.dtype, older[0], newer[0][0])]

    def results(self, totals: list[Val]) -> list[Val]:
        """Reduces the lanes to one number."""
        return [across_lanes(self.e, self.op, self.dtype, totals)]

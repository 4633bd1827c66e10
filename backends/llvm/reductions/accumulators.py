"""Emit the accumulators of one stage's reductions, combined in the tree that `lower-reductions` describes."""

from __future__ import annotations

from collections.abc import Callable

from ....ir.dtypes import DType
from ....ir.graph import Node
from ....ir.nest.ops import combiner
from ....ir.types import integer
from ..code.casts import element
from ..code.frame import Frame
from ..code.scopes import Nest
from ..code.text import BITS, Emitter, Val
from ..code.vectors import load, masked, memory_form, store
from ..elements.combine import Number, combined, neutral
from .extremes import extreme, has_extreme
from .ranking import across_lanes

LEVELS = 48  # blocks are counted in binary, one partial result for each digit


def combine(e: Emitter, node: Node, older: Val, newer: Val) -> Val:
    """Combines two partial results."""
    with e.writing(node.result):
        return combined(e, combiner(node.op.name), node.result.type.dtype, older, newer)


def identity(node: Node) -> Number:
    """The initial value of a reduction; a sum starts from 0.0, as in NumPy, so a single -0.0 gives 0.0."""
    found = neutral(combiner(node.op.name), node.result.type.dtype)
    assert found is not None
    return abs(found) if node.op.name == "sum" else found


def has_order(node: Node) -> bool:
    """Whether it matters which lane an element is added to."""
    return node.op.name in ("sum", "prod") and node.result.type.dtype.kind == "float"


def joined(e: Emitter, waiting: Val, parts: list[Val], join: Callable[[Val, list[Val]], list[Val]]) -> list[Val]:
    """Join partial results with those that wait, from the newest to the oldest. A bit stands for the level of each."""

    def some(values: list[Val]) -> Val:
        return e.icmp("ne", values[0], e.const("i64", 0))

    def newest(values: list[Val]) -> list[Val]:
        digits, *newer = values
        level = e.call("cttz", digits, Val("true", "i1", 0), suffix=".i64")
        rest = e.op("and", digits, e.op("sub", digits, e.const("i64", 1)))
        return [rest, *join(level, newer)]

    return e.repeat([waiting, *parts], some, newest)[1:]


def carried(e: Emitter, count: Val, parts: list[Val], join: Callable[[Val, list[Val]], list[Val]]) -> list[Val]:
    """Joins a finished block with the `count` before it, like the carries of a binary counter.

    The level of the result comes first.
    """
    zero, one = e.const("i64", 0), e.const("i64", 1)

    def carries(values: list[Val]) -> Val:
        return e.icmp("ne", e.op("and", values[0], one), zero)

    def carry(values: list[Val]) -> list[Val]:
        digits, level, *newer = values
        return [e.op("lshr", digits, one), e.op("add", level, one), *join(level, newer)]

    return e.repeat([count, zero, *parts], carries, carry)[1:]


class Accumulators:
    """Partial results of one reduction: one vector (or scalar) for each slot, and a stack for finished blocks."""

    def __init__(self, node: Node, nest: Nest, frame: Frame, slots: int, lanes: int, is_across: bool) -> None:
        self.node, self.nest, self.frame, self.slots, self.lanes = node, nest, frame, slots, lanes
        self.is_across = is_across  # whether all lanes belong to one row
        self.steps = integer(node.attrs, "steps")
        self.elem = element(node.result.type.dtype)
        self.row = max(1, lanes) * BITS[memory_form(self.elem)] // 8
        self.stack = frame.reserve(self.row * slots * LEVELS) if self.steps else None
        self.kinds: tuple[DType, ...] = (node.result.type.dtype,)
        self.missing = nest.e.const(self.elem, identity(node), lanes)
        self.held = self.opened = slots  # values carried by loops, and by loops over single steps
        # Vectors of 32 bytes are those of x86; other machines have an instruction for `minimum` with NaN and zeros.
        self.is_quick = has_extreme(node) and not is_across and lanes * BITS[self.elem] >= 256

    def start(self) -> list[Val]:
        return [self.nest.e.const(self.elem, identity(self.node), self.lanes)] * self.slots

    def open(self, totals: list[Val]) -> list[Val]:
        return totals

    def close(self, totals: list[Val], begin: Val) -> list[Val]:
        return totals

    def add(self, totals: list[Val], elements: list[Val], mask: Val | None = None) -> list[Val]:
        """Adds elements to the totals of as many slots."""
        e = self.nest.e
        elements = [masked(e, e.splat(x, self.lanes), mask, self.missing) for x in elements]
        if self.elem == "i1" and self.is_across:  # all in the first slot, because a CPU has few mask registers
            while len(elements) > 1:  # in pairs, because a chain would wait for each result
                pairs = zip(elements[::2], elements[1::2], strict=True)
                elements = [combine(e, self.node, a, b) for a, b in pairs]
            return [combine(e, self.node, totals[0], elements[0]), *totals[1:]]
        with e.writing(self.node.result):
            added = [self._added(e, total, x) for total, x in zip(totals, elements, strict=False)]
        return [*added, *totals[len(added) :]]

    def _added(self, e: Emitter, total: Val, x: Val) -> Val:
        return extreme(e, self.node.op.name, total, x) if self.is_quick else combine(e, self.node, total, x)

    # -- the tree of blocks

    def push(self, totals: list[Val], count: Val) -> None:
        """Joins a finished block with the `count` before it."""
        level, *parts = carried(self.nest.e, count, totals, self._with_level)
        for part, place in zip(parts, self._places(level), strict=True):
            store(self.nest.e, part, place)

    def finish(self, totals: list[Val], count: Val) -> list[Val]:
        """Join the last block, if there is one, with all before it."""
        return joined(self.nest.e, count, totals, self._with_level) if self.steps else totals

    def _with_level(self, level: Val, parts: list[Val]) -> list[Val]:
        e = self.nest.e
        older = [load(e, self.elem, self.lanes, place) for place in self._places(level)]
        return [combine(e, self.node, old, part) for old, part in zip(older, parts, strict=True)]

    def _places(self, level: Val) -> list[Val]:
        """Where the stack has the slots of a level."""
        assert self.stack is not None
        e = self.nest.e
        first = e.offset(self.stack, e.op("mul", level, e.const("i64", self.row * self.slots)))
        return [first, *(e.offset(first, e.const("i64", self.row * slot)) for slot in range(1, self.slots))]

    # -- chunks

    def left(self, totals: list[Val]) -> list[list[Val]]:
        """The partial result of a chunk, for each of `kinds`."""
        return [totals]

    def unjoined(self) -> list[Val]:
        return self.start()

    def join(self, older: list[Val], newer: list[list[Val]]) -> list[Val]:
        """Joins a chunk's partial result with the chunks before it."""
        return [combine(self.nest.e, self.node, a, b) for a, b in zip(older, newer[0], strict=True)]

    # -- the tree of lanes

    def results(self, totals: list[Val]) -> list[Val]:
        e = self.nest.e
        if self.is_quick:
            totals = [e.select(e.fcmp("uno", x, x), e.const_like(x, float("nan")), x) for x in totals]
        if not self.is_across:
            return totals
        return [across_lanes(e, combiner(self.node.op.name), self.node.result.type.dtype, totals)]

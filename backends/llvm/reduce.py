"""Accumulators of the reductions in one stage, combined in the tree that `lower-reductions` describes."""

from __future__ import annotations

from ...ir.graph import Node
from ...ir.ops import TABLE
from ...ir.types import integer
from .casts import element, memory_element
from .combine import Number, combined, neutral
from .frame import Frame
from .scopes import Nest
from .text import BITS, Emitter, Val

LEVELS = 48  # blocks are counted in binary, one partial result for each digit

_OPS = {
    "sum": "add", "prod": "mul", "min": "minimum", "max": "maximum", "any": "logical_or", "all": "logical_and",
    "reduce_fmin": "fmin", "reduce_fmax": "fmax", "reduce_and": "bitwise_and", "reduce_or": "bitwise_or",
    "reduce_xor": "bitwise_xor",
}  # fmt: skip


def combine(e: Emitter, node: Node, older: Val, newer: Val) -> Val:
    """Two partial results as one."""
    return combined(e, TABLE[_OPS[node.op.name]], node.result.type.dtype, older, newer)


def identity(node: Node) -> Number:
    """What a reduction starts from; a sum from 0.0, as NumPy's, so -0.0 alone gives 0.0."""
    found = neutral(TABLE[_OPS[node.op.name]], node.result.type.dtype)
    assert found is not None
    return abs(found) if node.op.name == "sum" else found


class Accumulators:
    """Partial results of one reduction: one vector (or scalar) for each slot, and a stack for finished blocks."""

    def __init__(self, node: Node, nest: Nest, frame: Frame, slots: int, lanes: int) -> None:
        self.node, self.nest, self.frame, self.slots, self.lanes = node, nest, frame, slots, lanes
        self.steps = integer(node.attrs, "steps")
        self.elem = element(node.result.type.dtype)
        self.memory_elem = memory_element(node.result.type.dtype)
        self.stack = self._reserve(LEVELS) if self.steps else None
        self.tail: Val | None = None

    def _reserve(self, rows: int) -> Val:
        """Memory for so many rows of totals."""
        return self.frame.reserve(max(1, self.lanes) * self.slots * rows * self._itemsize())

    def start(self) -> list[Val]:
        return [self.nest.e.const(self.elem, identity(self.node), self.lanes)] * self.slots

    def add(self, totals: list[Val], elements: list[Val]) -> list[Val]:
        """Elements joined to the totals."""
        e = self.nest.e
        pairs = zip(totals, elements, strict=True)
        return [combine(e, self.node, total, e.splat(x, self.lanes)) for total, x in pairs]

    # -- a step that is not whole: its elements are collected in memory, where what is missing is the identity

    def begin_tail(self) -> None:
        self.tail = self.tail or self._reserve(1)
        for slot, x in enumerate(self.start()):
            self._store(x, self._place(self.tail, self.nest.e.const("i64", 0), slot))

    def put_tail(self, x: Val, mask: Val, lane: Val) -> None:
        """The elements of one vector, which starts at a lane of the step."""
        e = self.nest.e
        assert self.tail is not None
        x = e.select(mask, e.splat(x, self.lanes), self.start()[0])
        self._store(x, e.offset(self.tail, e.op("mul", lane, e.const("i64", self._itemsize()))))

    def add_tail(self, totals: list[Val]) -> list[Val]:
        assert self.tail is not None
        zero = self.nest.e.const("i64", 0)
        return self.add(totals, [self._load(self._place(self.tail, zero, k)) for k in range(self.slots)])

    # -- the tree of blocks

    def push(self, totals: list[Val], count: Val) -> None:
        """A finished block joins the `count` before it: as adding one in binary carries, equal halves are combined."""
        e = self.nest.e
        zero, one = e.const("i64", 0), e.const("i64", 1)

        def carries(values: list[Val]) -> Val:
            return e.icmp("ne", e.op("and", values[0], one), zero)

        def carry(values: list[Val]) -> list[Val]:
            digits, level, *parts = values
            return [e.op("lshr", digits, one), e.op("add", level, one), *self._with_level(level, parts)]

        _, level, *parts = e.repeat([count, zero, *totals], carries, carry)
        for slot, part in enumerate(parts):
            self._store(part, self._place(self.stack, level, slot))

    def finish(self, totals: list[Val], count: Val) -> list[Val]:
        """The last block and all before it, from the youngest partial result to the oldest."""
        e = self.nest.e

        def some(values: list[Val]) -> Val:
            return e.icmp("ne", values[0], e.const("i64", 0))

        def join(values: list[Val]) -> list[Val]:
            digits, *parts = values
            level = e.call("cttz", digits, Val("true", "i1", 0), suffix=".i64")
            rest = e.op("and", digits, e.op("sub", digits, e.const("i64", 1)))
            return [rest, *self._with_level(level, parts)]

        return e.repeat([count, *totals], some, join)[1:]

    def _with_level(self, level: Val, parts: list[Val]) -> list[Val]:
        e = self.nest.e
        older = [self._load(self._place(self.stack, level, k)) for k in range(self.slots)]
        return [combine(e, self.node, old, part) for old, part in zip(older, parts, strict=True)]

    def _place(self, base: Val | None, level: Val, slot: int) -> Val:
        assert base is not None
        e, row = self.nest.e, max(1, self.lanes) * self._itemsize()
        offset = e.op("mul", level, e.const("i64", row * self.slots))
        return e.offset(e.offset(base, offset), e.const("i64", row * slot))

    def _itemsize(self) -> int:
        return BITS[self.memory_elem] // 8

    def _store(self, x: Val, address: Val) -> None:
        self.nest.e.store(self.nest.e.cast("zext", x, "i8") if self.elem == "i1" else x, address, 1)

    def _load(self, address: Val) -> Val:
        e = self.nest.e
        raw = e.load(address, self.memory_elem, self.lanes, 1)
        return e.icmp("ne", raw, e.zero_like(raw)) if self.elem == "i1" else raw

    # -- the tree of lanes

    def across(self, totals: list[Val]) -> Val:
        """One number: the upper half of the lanes joins the lower half until one is left."""
        e = self.nest.e
        while len(totals) > 1:
            half = len(totals) // 2
            totals = [combine(e, self.node, a, b) for a, b in zip(totals[:half], totals[half:], strict=True)]
        total = totals[0]
        while total.lanes > 1:
            half = total.lanes // 2
            low = e.shuffle(total, total, list(range(half)))
            high = e.shuffle(total, total, list(range(half, 2 * half)))
            total = combine(e, self.node, low, high)
        return e.extract(total, 0) if total.lanes else total

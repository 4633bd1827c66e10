"""Accumulators of the reductions in one stage, combined in the tree that `lower-reductions` describes."""

from __future__ import annotations

from ...ir.dtypes import DType
from ...ir.graph import Node
from ...ir.ops import TABLE
from ...ir.types import Attr
from .casts import element
from .ops import EMITTERS
from .scopes import Nest
from .text import BITS, Emitter, Val

LEVELS = 48  # blocks are counted in binary, one partial result for each digit

_COMBINE = {"sum": "add", "prod": "mul", "min": "minimum", "max": "maximum", "any": "logical_or", "all": "logical_and"}


def combine(e: Emitter, node: Node, older: Val, newer: Val) -> Val:
    """Two partial results as one."""
    return EMITTERS[TABLE[_COMBINE[node.op.name]]](e, node.result.type.dtype, older, newer)


def identity(node: Node) -> bool | int | float:
    """What changes no partial result: -0.0 for a sum, so that a sum of -0.0 alone keeps its sign."""
    dtype = node.result.type.dtype
    is_float = dtype.kind == "float"
    match node.op.name:
        case "sum":
            return -0.0 if is_float else 0
        case "prod":
            return 1.0 if is_float else 1
        case "min":
            return float("inf") if is_float else _highest(dtype)
        case "max":
            return float("-inf") if is_float else _lowest(dtype)
        case name:
            return name == "all"


def _highest(dtype: DType) -> int:
    return (1 << (dtype.bits - (dtype.kind == "int"))) - 1


def _lowest(dtype: DType) -> int:
    return -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0


def number(attr: Attr) -> int:
    assert isinstance(attr, int)
    return attr


class Accumulators:
    """Partial results of one reduction: one vector (or scalar) for each slot, and a stack for finished blocks."""

    def __init__(self, node: Node, nest: Nest, slots: int, lanes: int) -> None:
        self.node, self.nest, self.slots, self.lanes = node, nest, slots, lanes
        self.steps = number(node.attrs["steps"])
        self.elem = element(node.result.type.dtype)
        self.stack: Val | None = None
        if self.steps:
            size = max(1, lanes) * slots * LEVELS
            with nest.at(nest.entry):
                self.stack = nest.e.emit(f"alloca {self.elem}, i64 {size}, align 64", "ptr", 0)

    def start(self) -> list[Val]:
        return [self.nest.e.const(self.elem, identity(self.node), self.lanes)] * self.slots

    def add(self, totals: list[Val], elements: list[Val], masks: list[Val | None]) -> list[Val]:
        """Elements joined to the totals; those outside a mask count as the identity."""
        e, result = self.nest.e, []
        for total, x, mask in zip(totals, elements, masks, strict=True):
            x = e.splat(x, self.lanes)
            if mask is not None:
                x = e.select(mask, x, e.const(self.elem, identity(self.node), self.lanes))
            result.append(combine(e, self.node, total, x))
        return result

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
            e.store(part, self._place(level, slot), 1)

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
        older = [e.load(self._place(level, k), self.elem, self.lanes, 1) for k in range(self.slots)]
        return [combine(e, self.node, old, part) for old, part in zip(older, parts, strict=True)]

    def _place(self, level: Val, slot: int) -> Val:
        assert self.stack is not None
        e, row = self.nest.e, max(1, self.lanes) * max(8, BITS[self.elem]) // 8
        offset = e.op("mul", level, e.const("i64", row * self.slots))
        return e.offset(e.offset(self.stack, offset), e.const("i64", row * slot))

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

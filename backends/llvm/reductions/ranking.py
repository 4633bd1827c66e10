"""Emit the comparisons of `argmin` and `argmax`, in which NaN comes before every number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.dtypes import U8, DType
from ....ir.graph import Node
from ....ir.ops import ARGMAX, TABLE, OpDef
from ..code.casts import element
from ..code.text import Emitter, Val
from ..elements.combine import Number, combined, neutral

Pair = tuple[Val, Val]  # an element and its position
Join = Callable[[tuple[Val, ...], tuple[Val, ...]], tuple[Val, ...]]


class RankComparison:
    """Compares elements for `argmin` or `argmax`, as `dtype`: a bool is compared as a byte."""

    def __init__(self, e: Emitter, node: Node) -> None:
        given = node.operands[0].type.dtype.strong
        self.e, self.largest = e, node.op is ARGMAX
        self.dtype: DType = U8 if given.kind == "bool" else given
        self.elem, self.is_float = element(self.dtype), given.kind == "float"
        last = neutral(TABLE["maximum" if self.largest else "minimum"], self.dtype)
        assert last is not None
        self.last: Number = last  # nothing comes after it
        # Nothing comes before this value; only bools have it, because only there it is common.
        self.first = int(self.largest) if given.kind == "bool" else None

    def element(self, x: Val, lanes: int) -> Val:
        """An operand's element in the dtype that is compared, in every lane."""
        return self.e.splat(self.e.cast("zext", x, "i8") if x.elem == "i1" else x, lanes)

    def beats(self, a: Val, b: Val) -> Val:
        """Tell whether `a` is a number that is before `b`, or before NaN."""
        direction = "gt" if self.largest else "lt"
        if self.is_float:
            return self.e.fcmp(f"o{direction}", a, b)
        return self.e.icmp(("s" if self.dtype.kind == "int" else "u") + direction, a, b)

    def best(self, a: Val, b: Val) -> Val:
        """The better of two numbers; `b` where `a` is NaN."""
        return self.e.select(self.beats(a, b), a, b)

    def better(self, a: Val, b: Val) -> Val:
        """Whether `a` is before `b`."""
        if not self.is_float:
            return self.beats(a, b)
        e = self.e
        return e.op("and", e.fcmp("ugt" if self.largest else "ult", a, b), e.fcmp("ord", b, b))

    def same(self, a: Val, b: Val) -> Val:
        """Whether neither is before the other."""
        e = self.e
        if not self.is_float:
            return e.icmp("eq", a, b)
        return e.op("or", e.fcmp("oeq", a, b), e.op("and", e.fcmp("uno", a, a), e.fcmp("uno", b, b)))

    def earlier(self, a: Pair, b: Pair) -> Pair:
        """The better element; of equal ones, the one with the smaller position."""
        e = self.e
        tie = e.op("and", self.same(b[0], a[0]), e.icmp("slt", b[1], a[1]))
        return self.chosen(e.op("or", self.better(b[0], a[0]), tie), b, a)

    def chosen(self, condition: Val, a: Pair, b: Pair) -> Pair:
        return self.e.select(condition, a[0], b[0]), self.e.select(condition, a[1], b[1])


def across_lanes(e: Emitter, op: OpDef, dtype: DType, totals: Sequence[Val]) -> Val:
    """Combines the lanes of some vectors to one number, the upper half of the vectors with the lower half first."""

    def join(a: Sequence[Val], b: Sequence[Val]) -> tuple[Val, ...]:
        return tuple(combined(e, op, dtype, x, y) for x, y in zip(a, b, strict=True))

    while len(totals) > 1:
        half = len(totals) // 2
        totals = join(totals[:half], totals[half:])
    return across(e, (totals[0],), join)[0]


def across(e: Emitter, values: tuple[Val, ...], join: Join) -> list[Val]:
    """Reduces vectors to numbers: the upper half of the lanes joins the lower half until one is left."""
    while values[0].lanes > 1:
        half = values[0].lanes // 2
        low, high = ([e.shuffle(v, v, list(range(k, k + half))) for v in values] for k in (0, half))
        values = join(tuple(low), tuple(high))
    return [e.extract(v, 0) if v.lanes else v for v in values]

"""`lower-positions`: where an extreme is becomes the extreme itself and the first position that has it.

Before:

    %0 = "weft.argmax"(%x) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<i64>

After:

    %0 = "weft.max"(%x) {axes = array<i64: 0>, keepdims, refuses = "..."} : ... -> tensor<1xf32>
    %1 = "weft.eq"(%x, %0) : ... -> tensor<?xi1, #weft.dims<n>>
    %2 = "weft.isnan"(%x) : ...
    %3 = "weft.logical_or"(%1, %2) : ...
    %4 = "weft.iota"() {shape = #weft.dims<n>, axis = 0 : i64} : ...
    %5 = "weft.constant"() {value = 9223372036854775807 : i64, dtype = i64} : ...
    %6 = "weft.where"(%3, %4, %5) : ...
    %7 = "weft.min"(%6) {axes = array<i64: 0>, keepdims = false} : ... -> tensor<i64>

The extreme is NaN where there is one, which equals nothing, so the first NaN is found by itself. Both reductions are
stages of one region. `refuses` is what NumPy says of an axis without elements. Needs explicit casts. Guarantees
that only complex numbers, whose order is another, are left to `argmin` and `argmax`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..ir import dims
from ..ir.builder import Builder
from ..ir.dims import Size
from ..ir.dtypes import I64
from ..ir.graph import Graph, Node, Value
from ..ir.ops import ARGMIN, IOTA, POSITIONS, RESHAPE, TABLE, WHERE
from ..ir.rewrite import Rewriter
from ..ir.types import Sizes, ints

MIN, MAX, EQ, ISNAN, OR = (TABLE[n] for n in ("min", "max", "eq", "isnan", "logical_or"))
NOWHERE = (1 << 63) - 1


@dataclass(frozen=True)
class LowerPositions:
    """Composes `argmin` and `argmax` of other reductions."""

    name: ClassVar[str] = "lower-positions"

    def run(self, graph: Graph) -> Graph:
        found = [n for n in graph if n.op in POSITIONS and _is_ordered(n)]
        if not found:
            return graph
        rewriter = Rewriter(graph)
        for node in graph:
            if node in found:
                rewriter.replace(node.result, _composed(rewriter.builder, node, rewriter.get(node.operands[0])))
            else:
                rewriter.copy(node)
        return rewriter.finish()


def _is_ordered(node: Node) -> bool:
    dtype = node.operands[0].type.dtype
    return not dtype.weak and dtype.kind != "complex"


def _composed(builder: Builder, node: Node, x: Value) -> Value:
    axes, span = ints(node.attrs, "axes"), node.span
    extreme = builder.op(
        MIN if node.op is ARGMIN else MAX, x, span=span, axes=axes, keepdims=True,
        refuses=f"attempt to get {node.op.name} of an empty sequence",
    )  # fmt: skip
    hit = builder.op(EQ, x, extreme, span=span)
    if x.type.dtype.kind == "float":
        hit = builder.op(OR, hit, builder.op(ISNAN, x, span=span), span=span)
    positions = builder.op(WHERE, hit, _counted(builder, node, x), builder.constant(NOWHERE, I64, span), span=span)
    return builder.op(MIN, positions, span=span, axes=axes, keepdims=bool(node.attrs.get("keepdims")))


def _counted(builder: Builder, node: Node, x: Value) -> Value:
    """The position of each element in C order over the reduced axes."""
    axes = ints(node.attrs, "axes")
    shape: list[Size] = [n if k in axes else 1 for k, n in enumerate(x.type.shape)]
    if len(axes) == 1:
        return builder.op(IOTA, span=node.span, shape=Sizes(shape), axis=axes[0])
    count = builder.op(IOTA, span=node.span, shape=Sizes((dims.product(shape),)), axis=0)
    return builder.op(RESHAPE, count, span=node.span, shape=Sizes(shape))

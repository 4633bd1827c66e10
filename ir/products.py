"""Define `matmul`: its rules, its NumPy meaning, and the indices at which it reads its operands.

An element of the result is the sum over k of the products of a row's and a column's elements. Axes before the last two
number matrices and are broadcast. In a region the last axis of the space is k, after those of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import dims
from .dims import LOOP, Size, symbol
from .errors import ShapeProblem, Span
from .facts import Facts
from .rules import Attrs, shown, ufunc_dtypes

if TYPE_CHECKING:
    from .graph import Node, Value

Shape = tuple[Size, ...]
matmul_dtypes = ufunc_dtypes(np.matmul)

SMALL = 128**3  # terms of a matrix below which packing operands takes longer than it saves
DEEPEST = 128  # most terms of an element of a small product: more would not fit on the stack
IN_PLACE = 1 << 20  # bytes of a right operand that stays in a core's cache while all rows are multiplied by it


def multiplied(facts: Facts, shapes: list[Shape], attrs: Attrs) -> list[Shape]:
    """Broadcasts stacks of matrices; the left ones have as many columns as the right ones have rows."""
    left, right = shapes
    if len(left) < 2 or len(right) < 2:
        raise ShapeProblem(
            f"matmul takes matrices, not arrays of shapes {shown(left)} and {shown(right)}",
            hint="give a vector a second axis of size 1",
        )
    meet(facts, left[-1], right[-2])
    batch = facts.broadcast([left[:-2], right[:-2]])
    return [(*batch, facts.canonical(left[-2]), facts.canonical(right[-1]))]


def meet(facts: Facts, a: Size, b: Size, span: Span | None = None) -> None:
    """Requires that two sizes are equal; 1 is not broadcast."""
    if facts.same(a, b):
        return
    left, right = facts.number(a), facts.number(b)
    differ = left is not None and right is not None and left != right
    if differ or facts.strict or (isinstance(a, int) and isinstance(b, int)):
        shown_left, shown_right = (s if n is None else n for s, n in ((a, left), (b, right)))
        raise ShapeProblem(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n?,k),(k,m?)->(n?,m?) (size {shown_right} is different from {shown_left})",
            span,
            "the last axis of the left operand and the second to last of the right must have the same size",
        )
    facts.assume_equal(a, b)


def matmul(a: Any, b: Any) -> Any:
    return np.matmul(a, b)


def product_space(left: Shape, result: Shape) -> Shape:
    """The iteration space of a region with a product: the elements of the result, and k for each."""
    return (*result, left[-1])


def amount(product: Node) -> Size:
    """The multiplications of a matrix product, but at least `SMALL` if it has more terms than fit on the stack."""
    *_, rows, columns = product.result.type.shape
    return dims.maximum(rows * columns, SMALL // DEEPEST) * product.operands[0].type.shape[-1]


def factor_index(shape: Shape, index: tuple[Size, ...], is_left: bool) -> tuple[Size, ...]:
    """The index at which an operand is read for this k and the result element at `index`."""
    rank = len(index)
    batch = index[rank - len(shape) : rank - 2]
    own = tuple(0 if size == 1 else i for size, i in zip(shape[:-2], batch, strict=True))
    size = shape[-1] if is_left else shape[-2]
    k: Size = 0 if size == 1 else symbol(f"{LOOP}{rank}")
    return (*own, index[-2], k) if is_left else (*own, k, index[-1])


def is_symmetric(product: Node) -> bool:
    """Tell whether this is the product of a matrix and its transpose: then the result's transpose has the same bits."""
    left, right = product.operands
    return _is_transpose(left, right) or _is_transpose(right, left)


def _is_transpose(value: Value, other: Value) -> bool:
    if value.node is None or value.node.op.name != "transpose":
        return False
    *stack, rows, columns = range(other.type.rank)
    return value.node.operands[0] is other and value.node.attrs["order"] == (*stack, columns, rows)

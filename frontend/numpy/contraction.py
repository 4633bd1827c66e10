"""Multiply two values with labelled axes and sum over the labels that the result lacks.

    contracted(m, a, "bik", b, "bkj", "bij")     a stack of matrix products

Labels that both values have and the result lacks become k, merged into one axis if there are several. The last label
that only one value has, of those with more than one element, is an axis of the matrices. All other labels number the
matrices of a stack. If one value has no such label, the result is a sum of elementwise products. If the result has
every label, there is no sum.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import dims
from ...ir.dtypes import BF16, F16, F32
from ...ir.graph import Value
from ...ir.ops import MATMUL, TABLE, TRANSPOSE
from ...ir.products import matmul_dtypes, meet
from ..maker import Maker
from .shapes import reshaped

ADD, MUL, SUM, AND, ANY = (TABLE[name] for name in ("add", "mul", "sum", "logical_and", "any"))
Labels = Sequence[object]


def contracted(m: Maker, a: Value, left: Labels, b: Value, right: Labels, result: Labels) -> Value:
    """Contract two values. A value has each label once, and a label of only one value must be in the result."""
    gone = [label for label in left if label in right and label not in result]
    for label in gone:
        meet(m.builder.facts, a.type.shape[left.index(label)], b.type.shape[right.index(label)], m.span)
    rows = [label for label in result if label not in right and _is_long(m, a, left, label)]
    columns = [label for label in result if label not in left and _is_long(m, b, right, label)]
    if rows and columns and result.index(rows[-1]) > result.index(columns[-1]):
        return contracted(m, b, right, a, left, result)  # so that the result has the wanted memory order
    if not (gone and rows and columns):
        order = [*gone, *result]  # if vectors can run along two axes the last one wins, which is contiguous more often
        return summed(m, spread(m, a, left, order), spread(m, b, right, order), len(gone))
    stack = [label for label in result if label not in (rows[-1], columns[-1])]
    terms = dims.product(m.builder.facts.canonical(a.type.shape[left.index(label)]) for label in gone)
    lefts = _merged(m, spread(m, a, left, [*stack, rows[-1], *gone]), len(gone), terms, -1)
    rights = _merged(m, spread(m, b, right, [*stack, *gone, columns[-1]]), len(gone), terms, -2)
    made = [*stack, rows[-1], columns[-1]]
    return turned(m, m.op(MATMUL, lefts, rights), [made.index(label) for label in result])


def summed(m: Maker, a: Value, b: Value, count: int) -> Value:
    """Sum elementwise products over the first axes, in the dtype of a matrix product."""
    (dtype, _), (result,) = matmul_dtypes((a.type.dtype, b.type.dtype), {})
    wide = F32 if dtype in (F16, BF16) else dtype
    terms = m.op(AND if dtype.kind == "bool" else MUL, m.cast(a, wide), m.cast(b, wide))
    return m.cast(total(m, terms, range(count)), result)


def total(m: Maker, x: Value, axes: Sequence[int]) -> Value:
    """Sum over axes in the dtype of the terms, in which integers wrap around; for bools, tell whether any is true."""
    if not axes:
        return x
    if x.type.dtype.kind == "bool":
        return m.op(ANY, x, axes=tuple(axes))
    return m.cast(m.op(SUM, x, axes=tuple(axes)), x.type.dtype)


def cleared(m: Maker, x: Value) -> Value:
    """Add products to 0, as a sum does that starts at 0, so that none is -0.0."""
    return m.cast(m.op(ADD, x, 0), x.type.dtype) if x.type.dtype.kind in ("float", "complex") else x


def _is_long(m: Maker, x: Value, own: Labels, label: object) -> bool:
    """Tell whether an axis of a value is longer than one element."""
    return m.builder.facts.canonical(x.type.shape[own.index(label)]) != 1


def spread(m: Maker, x: Value, labels: Labels, wanted: Labels) -> Value:
    """Put the axes in this order, with axes of size 1 for labels that the value lacks."""
    have = [labels.index(label) for label in wanted if label in labels]
    moved = turned(m, x, have)
    sizes = iter(moved.type.shape)
    return reshaped(m, moved, [next(sizes) if label in labels else 1 for label in wanted])


def turned(m: Maker, x: Value, order: Sequence[int]) -> Value:
    """Permute the axes."""
    if list(order) == list(range(x.type.rank)):
        return x
    return m.builder.op(TRANSPOSE, x, span=m.span, order=tuple(order))


def _merged(m: Maker, x: Value, count: int, size: dims.Size, place: int) -> Value:
    """Merge `count` axes that end at a position into one."""
    if count == 1:
        return x
    shape = list(x.type.shape)
    stop = x.type.rank + place + 1
    shape[stop - count : stop] = [size]
    return reshaped(m, x, shape)

"""NumPy's products of matrices and vectors: values in, a `matmul`, a sum of products, or a plain product out.

What has a side of length 1 is no product of matrices: it is a sum of elementwise products, which the reductions do
best, in the order of theirs. Other products of several axes are `matmul` on transposed views.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.dtypes import BF16, F16, F32
from ..ir.errors import ShapeProblem
from ..ir.graph import Value
from ..ir.ops import MATMUL, TABLE
from ..ir.products import matmul_dtypes, meet
from .arrays import array_of
from .elementwise import Make
from .maker import Maker, Operand
from .shaping import reshaped, swapaxes

MUL, SUM, AND, ANY = (TABLE[name] for name in ("mul", "sum", "logical_and", "any"))


def matmul(m: Maker, x1: Operand, x2: Operand, /) -> Value:
    a, b = array_of(m, x1), array_of(m, x2)
    for k, value in enumerate((a, b)):
        if not value.type.rank:
            raise ShapeProblem(
                f"matmul: Input operand {k} does not have enough dimensions (has 0, gufunc core with signature "
                "(n?,k),(k,m?)->(n?,m?) requires 1)",
                m.span,
                "multiply by a number with *",
            )
    if a.type.rank == 1 or b.type.rank == 1:
        return vector_product(m, a, b)
    return matrix_product(m, a, b)


def vector_product(m: Maker, a: Value, b: Value) -> Value:
    """One of them is a vector."""
    meet(m.builder.facts, a.type.shape[-1], b.type.shape[-2 if b.type.rank > 1 else 0])
    if a.type.rank == 1 and b.type.rank > 1:
        return summed(m, reshaped(m, a, (*a.type.shape, 1)), b, -2)
    return summed(m, a, b, -1)


def matrix_product(m: Maker, a: Value, b: Value) -> Value:
    """Stacks of matrices."""
    facts = m.builder.facts
    rows, columns = facts.canonical(a.type.shape[-2]), facts.canonical(b.type.shape[-1])
    if rows != 1 and columns != 1:
        return m.op(MATMUL, a, b)
    m.builder.infer(MATMUL, (a, b), {}, m.span)
    if columns == 1:
        found = summed(m, a, swapaxes(m, b, -1, -2), -1)
        return reshaped(m, found, (*found.type.shape, 1))
    found = summed(m, swapaxes(m, a, -1, -2), b, -2)
    return reshaped(m, found, (*found.type.shape[:-1], 1, found.type.shape[-1]))


def summed(m: Maker, a: Value, b: Value, axis: int) -> Value:
    """The sum along an axis of elementwise products, in the dtype that a product of matrices has."""
    (dtype, _), (result,) = matmul_dtypes((a.type.dtype, b.type.dtype), {})
    if dtype.kind == "bool":
        both = m.op(AND, a, b)
        return m.op(ANY, both, axes=(both.type.rank + axis,))
    wide = F32 if dtype in (F16, BF16) else dtype
    terms = m.op(MUL, m.cast(a, wide), m.cast(b, wide))
    return m.cast(m.op(SUM, terms, axes=(terms.type.rank + axis,)), result)


PRODUCTS: Mapping[str, Make] = {"matmul": matmul}

"""Recognise sums such as `sum[p](a[i, p] * b[p, j])` as matrix products.

Two of the factors must depend on every index that is summed over, and each must have an index that the other lacks.
Every other factor is multiplied into one of the two that has all of its indices. This changes only the rounding.

A window such as `x[i + p]` stays a sum of products: loops that keep its elements in registers were 1.1 to 2 times as
fast in trials with one summed index, and up to 13 times with several, which would have to be copied into a matrix. With
16 or more channels the difference was within the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ...ir.affine import steps_of
from ...ir.errors import Span
from ...ir.graph import Value
from ...ir.ops import ACCESS, TABLE, Trait
from ...ir.products import matmul_dtypes
from ...ir.rules import accumulate_dtypes
from ..language import syntax
from ..language.syntax import Expr
from ..lowering.frame import Environment
from ..maker import Maker
from ..numpy.contraction import contracted
from ..numpy.shapes import reshaped
from ..weak import Operand
from .scope import IndexScope
from .views import placed

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions

MUL = TABLE["mul"]
MOST_FACTORS = 16  # how many factors are tried in pairs


def factors_in(body: Expr, frame: Environment, expressions: Expressions) -> list[Operand]:
    """Lower the factors of a product; an expression that is not a product is one factor."""
    factors: list[Expr] = []
    while isinstance(body, syntax.Binary) and body.op == "*":
        factors.append(body.right)
        body = body.left
    return [expressions.operand(factor, frame) for factor in (body, *reversed(factors))]


def multiplied(factors: Sequence[Operand], span: Span, expressions: Expressions) -> Operand:
    """Multiply factors from left to right."""
    total = factors[0]
    for factor in factors[1:]:
        total = expressions.operate("*", total, factor, span)
    return total


def product(
    span: Span, factors: Sequence[Operand], scope: IndexScope, outer: IndexScope, expressions: Expressions
) -> Value | None:
    """Return the sum over the inner scope's indices as a matrix product, or None if it is not one."""
    labels = [_labels(factor) for factor in factors]
    summed = set(range(len(outer.indices), len(scope.indices)))
    if len(factors) > MOST_FACTORS or any(_is_window(factor, summed) for factor in factors):
        return None
    for left, right in combinations(range(len(factors)), 2):
        own, others = labels[left] - labels[right], labels[right] - labels[left]
        sides = [_side(used, labels[left], labels[right]) for used in labels]
        if own and others and summed <= labels[left] & labels[right] and None not in sides:
            a, b = (
                multiplied([f for f, side in zip(factors, sides, strict=True) if side == k], span, expressions)
                for k in (0, 1)
            )
            assert isinstance(a, Value) and isinstance(b, Value)
            return _contracted(Maker(expressions.builder, span), a, b, outer) if _is_exact(a, b) else None
    return None


def _labels(factor: Operand) -> set[int]:
    """Find the axes along which a factor varies."""
    shape = factor.type.shape if isinstance(factor, Value) else ()
    return {axis for axis, size in enumerate(shape) if size != 1}


def _is_window(factor: Operand, summed: set[int]) -> bool:
    """Tell whether a summed index and a kept one share an axis of an array."""
    waiting, seen = [factor], set[int]()
    while waiting:
        node = value.node if isinstance(value := waiting.pop(), Value) else None
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if Trait.ELEMENTWISE in node.op.traits:
            waiting += node.operands
        elif node.op is ACCESS:
            rows = [steps_of(node.attrs, axis) for axis in range(node.operands[0].type.rank)]
            used = [{axis for axis, step in enumerate(row) if step != 0} for row in rows]
            if any(row & summed and row - summed for row in used):
                return True
    return False


def _side(labels: set[int], left: set[int], right: set[int]) -> int | None:
    """Choose the factor to multiply another into: one that has all of its indices."""
    return 0 if labels <= left else 1 if labels <= right else None


def _is_exact(a: Value, b: Value) -> bool:
    """Tell whether a matrix product has the dtype of a sum of products; sums of small integers have 64 bits."""
    operands = (a.type.dtype, b.type.dtype)
    _, (terms,) = MUL.dtypes(operands, {})
    return accumulate_dtypes((terms,), {})[1] == matmul_dtypes(operands, {})[1]


def _contracted(m: Maker, a: Value, b: Value, outer: IndexScope) -> Value:
    left, right = sorted(_labels(a)), sorted(_labels(b))
    result = [axis for axis in range(len(outer.indices)) if axis in left or axis in right]
    lean = [reshaped(m, x, [size for size in x.type.shape if size != 1]) for x in (a, b)]
    found = contracted(m, lean[0], left, lean[1], right, result)
    return placed(m, found, [outer.indices[axis].name for axis in result], outer)

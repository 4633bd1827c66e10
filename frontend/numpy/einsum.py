"""Define `einsum` as a sequence of products of pairs.

Operands are multiplied from left to right. Indices that are not needed any more are summed over at once. An index that
an operand has twice selects its diagonal, and `...` stands for axes that are broadcast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Union

from ...ir.dtypes import BF16, BOOL
from ...ir.errors import TypeProblem, ValueProblem, quantity
from ...ir.graph import Value
from ...ir.ops import DIAGONAL, MATMUL, RESHAPE, TRANSPOSE
from ...ir.types import Sizes
from ..maker import Maker, Operand
from ..memory import laid_out, lying_as, together
from ..sizes import guard_equal, guard_one
from .arrays import strong_array
from .contraction import ANY, cleared, contracted, spread, total, turned
from .shapes import broadcast_to

Label = Union[str, int]  # a letter, or a number for an axis behind `...`, counted from the last
DOTS = "..."


def einsum(m: Maker, subscripts: object, /, *operands: Operand, optimize: object = False) -> Value:
    if isinstance(optimize, (tuple, list)):
        raise m.refuse("a contraction path for 'einsum'")
    if not isinstance(subscripts, str):
        raise m.refuse("'einsum' without a string of subscripts")
    if optimize is not False and len(operands) > 2:
        raise m.refuse("a path through 'einsum' of more than two operands")
    values = [strong_array(m, x) for x in operands]
    if all(v.type.dtype == BF16 for v in values):
        raise TypeProblem("invalid data type for einsum", m.span, "convert the operands to f32")
    inputs, result = _parsed(m, subscripts.replace(" ", ""), [v.type.rank for v in values])
    given = [_diagonals(m, x, labels) for x, labels in zip(values, inputs, strict=True)]
    terms = _broadcast(m, given)
    x, labels = terms[0]
    for k, (y, others) in enumerate(terms[1:], 1):
        later = {label for _, more in terms[k + 1 :] for label in more} | set(result)
        x, labels = _without(m, x, labels, later | set(others))
        y, others = _without(m, y, others, later | set(labels))
        kept = [label for label in dict.fromkeys((*labels, *others)) if label in later]
        wanted = list(result) if k == len(terms) - 1 else kept
        x, labels = contracted(m, x, labels, y, others, wanted), wanted
    summed = len(terms) == 1 and set(labels) > set(result)
    x, labels = _without(m, x, labels, set(result))
    found = turned(m, x, [labels.index(label) for label in result])
    if len(terms) == 1 and not summed:
        return found  # a view
    if not _is_product(found):
        found = cleared(m, found)
    if optimize is False or len(terms) == 1:
        return _laid_out(m, found, given, result)
    first, second = (
        [label for label in dict.fromkeys(letters) if label in _long(m, value, labels)]
        for letters, (value, labels) in zip(inputs, given, strict=True)
    )
    if not {*first} & {*second} - {*result}:
        return _laid_out(m, found, given, result)
    if not found.type.rank:
        return m.builder.op(RESHAPE, found, span=m.span, shape=Sizes(()))  # an array, like all matrix products
    return _as_matrices(m, found, first, second, result)


def _long(m: Maker, value: Value, labels: Sequence[Label]) -> set[Label]:
    """Return the indices of an operand that are longer than 1."""
    sizes = map(m.builder.facts.canonical, value.type.shape)
    return {label for label, size in zip(labels, sizes, strict=True) if size != 1}


def _as_matrices(m: Maker, x: Value, first: Sequence[Label], second: Sequence[Label], result: Sequence[Label]) -> Value:
    """Lay out a product as NumPy's path does: a stack of matrices with the second operand's indices as rows."""
    stack = [label for label in second if label in first]
    rows, columns = ([k for k in own if k not in stack] for own in (second, first))
    kept = [label for label in (*stack, *rows, *columns) if label in result]
    order = [result.index(label) for label in (*(k for k in result if k not in kept), *kept)]
    made = laid_out(m, turned(m, x, order), "C")
    return turned(m, made, [order.index(axis) for axis in range(len(order))])


def _is_product(x: Value) -> bool:
    """Tell whether a value is a matrix product, possibly transposed."""
    node = x.node
    if node is not None and node.op is TRANSPOSE:
        node = node.operands[0].node
    return node is not None and node.op is MATMUL


def _laid_out(m: Maker, x: Value, terms: Sequence[tuple[Value, list[Label]]], result: Sequence[Label]) -> Value:
    """Lay out the result in the memory order that NumPy's iterator derives from the strides of the operands."""
    if x.type.rank < 2:
        return x
    gone = sorted({label for _, labels in terms for label in labels if label not in result}, key=str)
    met = together(m, *(spread(m, value, labels, [*result, *gone]) for value, labels in terms))
    if gone:
        met = m.op(ANY, m.cast(met, BOOL), axes=tuple(range(len(result), len(result) + len(gone))))
    return lying_as(m, x, met)


def _parsed(m: Maker, text: str, ranks: Sequence[int]) -> tuple[list[list[Label]], list[Label]]:
    """Return the labels of each operand, and those of the result."""
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise ValueProblem(
            f"einsum: the subscripts are for {quantity(len(parts), 'operand')}, but there are {len(ranks)}",
            m.span,
            "write one group of letters for each operand, as in 'ij,jk->ik'",
        )
    inputs = [_labels(m, part, rank) for part, rank in zip(parts, ranks, strict=True)]
    dots = max((sum(isinstance(label, int) for label in labels) for labels in inputs), default=0)
    if not arrow:
        counts = Counter(label for labels in inputs for label in labels)
        letters = sorted(label for label in counts if isinstance(label, str) and counts[label] == 1)
        return inputs, [*range(-dots, 0), *letters]
    result = _labels(m, right, len(right.replace(DOTS, "")) + dots * (DOTS in right))
    known = {label for labels in inputs for label in labels}
    for label in result:
        if label not in known or result.count(label) > 1:
            problem = "is in no operand" if label not in known else "appears twice"
            raise ValueProblem(f"einsum: '{label}' of the result {problem}", m.span, f"the subscripts are '{text}'")
    return inputs, result


def _labels(m: Maker, part: str, rank: int) -> list[Label]:
    """Return one label for each axis."""
    before, dots, after = part.partition(DOTS)
    count = rank - len(before) - len(after)
    if not (before + after).isalpha() and before + after:
        raise ValueProblem(f"einsum: '{part}' must consist of letters and '...'", m.span)
    if count < 0 or (count and not dots):
        raise ValueProblem(
            f"einsum: '{part}' names {quantity(len(before) + len(after), 'axis', 'axes')}, but the array has {rank}",
            m.span,
            "name every axis, or write ... for the rest",
        )
    return [*before, *range(-count, 0), *after]


def _diagonals(m: Maker, x: Value, labels: list[Label]) -> tuple[Value, list[Label]]:
    """Take diagonals until each label appears once."""
    for label in [label for label, count in Counter(labels).items() if count > 1]:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            size = x.type.shape[first]
            if not guard_equal(m.builder.facts, size, x.type.shape[second]):
                raise ValueProblem(f"einsum: the axes '{label}' of one operand must have the same size", m.span)
            x = m.builder.op(DIAGONAL, x, span=m.span, axes=(first, second), starts=Sizes((0, 0)), size=Sizes((size,)))
            labels = [*(other for k, other in enumerate(labels) if k not in (first, second)), label]
    return x, labels


def _broadcast(m: Maker, terms: list[tuple[Value, list[Label]]]) -> list[tuple[Value, list[Label]]]:
    """Broadcast axes of size 1 to the size that other operands have for the same letter."""
    facts = m.builder.facts
    sizes = [(label, n) for x, labels in terms for label, n in zip(labels, x.type.shape, strict=True)]
    longer = {label: n for label, n in sizes if isinstance(label, str) and not guard_one(facts, n)}
    found = []
    for x, labels in terms:
        pairs = zip(labels, x.type.shape, strict=True)
        shape = [longer[label] if label in longer and guard_one(facts, n) else n for label, n in pairs]
        found.append((x if shape == list(x.type.shape) else broadcast_to(m, x, shape), labels))
    return found


def _without(m: Maker, x: Value, labels: list[Label], wanted: set[Label]) -> tuple[Value, list[Label]]:
    """Sum over the labels that are not wanted."""
    gone = [k for k, label in enumerate(labels) if label not in wanted]
    return total(m, x, gone), [label for label in labels if label in wanted]

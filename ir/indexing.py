"""Map the index of a result's element to the indices of the operand elements that it needs.

An index is a tuple of sizes (`dims`): polynomials over the loop variables. An affine map is given by the coefficients
of those variables.
"""

from __future__ import annotations

from . import dims
from .affine import accessed_index
from .dims import Size, symbol
from .graph import Node, Value
from .ops import ACCESS, BROADCAST, DIAGONAL, GATHER, MATMUL, RESHAPE, SCAN, SLICE, TRANSPOSE, Trait
from .products import factor_index
from .types import ints, sizes

Index = tuple[Size, ...]


def loop_name(axis: int) -> str:
    """The name of the loop variable of an axis; no size can have it."""
    return f"{dims.LOOP}{axis}"


def loop_variables(space: tuple[Size, ...]) -> Index:
    """The index of an iteration: one loop variable for each axis that is not of size 1."""
    return tuple(0 if size == 1 else symbol(loop_name(axis)) for axis, size in enumerate(space))


def operand_elements(node: Node, index: Index, looked_up: Size = 0) -> list[tuple[Value, Index]]:
    """Return the operand elements from which the element at `index` is computed.

    Only the call knows which element of its first operand a `gather` reads; `looked_up` stands for those indices.
    """
    if node.op is MATMUL:
        left, right = node.operands
        return [(v, factor_index(v.type.shape, index, is_left)) for v, is_left in ((left, True), (right, False))]
    if node.op is not GATHER:
        return [(v, operand_index(node, v, index)) for v in node.operands]
    source, *indices = node.operands
    at = gathered_index(node, index, (looked_up,) * len(indices))
    target = gather_target(node, index)
    return [(source, at), *((v, broadcast_index(v.type.shape, target)) for v in indices)]


def gather_target(node: Node, index: Index) -> Index:
    """The index at which a `gather` reads its index arrays."""
    axes, rank = ints(node.attrs, "axes"), node.operands[0].type.rank
    return index[axes[0] : len(index) - (rank - axes[-1] - 1)]


def gathered_index(node: Node, index: Index, looked_up: tuple[Size, ...]) -> Index:
    """The index at which a `gather` reads its first operand, given the values of its index arrays."""
    axes, rank = ints(node.attrs, "axes"), node.operands[0].type.rank
    return (*index[: axes[0]], *looked_up, *index[len(index) - (rank - axes[-1] - 1) :])


def operand_index(node: Node, operand: Value, index: Index) -> Index:
    """The index at which an elementwise op or a view reads its operand for the element at `index`."""
    if node.op is TRANSPOSE:
        order = ints(node.attrs, "order")
        return tuple(index[order.index(axis)] for axis in range(len(order)))
    if node.op is SLICE:
        starts, steps = sizes(node.attrs, "starts"), ints(node.attrs, "steps")
        return tuple(start + step * i for start, step, i in zip(starts, steps, index, strict=True))
    if node.op is DIAGONAL:
        places = dict(zip(ints(node.attrs, "axes"), sizes(node.attrs, "starts"), strict=True))
        others = iter(index)
        return tuple(places[k] + index[-1] if k in places else next(others) for k in range(len(index) + 1))
    if node.op is ACCESS:
        return accessed_index(node.attrs, index)
    if node.op is RESHAPE:
        found = reshape_index(operand.type.shape, node.result.type.shape, index)
        assert found is not None
        return found
    assert node.op in (BROADCAST, SCAN) or Trait.ELEMENTWISE in node.op.traits, node.op
    return broadcast_index(operand.type.shape, index)


def broadcast_index(shape: tuple[Size, ...], index: Index) -> Index:
    """The index in an array of `shape` that broadcasting reads for `index`."""
    aligned = index[len(index) - len(shape) :]
    if 1 not in shape:
        return aligned
    return tuple([0 if size == 1 else i for size, i in zip(shape, aligned, strict=True)])


def reshape_index(old: tuple[Size, ...], new: tuple[Size, ...], index: Index) -> Index | None:
    """The index before a reshape in C order, or None if it is not affine (merged axes need a division)."""
    found: list[Size] = []
    at = 0
    for size in old:
        if size == 1:
            found.append(0)
            continue
        covered: Size = 1
        linear: Size = 0
        while covered != size:
            if at == len(new) or dims.divide(size, covered * new[at]) is None:
                return None
            linear = linear * new[at] + index[at]
            covered = covered * new[at]
            at += 1
        found.append(linear)
    if any(size != 1 for size in new[at:]):
        return None
    return tuple(found)


def is_affine(node: Node) -> bool:
    """Whether a view only moves indices by an affine map, so that it costs nothing inside a loop."""
    if node.op is not RESHAPE:
        return True
    new = node.result.type.shape
    return reshape_index(node.operands[0].type.shape, new, loop_variables(new)) is not None

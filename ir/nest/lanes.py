"""Tell what a walk reduces and in how many lanes, and which loops may run in lanes."""

from __future__ import annotations

from .. import dims
from ..dims import LOOP, Size, symbols
from ..graph import Node
from ..ops import TABLE
from ..types import TensorType, ints, sizes, texts
from . import ops
from .scopes import base, guard_names, inside, variables


def reductions_of(walk: Node) -> list[Node]:
    """The reductions of a walk, each as an op on arrays."""
    if walk.op is not ops.WALK:
        return []
    names, steps = texts(walk.attrs, "combine"), ints(walk.attrs, "steps")
    chained = ints(walk.attrs, "chained") if "chained" in walk.attrs else [0] * len(names)
    assert walk.body is not None
    return [
        Node(
            TABLE[name], (element,), {"steps": count, **({"chained": True} if is_chained else {})},
            (TensorType(result.type.dtype),), walk.span,
        )
        for name, count, is_chained, element, result in zip(
            names, steps, chained, walk.body.outputs, walk.results, strict=True
        )
    ]  # fmt: skip


def lanes_of(walk: Node) -> int:
    """How many lanes the tree of a walk has; 0 if it has no lanes."""
    return max((n for v in walk.results if isinstance(n := (*v.type.shape, 0)[0], int)), default=0)


def position_of(walk: Node) -> Size:
    """Find where an element of a walk is among all that are reduced together, unless ranges depend on one another."""
    if "position" in walk.attrs:
        return sizes(walk.attrs, "position")[0]
    found: Size = 0
    for variable in variables(walk):
        found = found * (variable.end - variable.first) + dims.symbol(LOOP + variable.name) - variable.first
    return found


def can_be_vectors(loop: Node) -> bool:
    """Tell whether all lanes of a loop take the same path through its body, and store to different elements."""
    return can_be_lanes(loop) and not any(
        n.op in (ops.ALLOC, ops.SCAN) or (n.op is ops.STORE and not _stores_apart(n, loop)) for n in inside(loop)
    )


def can_be_lanes(loop: Node) -> bool:
    """Tell whether every inner loop has the same range in all steps of a loop, and no lanes of its own."""
    differing = _own_variables(loop)
    for inner in inside(loop):
        if inner.op is ops.WHILE or (inner.op is ops.WALK and lanes_of(inner) > 1):
            return False
        is_loop = inner.op in (ops.FOR, ops.WALK, ops.PRODUCT)
        if is_loop and any(symbols(s) & differing for s in sizes(inner.attrs, "range")):
            return False
        if inner.op is ops.CASE and guard_names(inner) & differing:
            return False
    return True


def _stores_apart(node: Node, loop: Node) -> bool:
    _, index = base(node.operands[-1], sizes(node.attrs, "at"))
    own = _own_variables(loop)
    return any(symbols(i) & own for i in index)


def _own_variables(loop: Node) -> set[str]:
    """The variables of a loop, and the numbers from data in it."""
    bound = [n for n in inside(loop) if n.op is ops.BIND]
    return {LOOP + v.name for n in (loop, *bound) for v in variables(n)}

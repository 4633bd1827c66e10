"""Find the windows of a region: reduced axes that move along the same array axis as a kept axis.

In `sum[k](x[i + k] * w[k])` the axis k is a window that moves with i. Vectors run along kept axes there, and the loops
over windows of a few elements are unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence

from .accesses import coefficient, region_elements
from .affine import steps_of
from .dims import Dim, Size
from .dtypes import F32, F64
from .graph import Node
from .ops import ACCESS, POSITIONS, TABLE, Trait
from .stages import known_stages
from .types import ints, sizes

STRAIGHT = 8  # most elements of an axis that is unrolled
MOST = 50  # most elements of a whole window


def window_axes(region: Node) -> tuple[int, ...]:
    """The axes that are windows."""
    assert region.body is not None
    space, reduced = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
    inputs, found = set(region.body.inputs), set[int]()
    if not reduced or not any(map(_moves, region.body)):
        return ()
    for value, index in region_elements(region):
        for place in index if value in inputs else ():
            along = [axis for axis in range(len(space)) if coefficient(place, axis) != 0]
            kept = [axis for axis in along if axis not in reduced and isinstance(coefficient(place, axis), int)]
            found.update(a for a in along if a in reduced and any(_is_within(space[a], space[b]) for b in kept))
    return tuple(sorted(found))


def _moves(node: Node) -> bool:
    """Tell whether a node is an access with several axes along one axis; splitting an axis makes no window."""
    rows = range(node.operands[0].type.rank) if node.op is ACCESS else ()
    return any(sum(step != 0 for step in steps_of(node.attrs, axis)) > 1 for axis in rows)


def _is_within(window: Size, way: Size) -> bool:
    """Tell whether a window is the shorter of the two axes, as far as the sizes show.

    Both run along one axis, so in `sum[i](x[i] * x[i + k])` the long axis i could be taken for a window of the short
    axis k.
    """
    return isinstance(window, int) or not isinstance(way, Dim) or not _is_less(window, way)


def _is_less(size: Size, other: Dim) -> bool:
    """Whether a size is another size minus this one, as `n - m` is for `m`."""
    return isinstance(size, Dim) and any(c < 0 and m and m == other.terms[0][0] for m, c in size.terms)


def is_one_walk(region: Node) -> bool:
    """Whether one walk over the columns is enough for all reductions of a region, and nothing else needs a walk."""
    body, space = region.body, tuple(sizes(region.attrs, "space"))
    assert body is not None
    stages, reductions = known_stages(body), [n for n in body if Trait.REDUCTION in n.op.traits]
    is_plain = not any(n.op in POSITIONS or stages[n.operands[0]] for n in reductions)
    return is_plain and not any(v.type.shape == space for v in body.outputs)


def product_in_sum(node: Node) -> tuple[Node, tuple[Node, ...]] | None:
    """The product that a sum adds up, if an FMA can add it, and the views between the two.

    The views come in the order in which a walk from the sum meets them.
    """
    if node.op is not TABLE["sum"] or node.result.type.dtype not in (F32, F64):
        return None
    term, views = node.operands[0].node, list[Node]()
    while term is not None and Trait.VIEW in term.op.traits:
        views.append(term)
        term = term.operands[0].node
    return (term, tuple(views)) if term is not None and term.op is TABLE["mul"] else None


def unrolled_lengths(numbers: Sequence[int]) -> tuple[int, ...]:
    """Lengths of the windows to unroll, innermost first, while the code stays small; 0 for windows that stay loops."""
    total, found = 1, list[int]()
    for number in reversed(numbers):
        total = total * number if 0 < number <= STRAIGHT else MOST + 1
        found.append(number if total <= MOST else 0)
    return tuple(reversed(found))

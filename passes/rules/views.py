"""Simplify views that do nothing, views of views, views of one number, and reductions over no axis."""

from __future__ import annotations

from ...ir.affine import composed, steps_of
from ...ir.dims import Size
from ...ir.graph import Node, Value
from ...ir.ops import ACCESS, BROADCAST, POSITIONS, REDUCTIONS, RESHAPE, SLICE, TABLE, TRANSPOSE, VIEWS, OpDef
from ...ir.types import Sizes, ints, sizes
from .site import Rule, Site


def of_one_number(site: Site) -> Value | None:
    """Replaces a view of an array that is filled with one number by that number, broadcast."""
    inner = _inner(site, BROADCAST)
    if inner is None or inner.operands[0].type.shape:
        return None
    return site.shaped(inner.operands[0])


def transpose(site: Site) -> Value | None:
    order = ints(site.attrs, "order")
    if order == tuple(range(len(order))):
        return site.operands[0]
    inner = _inner(site, TRANSPOSE)
    if inner is None:
        return None
    first = ints(inner.attrs, "order")
    return site.make(TRANSPOSE, inner.operands[0], order=tuple(first[axis] for axis in order))


def slice_(site: Site) -> Value | None:
    starts, steps = sizes(site.attrs, "starts"), ints(site.attrs, "steps")
    if site.type == site.operands[0].type and not any(starts) and all(step == 1 for step in steps):
        return site.operands[0]
    inner = _inner(site, SLICE)
    if inner is None:
        return None
    first, stride = sizes(inner.attrs, "starts"), ints(inner.attrs, "steps")
    begin: list[Size] = [a + step * b for a, step, b in zip(first, stride, starts, strict=True)]
    step = tuple(a * b for a, b in zip(stride, steps, strict=True))
    return site.make(SLICE, inner.operands[0], starts=Sizes(begin), steps=step, sizes=sizes(site.attrs, "sizes"))


def reshape(site: Site) -> Value | None:
    if site.type == site.operands[0].type:
        return site.operands[0]
    inner = _inner(site, RESHAPE)
    return site.make_node(RESHAPE, inner.operands, site.attrs, site.span) if inner is not None else None


def access(site: Site) -> Value | None:
    """Joins two accesses; turns an access into a slice and a transpose if each operand axis is one result axis."""
    inner = _inner(site, ACCESS)
    if inner is not None:
        starts, steps = composed(site.attrs, inner.attrs)
        return site.make(ACCESS, inner.operands[0], shape=sizes(site.attrs, "shape"), starts=starts, steps=steps)
    shape, starts = sizes(site.attrs, "shape"), sizes(site.attrs, "starts")
    taken, strides = list[int](), list[int]()
    for axis in range(len(starts)):
        found = [(b, step) for b, step in enumerate(steps_of(site.attrs, axis)) if step != 0]
        if len(found) != 1 or not isinstance(found[0][1], int):
            return None
        taken.append(found[0][0])
        strides.append(found[0][1])
    if sorted(taken) != list(range(len(shape))):
        return None
    counts = Sizes(shape[b] for b in taken)
    part = site.make(SLICE, site.operands[0], starts=starts, steps=tuple(strides), sizes=counts)
    return site.make(TRANSPOSE, part, order=tuple(taken.index(b) for b in range(len(shape))))


def broadcast(site: Site) -> Value | None:
    if site.type == site.operands[0].type:
        return site.operands[0]
    inner = _inner(site, BROADCAST)
    return site.make(BROADCAST, inner.operands[0], shape=Sizes(site.type.shape)) if inner is not None else None


def reduction(site: Site) -> Value | None:
    """Drops a reduction over no axis; not a float sum, which starts from 0.0 and so turns -0.0 into 0.0."""
    if ints(site.attrs, "axes"):
        return None
    if site.op is SUM and not site.dtype.is_integer:
        return site.make(TABLE["add"], site.operands[0], site.number(0.0))
    return site.operands[0]


def of_all_elements(site: Site) -> Value | None:
    """Drops a reshape under a reduction over all axes, which does not depend on the shape."""
    inner = _inner(site, RESHAPE)
    if inner is None or site.type.shape or not (rank := inner.operands[0].type.rank):
        return None
    return site.make_node(site.op, inner.operands, {**site.attrs, "axes": tuple(range(rank))}, site.span)


def position(site: Site) -> Value | None:
    """Replaces a position over no axis by 0."""
    return None if ints(site.attrs, "axes") else site.filled(0)


def _inner(site: Site, op: OpDef) -> Node | None:
    node = site.operands[0].node
    return node if node is not None and node.op is op else None


SUM = REDUCTIONS[0]
_OWN: dict[OpDef, Rule] = {
    TRANSPOSE: transpose, SLICE: slice_, RESHAPE: reshape, ACCESS: access, BROADCAST: broadcast,
}  # fmt: skip
RULES: dict[OpDef, tuple[Rule, ...]] = {
    **dict.fromkeys(VIEWS, (of_one_number,)),
    **{op: (own, of_one_number) for op, own in _OWN.items()},
    **dict.fromkeys(REDUCTIONS, (reduction, of_all_elements)),
    **dict.fromkeys(POSITIONS, (position, of_all_elements)),
}

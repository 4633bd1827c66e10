"""Emit reductions along ranges, in the tree that `backends/tree.py` defines.

Elements are dealt to the lanes of the result in turn. A block has `steps` elements for each lane, added one after
another; each run of the innermost range begins a block. Blocks are combined in pairs, pairs of pairs and so on, with
one partial result in memory for each binary digit of the number of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.dims import LOOP
from ....ir.errors import Unsupported
from ....ir.graph import Node, Value
from ....ir.nest import ops
from ....ir.nest.scopes import variables
from ....ir.ops import TABLE
from ....ir.types import TensorType, integer, ints
from ..code.tail import load, store
from ..code.text import Val
from ..elements.combine import combined
from ..reductions.accumulators import Accumulators, combine
from . import numbers
from .function import NestFunction, Points
from .loops import can_be_vector, lane_mask, vector_point
from .points import Lanes
from .positions import nested, position


def walk(f: NestFunction, node: Node, points: Points) -> None:
    """Emits a `nest.walk`."""
    names, found = node.attrs["combine"], variables(node)
    assert isinstance(names, tuple) and node.body is not None
    if "position" in node.attrs:
        raise Unsupported("a walk can't number its elements otherwise ('position') in this nest", node.span)
    if any(str(name) in ops.POSITIONS for name in names):
        if len(names) > 1:
            raise Unsupported("a walk that gives a position can't have other results", node.span)
        position(f, node, points)
    elif node.attrs["kind"] == "vector" and len(found) == 1 and can_be_vector(node, points):
        _in_vectors(f, node, points)
    else:
        _one_by_one(f, node, points)


# -- the tree


def _tree(f: NestFunction, node: Node, k: int, count: int, lanes: int) -> Accumulators:
    """The accumulators of one result at some points."""
    names = node.attrs["combine"]
    assert isinstance(names, tuple) and node.body is not None
    total, steps = TensorType(node.body.outputs[k].type.dtype), ints(node.attrs, "steps")[k]
    reduction = Node(TABLE[str(names[k])], (), {"steps": steps}, (total,), node.span)
    return Accumulators(reduction, f.nest, f.frame, count, lanes, is_across=False)


def _cut(carried: Sequence[Val], trees: Sequence[Accumulators]) -> list[list[Val]]:
    """Split a list into the values of each tree."""
    found, at = [], 0
    for tree in trees:
        found.append(list(carried[at : at + tree.slots]))
        at += tree.slots
    return found


# -- along one range in vectors


def _in_vectors(f: NestFunction, node: Node, points: Points) -> None:
    assert node.body is not None
    (variable,) = variables(node)
    first, end = (numbers.scalar(f, s, points[0]) for s in (variable.first, variable.end))
    lanes = _lane_count(node.results[0])
    width = min(lanes, integer(node.attrs, "width") if "width" in node.attrs else lanes)
    slots = lanes // width
    if any(_lane_count(v) != lanes for v in node.results):
        raise Unsupported("the results of a walk must have the same number of lanes", node.span)
    trees = [_tree(f, node, k, slots * len(points), width) for k in range(len(node.results))]
    body = node.body

    def step(at: Val, carried: list[Val], limit: Val | None) -> list[Val]:
        inner = [vector_point(f, p, variable.name, at, width, k) for p in points for k in range(slots)]
        masks = [None if limit is None else lane_mask(f, p.env["@" + variable.name], limit, width) for p in inner]
        inner = [p if m is None else p.masked(m) for p, m in zip(inner, masks, strict=True)]
        f.body(body, inner)
        found: list[Val] = []
        for value, tree, older in zip(body.outputs, trees, _cut(carried, trees), strict=True):
            for point, mask, old in zip(inner, masks, older, strict=True):
                new = combine(f.e, tree.node, old, f.spread(point.values[value], point))
                found.append(new if mask is None else f.e.select(mask, new, old))
        return found

    last, blocks = _blocks(f, trees, first, end, lanes, step)
    for tree, result, values in zip(trees, node.results, _cut(last, trees), strict=True):
        found = tree.finish(values, blocks)
        for k, point in enumerate(points):
            point.lanes[result] = found[k * slots : (k + 1) * slots]


def _lane_count(value: Value) -> int:
    found = value.type.shape[0]
    assert isinstance(found, int)
    return found


Step = Callable[[Val, "list[Val]", "Val | None"], "list[Val]"]


def _blocks(
    f: NestFunction, trees: Sequence[Accumulators], first: Val, end: Val, lanes: int, step: Step
) -> tuple[list[Val], Val]:
    """Walk a range in blocks; return the accumulators of the last block, and how many blocks came before it."""
    e, zero = f.e, f.e.const("i64", 0)
    steps = trees[0].steps
    if any(tree.steps != steps for tree in trees):
        raise Unsupported("the reductions of a walk must have the same steps")
    start = [tree.missing for tree in trees for _ in range(tree.slots)]

    def block(at: Val, limit: Val) -> list[Val]:
        at, *found = f.repeat(at, limit, lanes, start, lambda k, carried: step(k, carried, None), whole=True)
        if lanes > 1:
            _, *found = f.repeat(at, limit, lanes, found, lambda k, carried: step(k, carried, limit))
        return found

    if not steps:
        return block(first, end), zero
    size = e.const("i64", lanes * steps)
    head, done, before = e.label("head"), e.label("done"), e.block
    at, count = Val(e.name(), "i64", 0), Val(e.name(), "i64", 0)
    e.br(head)
    e.place(head)
    place = len(e.lines)
    e.lines.extend(("", ""))
    after = e.op("add nsw", at, size)
    found = block(at, e.call("smin", after, end))
    on = e.label("on")
    e.cbr(e.icmp("sge", after, end), done, on)
    e.place(on)
    for tree, values in zip(trees, _cut(found, trees), strict=True):
        tree.push(values, count)
    more = e.op("add nsw", count, e.const("i64", 1))
    e.lines[place] = f"  {at.text} = phi i64 [ {first.text}, %{before} ], [ {after.text}, %{e.block} ]"
    e.lines[place + 1] = f"  {count.text} = phi i64 [ 0, %{before} ], [ {more.text}, %{e.block} ]"
    e.br(head)
    e.place(done)
    return found, count


# -- element by element


def _one_by_one(f: NestFunction, node: Node, points: Points) -> None:
    """Emit a walk over single elements, in the lanes of the loops around it."""
    assert node.body is not None
    body, found = node.body, variables(node)
    if node.results[0].type.kind == "vector":
        _lanes_in_memory(f, node, points)
        return
    trees = [_tree(f, node, k, len(points), points[0].width) for k in range(len(node.results))]

    def step(inner: Points, carried: list[Val]) -> list[Val]:
        f.body(body, inner)
        after: list[Val] = []
        for value, tree, older in zip(body.outputs, trees, _cut(carried, trees), strict=True):
            after += [
                combine(f.e, tree.node, o, f.spread(p.values[value], p)) for p, o in zip(inner, older, strict=True)
            ]
        return after

    if len(found) == 1:
        (variable,) = found
        first, end = (numbers.scalar(f, s, points[0]) for s in (variable.first, variable.end))
        last, blocks = _blocks(
            f, trees, first, end, 1, lambda at, c, _: step([p.step(variable.name, at) for p in points], c)
        )
    else:
        last, blocks = _counted(f, node, points, trees, step)
    for tree, result, values in zip(trees, node.results, _cut(last, trees), strict=True):
        for point, value in zip(points, tree.finish(values, blocks), strict=True):
            point.values[result] = value


def _counted(
    f: NestFunction,
    node: Node,
    points: Points,
    trees: Sequence[Accumulators],
    step: Callable[[Points, list[Val]], list[Val]],
) -> tuple[list[Val], Val]:
    """Walk several ranges and count elements: a block ends when it is full, or with its run."""
    e, steps = f.e, trees[0].steps
    start = [tree.missing for tree in trees for _ in range(tree.slots)]
    zero, one = e.const("i64", 0), e.const("i64", 1)

    def element_of(inner: Points, carried: list[Val]) -> list[Val]:
        count, blocks, *values = carried
        if steps:
            full, on, before = e.label("full"), e.label("on"), e.block
            e.cbr(_is_full(f, node, inner, count, steps), full, on)
            e.place(full)
            for tree, own in zip(trees, _cut(values, trees), strict=True):
                tree.push(own, blocks)
            more, after = e.op("add nsw", blocks, one), e.block
            e.br(on)
            e.place(on)
            pairs = [(count, zero), (blocks, more), *zip(values, start, strict=True)]
            count, blocks, *values = (
                e.emit(f"phi {a.type} [ {a.text}, %{before} ], [ {b.text}, %{after} ]", a.elem, a.lanes)
                for a, b in pairs
            )
        return [e.op("add nsw", count, one), blocks, *step(inner, values)]

    _, blocks, *last = nested(f, node, points, [zero, zero, *start], element_of)
    return last, blocks


def _is_full(f: NestFunction, node: Node, inner: Points, count: Val, most: int) -> Val:
    """Whether a block of `count` elements has ended: it has as many as it can, or its run has."""
    e, last = f.e, variables(node)[-1]
    begins = e.icmp("eq", inner[0].env[LOOP + last.name], numbers.scalar(f, last.first, inner[0]))
    has_some = e.icmp("ne", count, e.const("i64", 0))
    return e.op("or", e.icmp("eq", count, e.const("i64", most)), e.op("and", begins, has_some))


def _lanes_in_memory(f: NestFunction, node: Node, points: Points) -> None:
    """Emit a walk whose elements can't be computed as vectors: the accumulators of its lanes are in memory."""
    assert node.body is not None
    body, e = node.body, f.e
    lanes, zero, one = _lane_count(node.results[0]), e.const("i64", 0), e.const("i64", 1)
    count = e.const("i64", lanes)
    trees = [[_tree(f, node, k, 1, p.width) for _ in range(lanes)] for p in points for k in range(len(node.results))]
    cells = [f.frame.reserve(lanes * own[0].row) for own in trees]
    steps = trees[0][0].steps

    def at(cell: int, lane: Val) -> Val:
        return e.offset(cells[cell], e.op("mul", lane, e.const("i64", trees[cell][0].row)))

    def clear() -> None:
        for cell, own in enumerate(trees):
            for lane in range(lanes):
                store(e, own[0].missing, at(cell, e.const("i64", lane)))

    def value(cell: int, lane: Val) -> Val:
        own = trees[cell][0].missing
        return load(e, own.elem, own.lanes, at(cell, lane))

    def push(blocks: Val) -> None:
        for cell, own in enumerate(trees):
            for lane in range(lanes):
                own[lane].push([value(cell, e.const("i64", lane))], blocks)

    def element_of(inner: Points, carried: list[Val]) -> list[Val]:
        number, blocks = carried
        if steps:
            full, on, before = e.label("full"), e.label("on"), e.block
            e.cbr(_is_full(f, node, inner, number, lanes * steps), full, on)
            e.place(full)
            push(blocks)
            clear()
            more, after = e.op("add nsw", blocks, one), e.block
            e.br(on)
            e.place(on)
            number = e.emit(f"phi i64 [ {number.text}, %{before} ], [ 0, %{after} ]", "i64", 0)
            blocks = e.emit(f"phi i64 [ {blocks.text}, %{before} ], [ {more.text}, %{after} ]", "i64", 0)
        f.body(body, inner)
        lane, cell = e.op("urem", number, count), 0
        for point in inner:
            for output in body.outputs:
                own = trees[cell][0]
                store(e, combine(e, own.node, value(cell, lane), f.spread(point.values[output], point)), at(cell, lane))
                cell += 1
        return [e.op("add nsw", number, one), blocks]

    clear()
    _, blocks = nested(f, node, points, [zero, zero], element_of)
    cell = 0
    for point in points:
        for result in node.results:
            found = [own.finish([value(cell, e.const("i64", lane))], blocks)[0] for lane, own in enumerate(trees[cell])]
            point.lanes[result] = found
            cell += 1


def across(f: NestFunction, node: Node, points: Points) -> None:
    """Combines the upper half of a walk's lanes with the lower half until one is left."""
    e, op = f.e, ops.combiner(str(node.attrs["combine"]))
    dtype = node.result.type.dtype
    for point in points:
        found: Lanes = point.lanes[node.operands[0]]
        while len(found) > 1:
            half = len(found) // 2
            found = [combined(e, op, dtype, a, b) for a, b in zip(found[:half], found[half:], strict=True)]
        (last,) = found
        while last.lanes > point.width:
            half = last.lanes // 2
            low, high = (e.shuffle(last, last, list(range(k, k + half))) for k in (0, half))
            if half == 1 and not point.width:
                low, high = e.extract(last, 0), e.extract(last, 1)
            last = combined(e, op, dtype, low, high)
        point.values[node.result] = last


def scan(f: NestFunction, node: Node, points: Points) -> None:
    """Combine an element with all elements before it."""
    e, op = f.e, ops.combiner(str(node.attrs["combine"]))
    dtype = node.result.type.dtype
    for point in points:
        running, has_one = point.cells[node]
        x = f.spread(point.values[node.operands[0]], point)
        older = e.load(running, x.elem, x.lanes, 64)
        both = combined(e, op, dtype, older, x)
        found = e.select(e.load(has_one, "i1", 0, 1), both, x)
        e.store(found, running, 64)
        e.store(e.const("i1", 1), has_one, 1)
        point.values[node.result] = found

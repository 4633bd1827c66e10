"""Emit walks that give a position: the first of the largest or the smallest elements.

In vectors each lane keeps its own best element and its position, and lanes are compared at the end: of equal elements
the earlier one wins. NaN counts as larger and as smaller than any number, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ir.graph import Node
from ....ir.nest.scopes import variables
from ....ir.types import integer
from ..code.casts import element
from ..code.text import Val
from . import numbers
from .function import NestFunction, Points
from .leaving import leave_if
from .loops import can_be_vector, lane_mask, vector_point

SLOTS = 2  # vectors in a step
LANES = 8  # of a vector, if the nest does not say


def position(f: NestFunction, node: Node, points: Points) -> None:
    """Emit a walk that gives a position."""
    is_vector = node.attrs["kind"] == "vector" and len(variables(node)) == 1
    (_in_vectors if is_vector and can_be_vector(node, points) else _one_by_one)(f, node, points)


def _in_vectors(f: NestFunction, node: Node, points: Points) -> None:
    assert node.body is not None
    e, body, (variable,) = f.e, node.body, variables(node)
    name, kind, elem = _name(node), body.outputs[0].type.dtype.kind, element(body.outputs[0].type.dtype)
    width = integer(node.attrs, "width") if "width" in node.attrs else LANES
    first, end = (numbers.scalar(f, s, points[0]) for s in (variable.first, variable.end))
    leave_if(f, e.icmp("sge", first, end), node)

    def step(at: Val, carried: list[Val], is_tail: bool) -> list[Val]:
        inner = [vector_point(f, p, variable.name, at, width, k) for p in points for k in range(SLOTS)]
        starts = [p.env["@" + variable.name] for p in inner]
        masks = [lane_mask(f, start, end, width) if is_tail else None for start in starts]
        inner = [p if m is None else p.masked(m) for p, m in zip(inner, masks, strict=True)]
        f.body(body, inner)
        after = []
        for k, (point, start, mask) in enumerate(zip(inner, starts, masks, strict=True)):
            best, place = carried[2 * k : 2 * k + 2]
            x = f.spread(point.values[body.outputs[0]], point)
            wins = e.op("or", _beats(f, name, kind, x, best), e.icmp("slt", place, e.zero_like(place)))
            wins = wins if mask is None else e.op("and", wins, mask)
            own = e.op("add", e.splat(start, width), numbers.lane_numbers(f, width))
            after += [e.select(wins, x, best), e.select(wins, own, place)]
        return after

    none = [e.zero_like(Val("", elem, width)), e.const("i64", -1, width)] * (SLOTS * len(points))
    rest, *found = f.repeat(first, end, SLOTS * width, none, lambda at, c: step(at, c, False), whole=True)
    _, *found = f.repeat(rest, end, SLOTS * width, found, lambda at, c: step(at, c, True))
    for k, point in enumerate(points):
        own = found[2 * SLOTS * k : 2 * SLOTS * (k + 1)]
        best, place = own[:2]
        for slot in range(1, SLOTS):
            best, place = _better(f, name, kind, (best, place), (own[2 * slot], own[2 * slot + 1]))
        while best.lanes:
            half = best.lanes // 2
            (low, high), (before, after) = (_halves(f, x, half) for x in (best, place))
            best, place = _better(f, name, kind, (low, before), (high, after))
        point.values[node.result] = e.op("sub", place, first)


def _halves(f: NestFunction, x: Val, half: int) -> tuple[Val, Val]:
    if half == 1:
        return f.e.extract(x, 0), f.e.extract(x, 1)
    return f.e.shuffle(x, x, list(range(half))), f.e.shuffle(x, x, list(range(half, 2 * half)))


def _better(f: NestFunction, name: str, kind: str, a: tuple[Val, Val], b: tuple[Val, Val]) -> tuple[Val, Val]:
    """Return the better of two elements with their positions; a negative position stands for no element."""
    e = f.e
    is_tie = e.not_(_beats(f, name, kind, a[0], b[0]))
    earlier = e.op("and", is_tie, e.icmp("slt", b[1], a[1]))
    wins = e.op("or", _beats(f, name, kind, b[0], a[0]), earlier)
    wins = e.op("or", wins, e.icmp("slt", a[1], e.zero_like(a[1])))
    wins = e.op("and", wins, e.icmp("sge", b[1], e.zero_like(b[1])))
    return e.select(wins, b[0], a[0]), e.select(wins, b[1], a[1])


def _name(node: Node) -> str:
    names = node.attrs["combine"]
    assert isinstance(names, tuple)
    return str(names[0])


def _one_by_one(f: NestFunction, node: Node, points: Points) -> None:
    """Finds the first of the largest or smallest elements; NaN counts as larger and as smaller than any number."""
    assert node.body is not None
    e, body, dtype = f.e, node.body, node.body.outputs[0].type.dtype
    names = node.attrs["combine"]
    assert isinstance(names, tuple)
    name = str(names[0])
    elem = element(dtype)
    start: list[Val] = [e.const("i64", 0)]
    for point in points:
        start += [e.zero_like(Val("", elem, point.width)), e.zero_like(Val("", "i64", point.width))]

    def step(inner: Points, carried: list[Val]) -> list[Val]:
        number, is_first = carried[0], e.icmp("eq", carried[0], e.const("i64", 0))
        f.body(body, inner)
        after = [e.op("add nsw", number, e.const("i64", 1))]
        for k, point in enumerate(inner):
            best, position = carried[1 + 2 * k : 3 + 2 * k]
            x = f.spread(point.values[body.outputs[0]], point)
            wins = e.op("or", _beats(f, name, dtype.kind, x, best), f.spread(is_first, point))
            after += [e.select(wins, x, best), e.select(wins, f.spread(number, point), position)]
        return after

    count, *found = nested(f, node, points, start, step)
    leave_if(f, e.icmp("eq", count, e.const("i64", 0)), node)
    for k, point in enumerate(points):
        point.values[node.result] = found[1 + 2 * k]


def _beats(f: NestFunction, name: str, kind: str, x: Val, best: Val) -> Val:
    e = f.e
    if kind == "float":
        wins = e.fcmp("ogt" if name == "argmax" else "olt", x, best)
        only = e.op("and", e.fcmp("uno", x, x), e.fcmp("ord", best, best))
        return e.op("or", wins, only)
    return e.icmp(("s" if kind == "int" else "u") + ("gt" if name == "argmax" else "lt"), x, best)


def nested(
    f: NestFunction,
    node: Node,
    points: Points,
    carried: list[Val],
    body: Callable[[Points, list[Val]], list[Val]],
    depth: int = 0,
) -> list[Val]:
    """Runs `body` for every combination of a walk's variables, outermost first."""
    found = variables(node)
    if depth == len(found):
        return body(points, carried)
    variable = found[depth]
    first, end = (numbers.scalar(f, s, points[0]) for s in (variable.first, variable.end))

    def run(at: Val, values: list[Val]) -> list[Val]:
        return nested(f, node, [p.step(variable.name, at) for p in points], values, body, depth + 1)

    return f.repeat(first, end, 1, carried, run)[1:]

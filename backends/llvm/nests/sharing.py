"""Share loops between threads: the body becomes a separate function, which the thread pool runs in pieces.

Variables, numbers and memory that the body needs are passed in words of the frame. A shared loop that only contains
another shared loop is split along both. Without a thread pool the function runs over the whole range.
"""

from __future__ import annotations

from ....ir.graph import Node
from ....ir.nest.costs import middle_cost
from ....ir.nest.rules import uses
from ....ir.nest.scopes import free_values, guard_names, inside, shared_loops, variables, views_of
from ....ir.types import integer, sizes
from ..code.text import Val
from ..functions import UNTILED, FrameWord
from . import numbers
from .function import LEAVE, STATUS, NestFunction, Points
from .points import Point

SHARED_FROM = 16_000_000  # picoseconds, as estimated, of a loop that threads share


def is_shared(f: NestFunction, node: Node, points: Points) -> bool:
    """Tell whether to share a loop here: it is marked, and no loop around it is shared or runs in lanes."""
    return bool(node.attrs.get("shared")) and not f.is_worker and len(points) == 1 and points[0].vector is None


def share(f: NestFunction, node: Node, point: Point) -> None:
    """Emits a shared loop."""
    e, loops = f.e, shared_loops(node)
    ranges = [[numbers.scalar(f, s, point) for s in sizes(loop.attrs, "range")] for loop in loops]
    extents = [e.call("smax", e.op("sub nsw", end, first), e.const("i64", 0)) for first, end in ranges]
    extents += [e.const("i64", 1)] * (2 - len(extents))
    unit = numbers.time_of(f, middle_cost(loops), point)
    made = _outlined(f, node, loops, point)
    grains = [_count(loop, "grain", 1) for loop in loops] + [1] * (2 - len(loops))
    tile = _count(loops[-1], "most", UNTILED) if len(loops) == 2 else UNTILED
    if len(loops) == 1:  # the pool cuts the inner loop of two by the tile
        extents, grains = extents[::-1], grains[::-1]
        tile = _count(node, "most", UNTILED)
    launch, workers = f.frame.word(FrameWord("launch"), "ptr"), f.frame.word(FrameWord("workers"), "i64")
    some, alone, pool, done = (e.label(hint) for hint in ("some", "alone", "pool", "done"))
    e.cbr(e.icmp("eq", e.op("mul", *extents), e.const("i64", 0)), done, some)
    e.place(some)
    # sharing costs more than a short loop takes
    time = e.op("mul", e.op("mul", *extents), unit)
    is_short = e.icmp("slt", time, e.const("i64", SHARED_FROM))
    e.cbr(e.op("or", is_short, e.icmp("eq", launch, Val("null", "ptr", 0))), alone, pool)
    e.place(alone)
    whole = f"i64 0, i64 {extents[0].text}, i64 0, i64 {extents[1].text}, i64 0"
    found = e.emit(f"call i32 @{made}(ptr %frame, {whole})", "i32", 0)
    _go_on(f, found, done)
    e.place(pool)
    arguments = (*extents, unit, *(e.const("i64", g) for g in grains), e.const("i64", tile), workers)
    listed = ", ".join(x.typed for x in arguments)
    found = e.emit(f"call i32 {launch.text}(ptr @{made}, ptr %frame, {listed})", "i32", 0)
    _go_on(f, found, done)
    e.place(done)


def _go_on(f: NestFunction, status: Val, done: str) -> None:
    """Continue if a function succeeded, otherwise leave with its status."""
    e, bad = f.e, f.e.label("bad")
    e.cbr(e.icmp("eq", status, e.const("i32", 0)), done, bad)
    e.place(bad)
    e.store(status, STATUS, 4)
    e.br(LEAVE)


def _count(node: Node, name: str, default: int) -> int:
    return integer(node.attrs, name) if name in node.attrs else default


# -- the function


def _outlined(f: NestFunction, node: Node, loops: list[Node], point: Point) -> str:
    """Writes the function of a shared loop; gives its name."""
    from .loops import over
    from .memory import inputs

    name = f"{f.module.name}_{len(f.module.outlined)}"
    f.module.outlined.append(name)
    g = NestFunction(f.module, name, f.table)
    g.is_worker = True
    inputs(g)
    inner = Point()
    _hand_over(f, g, node, point, inner)
    bounds = [[numbers.scalar(g, s, inner) for s in sizes(loop.attrs, "range")] for loop in loops]
    places = ((0, 1), (2, 3)) if len(loops) == 2 else ((2, 3),)
    names = ("%begin0", "%end0", "%begin1", "%end1")
    whole = [
        [g.e.op("add nsw", first, Val(names[k], "i64", 0)) for k in pair]
        for (first, _), pair in zip(bounds, places, strict=True)
    ]
    if len(loops) == 2:
        outer = variables(loops[0])[0].name

        def run(at: Val, _: list[Val]) -> list[Val]:
            over(g, loops[1], [inner.step(outer, at)], *whole[1])
            return []

        g.repeat(whole[0][0], whole[0][1], 1, (), run)
    else:
        over(g, node, [inner], *whole[0])
    g.finish()
    return name


def _hand_over(f: NestFunction, g: NestFunction, node: Node, point: Point, inner: Point) -> None:
    """Write what the body needs to the frame, and read it back in the function."""
    nodes = (node, *inside(node))
    names = {name for n in (*nodes, *views_of(nodes)) for name in (*uses(n), *guard_names(n))}
    for name, number in point.env.items():
        if name in names:
            inner.env[name] = _passed(f, g, number)
    for value in dict.fromkeys(free_values(node)):
        if value in point.values:
            inner.values[value] = _passed(f, g, point.values[value])
        if value in point.parts:
            re, im = point.parts[value]
            inner.parts[value] = (_passed(f, g, re), _passed(f, g, im))
        if value in point.lanes:
            inner.lanes[value] = [_passed(f, g, x) for x in point.lanes[value]]
    for scan, cells in point.cells.items():
        inner.cells[scan] = (_passed(f, g, cells[0]), _passed(f, g, cells[1]))


def _passed(f: NestFunction, g: NestFunction, value: Val) -> Val:
    """Return a value after passing it through the frame."""
    if not value.text.startswith("%"):
        return value
    words = max(1, value.lanes)
    k = f.module.captured
    f.module.captured += words
    places = [f.module.word("captured", k + i) for i in range(words)]
    f.e.store(value, f.in_entry(f"getelementptr i8, ptr %frame, i64 {8 * places[0]}", "ptr"))
    at = g.in_entry(f"getelementptr i8, ptr %frame, i64 {8 * places[0]}", "ptr")
    with g.nest.at(g.nest.entry):
        return g.e.load(at, value.elem, value.lanes)

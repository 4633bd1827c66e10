"""Emit the loops and branches of nests: serial, vector, unrolled and jammed loops, `while`, `when` and `switch`.

If the lanes of a vector or jammed loop would take different paths through inner loops, the loop runs serially. The
verifier's rules allow that for every loop.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ir.graph import Node
from ....ir.nest import ops
from ....ir.nest.costs import body_cost, depth
from ....ir.nest.lanes import can_be_lanes, can_be_vectors
from ....ir.nest.memory import paired_stores
from ....ir.nest.registers import Element, kept_elements
from ....ir.nest.scopes import inside, variables
from ....ir.types import Guards, integer, sizes
from ..code.casts import element
from ..code.text import Val
from ..loops.vector_loops import lane_mask
from . import numbers
from .function import NestFunction, Points
from .leaving import ask_after
from .memory import itemsize, load_element, store_element
from .points import Point
from .sharing import is_shared, share

DEFAULT_JAM = 4
SHORT, COPIES = 7, 4  # ops of a body that a serial loop has copies of, and how many
PART = 1_000_000_000  # picoseconds, as estimated, of the steps of a loop between two questions


def loop(f: NestFunction, node: Node, points: Points) -> None:
    """Emits a `nest.for`."""
    assert node.body is not None
    (variable,) = variables(node)
    if is_shared(f, node, points):
        share(f, node, points[0])
        return
    if node.attrs["kind"] == "unrolled":
        _unrolled(f, node, points)
        return
    first_value, end_value = (numbers.scalar(f, s, points[0]) for s in (variable.first, variable.end))
    over(f, node, points, first_value, end_value)


def over(f: NestFunction, node: Node, points: Points, first: Val, end: Val) -> None:
    """Emits a loop of any kind over a range that is computed."""
    begin_scans(f, node, points)
    kind = node.attrs["kind"]
    if kind == "vector" and can_be_vector(node, points):
        _vector(f, node, points, first, end)
    elif kind == "jammed" and can_be_lanes(node):
        _jammed(f, node, points, first, end)
    else:
        _serial(f, node, points, first, end)


def _unrolled(f: NestFunction, node: Node, points: Points) -> None:
    """Emit the steps one after another; each gets the numbers that the one before carries on."""
    assert node.body is not None
    body, name = node.body, variables(node)[0].name
    first, end = sizes(node.attrs, "range")
    assert isinstance(first, int) and isinstance(end, int)
    carried = [[p.values[v] for v in node.operands] for p in points]
    for k in range(first, end):
        steps = [p.step(name, f.e.const("i64", k)) for p in points]
        for step, values in zip(steps, carried, strict=True):
            step.put(body.inputs, values)
        f.body(body, steps)
        carried = [[step.values[v] for v in body.outputs] for step in steps]
    for point, values in zip(points, carried, strict=True):
        point.put(node.results, values)


def _serial(f: NestFunction, node: Node, points: Points, first: Val, end: Val) -> None:
    assert node.body is not None
    if len(points) == 1 and points[0].vector is None and (kept := kept_elements(f.module.nest, node)):
        _in_registers(f, node, points[0], first, end, kept)
        return
    body, (variable,) = node.body, variables(node)

    def run(at: Val, carried: list[Val]) -> list[Val]:
        steps = [p.step(variable.name, at) for p in points]
        for k, step in enumerate(steps):
            step.put(body.inputs, carried[k * count : (k + 1) * count])
        f.body(body, steps)
        return [f.spread(step.values[v], step) for step in steps for v in body.outputs]

    def range_of(begin: Val, limit: Val, carried: list[Val]) -> list[Val]:
        if len(points) == 1 and _is_short(node):
            begin, *carried = f.repeat(begin, limit, COPIES, carried, run_copies, whole=True)
        return f.repeat(begin, limit, 1, carried, run)[1:]

    def run_copies(at: Val, carried: list[Val]) -> list[Val]:
        for k in range(COPIES):
            carried = run(numbers.plus(f, at, f.e.const("i64", k)), carried)
        return carried

    count = len(node.operands)
    start = [f.spread(p.values[v], p) for p in points for v in node.operands]
    asks, cost = [n for n in body if n.op is ops.ASK], body_cost(body)
    if asks and isinstance(cost, int) and not depth(body):
        f.asked.update(asks)
        last = _in_parts(f, first, end, cost, start, range_of)
    else:
        last = range_of(first, end, start)
    for k, point in enumerate(points):
        point.put(node.results, last[k * count : (k + 1) * count])


def _in_registers(f: NestFunction, node: Node, point: Point, first: Val, end: Val, kept: dict[Element, Node]) -> None:
    """Emit a loop that keeps elements of memory in registers. A loop without steps does not touch them."""
    assert node.body is not None
    body, name = node.body, variables(node)[0].name

    def run(at: Val, carried: list[Val]) -> list[Val]:
        f.registers = dict(zip(kept, carried, strict=True))
        f.body(body, [point.step(name, at)])
        after, f.registers = list(f.registers.values()), {}
        return after

    def whole() -> None:
        start = [load_element(f, access, point) for access in kept.values()]
        _, *last = f.repeat(first, end, 1, start, run)
        for access, value in zip(kept.values(), last, strict=True):
            store_element(f, access, point, value)

    f.e.when(f.e.icmp("slt", first, end), whole)


def _is_short(loop: Node) -> bool:
    """Tell whether the steps of a loop are so short that counting them takes a large part of the time.

    LLVM itself writes out ranges of a few numbers. Where nothing is stored, checks take longer than counting.
    """
    assert loop.body is not None
    body, (first, end) = loop.body, sizes(loop.attrs, "range")
    if len(body) > SHORT or any(n.body is not None for n in body):
        return False
    is_plain = not isinstance(end - first, int) and not any(n.op in (ops.BIND, ops.CHECK) for n in body)
    return any(n.op is ops.STORE for n in body) or (bool(body.outputs) and is_plain)


def _in_parts(
    f: NestFunction, first: Val, end: Val, cost: int, start: list[Val], run: Callable[[Val, Val, list[Val]], list[Val]]
) -> list[Val]:
    """Emit a loop of short steps in parts, and ask after each part: asking in every step would slow it down."""
    e, size = f.e, max(1, PART // cost)

    def part(at: Val, carried: list[Val]) -> list[Val]:
        limit = e.call("smin", e.op("add nsw", at, e.const("i64", size)), end)
        last = run(at, limit, carried)
        ask_after(f, e.op("mul nsw", e.op("sub nsw", limit, at), e.const("i64", cost)))
        return last

    return f.repeat(first, end, size, start, part)[1:]


def _vector(f: NestFunction, node: Node, points: Points, first: Val, end: Val) -> None:
    """Emit whole steps of several vectors, then single vectors with a mask."""
    assert node.body is not None
    body, name = node.body, variables(node)[0].name
    width, times = vector_width(f, node), int(integer(node.attrs, "times")) if "times" in node.attrs else 1
    f.paired |= paired_stores(body)

    def run_whole(at: Val, _: list[Val]) -> list[Val]:
        f.body(body, [vector_point(f, p, name, at, width, k) for p in points for k in range(times)])
        return []

    def run_rest(at: Val, _: list[Val]) -> list[Val]:
        mask = lane_mask(f.e, width, at, end)
        f.body(body, [vector_point(f, p, name, at, width, 0).masked(mask) for p in points])
        return []

    (rest,) = f.repeat(first, end, width * times, (), run_whole, whole=True)
    f.repeat(rest, end, width, (), run_rest)


def vector_point(f: NestFunction, point: Point, name: str, at: Val, width: int, k: int) -> Point:
    """The k-th vector of a step."""
    made = point.step(name, numbers.plus(f, at, f.e.const("i64", k * width)))
    made.vector, made.width = name, width
    return made


def _jammed(f: NestFunction, node: Node, points: Points, first: Val, end: Val) -> None:
    """Emits several steps at a time, then the rest one by one."""
    assert node.body is not None
    body, name = node.body, variables(node)[0].name
    count = next((integer(node.attrs, a) for a in ("times", "width") if a in node.attrs), DEFAULT_JAM)

    def run(at: Val, several: int) -> list[Val]:
        made = [p.step(name, numbers.plus(f, at, f.e.const("i64", k))) for p in points for k in range(several)]
        f.body(body, made)
        return []

    (rest,) = f.repeat(first, end, count, (), lambda at, _: run(at, count), whole=True)
    f.repeat(rest, end, 1, (), lambda at, _: run(at, 1))


def can_be_vector(node: Node, points: Points) -> bool:
    return all(p.vector is None for p in points) and can_be_vectors(node)


def vector_width(f: NestFunction, node: Node) -> int:
    """Return the lanes of a vector loop: those of the nest, or as many as the machine has for the largest element."""
    if "width" in node.attrs:
        return integer(node.attrs, "width")
    largest = max((itemsize(n) for n in inside(node) if n.op in ops.ACCESSES), default=8)
    return max(2, f.module.vector_bytes // largest)


# -- branches


def when(f: NestFunction, node: Node, points: Points) -> None:
    """Emit one branch for all points if they share the condition, otherwise one for each."""
    conditions = [p.values[node.operands[0]] for p in points]
    if len(set(conditions)) == 1 and not conditions[0].lanes:
        _branch(f, node, points, conditions[0])
        return
    for point, condition in zip(points, conditions, strict=True):
        if not condition.lanes:
            _branch(f, node, [point], condition)
        else:
            _masked_branch(f, node, point, condition)


def _branch(f: NestFunction, node: Node, points: Points, condition: Val) -> None:
    assert node.body is not None
    body, inner = node.body, [p.step() for p in points]

    def run() -> list[Val]:
        f.body(body, inner)
        return [s.values[v] for s in inner for v in body.outputs]

    found, count = f.e.either(condition, run), len(node.results)
    for k, point in enumerate(points):
        point.put(node.results, found[k * count : (k + 1) * count])


def _masked_branch(f: NestFunction, node: Node, point: Point, condition: Val) -> None:
    """Runs the body if any lane takes it, with the others masked."""
    assert node.body is not None
    e, body = f.e, node.body
    mask = condition if point.mask is None else e.op("and", point.mask, condition)
    inner = point.masked(mask)

    def run() -> list[Val]:
        f.body(body, [inner])
        found = [f.spread(inner.values[v], point) for v in body.outputs]
        return [e.select(mask, x, e.zero_like(x)) for x in found]

    point.put(node.results, e.either(e.any(mask), run))


def steps(f: NestFunction, node: Node, points: Points) -> None:
    """Emit a `while`, point by point; the effects of the step that ends it happen too."""
    assert node.body is not None
    e, body = f.e, node.body
    for point in points:
        assert point.vector is None, "a vector loop has no `while` inside"
        start = [point.values[v] for v in node.operands]
        head, on, done, before = e.label("head"), e.label("on"), e.label("done"), e.block
        phis = [Val(e.name(), v.elem, v.lanes) for v in start]
        e.br(head)
        e.place(head)
        at = len(e.lines)
        e.lines.extend("" for _ in phis)
        inner = point.step()
        inner.put(body.inputs, phis)
        f.body(body, [inner])
        go, *after = (inner.values[v] for v in body.outputs)
        e.cbr(go, on, done)
        e.place(on)
        for k, (phi, first, last) in enumerate(zip(phis, start, after, strict=True)):
            e.lines[at + k] = f"  {phi.text} = phi {phi.type} [ {first.text}, %{before} ], [ {last.text}, %{on} ]"
        e.br(head)
        e.place(done)
        point.put(node.results, phis)


def switch(f: NestFunction, node: Node, points: Points) -> None:
    """Runs the first case whose guards hold."""
    assert node.body is not None
    e, done = f.e, f.e.label("done")
    for case in node.body:
        assert case.body is not None
        guards = case.attrs.get("guards", Guards())
        assert isinstance(guards, Guards)
        inside_label, other = e.label("case"), e.label("else")
        e.cbr(numbers.holds(f, guards, points[0]), inside_label, other)
        e.place(inside_label)
        f.body(case.body, [p.step() for p in points])
        e.br(done)
        e.place(other)
    e.br(done)
    e.place(done)


# -- running values


def begin_scans(f: NestFunction, node: Node, points: Points) -> None:
    """Reset the running values of scans along a loop before it starts."""
    name = variables(node)[0].name
    for scan in [n for n in inside(node) if n.op is ops.SCAN and n.attrs["var"] == name]:
        elem = element(scan.result.type.dtype)
        for point in points:
            kind = Val("", elem, point.width)
            running = f.in_entry(f"alloca {kind.type}, align 64", "ptr")
            has_one = f.in_entry("alloca i1, align 1", "ptr")
            f.e.store(f.e.const("i1", 0), has_one)
            point.cells[scan] = (running, has_one)

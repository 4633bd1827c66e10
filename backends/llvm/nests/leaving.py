"""Emit code that leaves a nest early: failed checks, numbers from data out of range, and Ctrl-C."""

from __future__ import annotations

from ....ir.dims import LOOP
from ....ir.dtypes import I64
from ....ir.graph import Node
from ....ir.nest.costs import body_cost, depth
from ....ir.nest.scopes import body_of, variables
from ..code.casts import cast
from ..code.text import Val
from ..functions import STOPPED, FrameWord
from . import numbers
from .function import LEAVE, STATUS, NestFunction, Points
from .points import Point

FAILED = 1
PATIENCE = 4_000_000_000  # picoseconds between two questions, as estimated
CYCLES = 1 << 24  # of the CPU's clock between two questions: some milliseconds
SINCE, LEFT = "since", "left"


def check(f: NestFunction, node: Node, points: Points) -> None:
    """Leave the nest if the condition does not hold in an active lane."""
    for point in points:
        leave_if(f, _in_lanes(f, f.e.not_(point.values[node.operands[0]]), point), node)


def bind(f: NestFunction, node: Node, points: Points) -> None:
    """Check the range of a number from data, and give it a name."""
    e, (variable,) = f.e, variables(node)
    for point in points:
        given = node.operands[0]
        found = cast(e, point.values[given], given.type.dtype, I64)
        low, high = (numbers.number(f, s, point) for s in (variable.first, variable.end))
        lanes = max(found.lanes, low.lanes, high.lanes)
        found, low, high = (e.splat(x, lanes) for x in (found, low, high))
        # one comparison: a number below the range is a large one without sign
        length = e.call("smax", e.op("sub", high, low), e.zero_like(low))
        wrong = e.icmp("uge", e.op("sub", found, low), length)
        leave_if(f, _in_lanes(f, wrong, point), node, (found, high), wrong)
        if lanes and point.mask is not None:
            found = e.select(point.mask, found, low)
        point.env[LOOP + variable.name] = found


def _in_lanes(f: NestFunction, wrong: Val, point: Point) -> Val:
    """Tell whether a condition fails in an active lane."""
    if wrong.lanes and point.mask is not None:
        wrong = f.e.op("and", wrong, point.mask)
    return f.e.any(wrong)


def leave_if(f: NestFunction, wrong: Val, node: Node, details: tuple[Val, ...] = (), lanes: Val | None = None) -> None:
    """Leave the function with a failed status; the frame notes the first failure of a call."""
    e, module = f.e, f.module
    module.failures.append(node)
    words = [f.word_address("failure", k) for k in range(3)]
    bad, first, on, out = (e.label(hint) for hint in ("bad", "first", "on", "out"))
    e.cbr(wrong, bad, on, unlikely=True)
    e.place(bad)
    pair = e.emit(f"cmpxchg ptr {words[0].text}, i64 0, i64 {len(module.failures)} monotonic monotonic", "pair", 0)
    ours = e.emit(f"extractvalue {{ i64, i1 }} {pair.text}, 1", "i1", 0)
    e.cbr(ours, first, out)
    e.place(first)
    for word, detail in zip(words[1:], details, strict=False):
        e.store(_lane(f, detail, lanes), word, 8)
    e.br(out)
    e.place(out)
    e.store(e.const("i32", FAILED), STATUS, 4)
    e.br(LEAVE)
    e.place(on)


def _lane(f: NestFunction, x: Val, lanes: Val | None) -> Val:
    """Return the value in the first active lane."""
    if not x.lanes:
        return x
    assert lanes is not None
    e = f.e
    bits = e.emit(f"bitcast {lanes.typed} to i{lanes.lanes}", f"i{lanes.lanes}", 0)
    lane = e.call("cttz", bits, Val("true", "i1", 0))
    return e.emit(f"extractelement {x.typed}, i{lanes.lanes} {lane.text}", x.elem, 0)


def ask(f: NestFunction, node: Node, points: Points) -> None:
    """Ask whether to stop, once in a while: when the steps since the last time add up to some milliseconds.

    The time of a step is estimated; where loops in loops are inside, the CPU's clock is read.
    """
    if node in f.asked:
        return
    body = body_of(f.module.nest, node)
    if body is None or depth(body) > 1:
        since, now = _cell(f, SINCE), _clock(f)
        passed = f.e.op("sub", now, f.e.load(since, "i64", 0, 8))
        is_due = f.e.icmp("ugt", passed, f.e.const("i64", CYCLES))
        _question(f, is_due, since, now)
    else:
        ask_after(f, numbers.time_of(f, body_cost(body), points[0]))


def ask_after(f: NestFunction, time: Val) -> None:
    """Ask if this much estimated time, together with the time since the last question, is long enough."""
    e, left = f.e, _cell(f, LEFT)
    rest = e.op("sub", e.load(left, "i64", 0, 8), time)
    e.store(rest, left, 8)
    _question(f, e.icmp("slt", rest, e.const("i64", 0)), left, e.const("i64", PATIENCE))


def _question(f: NestFunction, is_due: Val, cell: Val, reset: Val) -> None:
    """Asks if it is time to, and leaves if told to."""
    e = f.e
    f.module.asks = True
    question = f.frame.word(FrameWord("question"), "ptr")
    due, call, stop, on = (e.label(hint) for hint in ("due", "ask", "stop", "on"))
    e.cbr(is_due, due, on, unlikely=True)
    e.place(due)
    e.store(reset, cell, 8)
    e.cbr(e.icmp("eq", question, Val("null", "ptr", 0)), on, call)
    e.place(call)
    stops = e.emit(f"call i32 {question.text}(ptr %frame) nounwind memory(inaccessiblemem: readwrite)", "i32", 0)
    e.cbr(e.icmp("eq", stops, e.const("i32", 0)), on, stop)
    e.place(stop)
    e.store(e.const("i32", STOPPED), STATUS, 4)
    e.br(LEAVE)
    e.place(on)


def _cell(f: NestFunction, name: str) -> Val:
    """Allocate a counter of the function."""
    memo = f.nest.entry.memo
    if name not in memo:
        memo[name] = f.in_entry("alloca i64, align 8", "ptr")
        with f.nest.at(f.nest.entry):
            f.e.store(_clock(f) if name == SINCE else f.e.const("i64", PATIENCE), memo[name], 8)
    return memo[name]


def _clock(f: NestFunction) -> Val:
    f.e.declared["llvm.readcyclecounter"] = "declare i64 @llvm.readcyclecounter()"
    return f.e.emit("call i64 @llvm.readcyclecounter()", "i64", 0)

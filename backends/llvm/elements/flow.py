"""Emit the body of an `each` under lane masks.

Several vectors run through one body together to hide each other's latency; a value is a list with one entry per vector.
A value that is the same in all lanes is one scalar, and a condition of that kind is a plain branch. Any other condition
is a mask: a loop runs until no lane is left in it, and a branch is skipped if no lane takes it. Lanes that have left a
loop keep the results that are used afterwards. Everything else is computed for them too: no op traps, and ops that can
fail check the mask.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ....ir.flow import parted, step_cost, used_results, varying_in_loop
from ....ir.graph import Graph, Node, Value
from ....ir.ops import CONSTANT, FLOW, WHILE
from ....ir.records import record
from ....ir.types import integer
from ..code.casts import constant
from ..code.text import Emitter, Val
from ..functions import STOPPED

PATIENCE = 1 << 24  # ticks between two questions whether to stop: some tens of milliseconds
Several = list[Val]  # one for each vector
Masks = list[Val] | None  # None: all lanes run
EmitOp = Callable[[Node, Sequence[Val], dict[Hashable, Sequence[Val]]], Val]


def emit_each(
    e: Emitter, node: Node, operands: list[Several], mask: Val | None, emit_op: EmitOp, clock: Clock | None
) -> list[Several]:
    """Return the results for each of the vectors; `mask` holds the active lanes, if not all are."""
    assert node.body is not None
    count = len(operands[0]) if operands else 1
    lanes = max((x.lanes for several in operands for x in several), default=0)
    masks = None if mask is None or not lanes else [mask] * count
    before = e.active
    found = _Body(e, count, lanes, emit_op, clock).run(node.body, operands, masks)
    e.active = before
    return found


@record
class Clock:
    """Count down the ops of all loops in memory; now and then a loop asks whether it should stop."""

    ticks: Val
    question: Val

    def tick(self, e: Emitter, cost: int, done: str) -> None:
        """Jump to `done` if the loop should stop. The loops around it ask again at their next step."""
        left = e.op("sub", e.load(self.ticks, "i32", 0, 4), e.const("i32", cost))
        e.store(left, self.ticks, 4)
        due, ask, stop, on = (e.label(hint) for hint in ("due", "ask", "stop", "on"))
        e.cbr(e.icmp("sle", left, e.const("i32", 0)), due, on, unlikely=True)
        e.place(due)
        e.store(e.const("i32", PATIENCE), self.ticks, 4)
        e.cbr(e.icmp("eq", self.question, Val("null", "ptr", 0)), on, ask)
        e.place(ask)
        stops = e.emit(f"call i32 {self.question.text}(ptr %frame)", "i32", 0)
        e.cbr(e.icmp("eq", stops, e.const("i32", 0)), on, stop)
        e.place(stop)
        e.store(e.const("i32", 1), self.ticks, 4)
        e.store(e.const("i32", STOPPED), Val("%status", "ptr", 0), 4)
        e.fails = True
        e.br(done)
        e.place(on)


class _Body:
    """Emits bodies for a number of vectors with a number of lanes."""

    def __init__(self, e: Emitter, count: int, lanes: int, emit_op: EmitOp, clock: Clock | None) -> None:
        self.e, self.count, self.lanes, self.emit_op, self.clock = e, count, lanes, emit_op, clock

    def run(self, body: Graph, inputs: Sequence[Several], masks: Masks) -> list[Several]:
        values = dict(zip(body.inputs, inputs, strict=True))
        self.nodes(body, list(body), values, masks)
        return [values[v] for v in body.outputs]

    def nodes(self, body: Graph, nodes: Sequence[Node], values: dict[Value, Several], masks: Masks) -> None:
        made: dict[Hashable, Sequence[Val]] = {}
        for node in nodes:
            operands = [values[v] for v in node.operands]
            if node.op is WHILE:
                results = self.loop(node, operands, masks, used_results(body, node))
            elif node.op in FLOW:
                results = self.branch(node, operands, masks)
            else:
                results = [self.op(node, operands, masks, made)]
            values.update(zip(node.results, results, strict=True))

    def op(self, node: Node, operands: list[Several], masks: Masks, made: dict[Hashable, Sequence[Val]]) -> Several:
        if node.op is CONSTANT:
            value = node.attrs["value"]
            assert isinstance(value, (bool, int, float))
            return self.shared(constant(self.e, node.result.type.dtype, value))
        if all(map(self.is_shared, operands)):
            self.e.active = None
            return self.shared(self.emit_op(node, [x[0] for x in operands], made))
        found = []
        for k in range(self.count):
            self.e.active = masks[k] if masks else None
            found.append(self.emit_op(node, [self.e.splat(x[k], self.lanes) for x in operands], made))
        return found

    # -- values

    def shared(self, x: Val) -> Several:
        return [x] * self.count

    @staticmethod
    def is_shared(x: Several) -> bool:
        return not x[0].lanes and all(other == x[0] for other in x)

    def vectors(self, x: Several) -> Several:
        """The value as one full vector for each of the vectors."""
        if not self.lanes:
            return x
        if self.is_shared(x):
            return self.shared(self.e.splat(x[0], self.lanes))
        return [self.e.splat(one, self.lanes) for one in x]

    def any(self, masks: Several) -> Val:
        total = masks[0]
        for mask in masks[1:]:
            total = self.e.op("or", total, mask)
        return self.e.any(total)

    def both(self, masks: Masks, conditions: Several) -> Several:
        """The lanes of the masks where a condition holds."""
        conditions = self.vectors(conditions)
        if masks is None:
            return conditions
        return [self.e.op("and", m, c) for m, c in zip(masks, conditions, strict=True)]

    # -- branches

    def branch(self, node: Node, operands: list[Several], masks: Masks) -> list[Several]:
        """Emits a `when`: its body runs if any lane needs it."""
        assert node.body is not None
        e, (condition, *given) = self.e, operands
        uniform = self.is_shared(condition)
        inside = masks if uniform else self.both(masks, condition)
        taken = condition[0] if uniform else self.any(inside or [])
        then, done, before = e.label("then"), e.label("done"), e.block
        e.cbr(taken, then, done)
        e.place(then)
        found = self.run(node.body, given, inside)
        if not uniform:
            zeros = [[e.zero_like(x) for x in self.vectors(several)] for several in found]
            found = [
                [e.select(c, x, zero) for c, x, zero in zip(self.vectors(condition), self.vectors(f), z, strict=True)]
                for f, z in zip(found, zeros, strict=True)
            ]
        after = e.block
        e.br(done)
        e.place(done)
        return [self.joined(several, before, after) for several in found]

    def joined(self, several: Several, before: str, after: str) -> Several:
        def one(x: Val) -> Val:
            zero = self.e.zero_like(x)
            return self.e.emit(f"phi {x.type} [ {zero.text}, %{before} ], [ {x.text}, %{after} ]", x.elem, x.lanes)

        if self.is_shared(several):
            return self.shared(one(several[0]))
        return [one(x) for x in several]

    # -- loops

    def loop(self, node: Node, operands: list[Several], masks: Masks, used: list[bool]) -> list[Several]:
        """Emits a `while`: the part of the body that decides, a branch out, and the rest."""
        assert node.body is not None
        e, body = self.e, node.body
        carried = integer(node.attrs, "carried")
        diverges, varies = varying_in_loop(node, [not self.is_shared(x) for x in operands])
        state = [self.vectors(x) if v else x for x, v in zip(operands, varies, strict=False)]
        # Values that are one number inside the loop but differ between lanes after it: keep both the number and the
        # value with which each lane has left.
        left = [k for k in range(carried) if diverges and used[k] and not varies[k]]
        starts = [*state, *([self.vectors(operands[k]) for k in left])]
        if diverges:
            whole = e.const("i1", 1, self.lanes)
            starts.append(masks if masks is not None else self.shared(whole))
        phis = [self.phi(x) for x in starts]
        head, inside, done, before = e.label("head"), e.label("body"), e.label("done"), e.block
        e.br(head)
        e.place(head)
        at = len(e.lines)
        values = dict(zip(body.inputs, [*phis[:carried], *operands[carried:]], strict=True))
        deciding, rest = parted(body)
        self.nodes(body, deciding, values, phis[-1] if diverges else masks)
        go = values[body.outputs[0]]
        running = self.both(phis[-1], go) if diverges else masks
        e.cbr(self.any(running or []) if diverges else go[0], inside, done)
        e.place(inside)
        assert self.clock is not None
        self.clock.tick(e, self.count * step_cost(body), done)
        self.nodes(body, rest, values, running)
        after = [values[v] for v in body.outputs[1:]]
        ends = []
        for k, (new, phi) in enumerate(zip(after, phis, strict=False)):
            new = self.vectors(new) if varies[k] else new
            ends.append(self.chosen(running, new, phi) if diverges and used[k] and varies[k] else new)
        ends += [self.chosen(running, self.vectors(after[k]), p) for k, p in zip(left, phis[carried:], strict=False)]
        if diverges:
            assert running is not None
            ends.append(running)
        e.lines[at:at] = self.phi_lines(phis, starts, before, ends, e.block)
        e.br(head)
        e.place(done)
        results = phis[:carried]
        for k, phi in zip(left, phis[carried:], strict=False):
            results[k] = phi
        return results

    def chosen(self, masks: Masks, new: Several, old: Several) -> Several:
        assert masks is not None
        return [self.e.select(m, a, b) for m, a, b in zip(masks, new, old, strict=True)]

    def phi(self, x: Several) -> Several:
        if self.is_shared(x):
            return self.shared(Val(self.e.name(), x[0].elem, 0))
        return [Val(self.e.name(), one.elem, one.lanes) for one in x]

    def phi_lines(
        self, phis: list[Several], starts: list[Several], before: str, ends: list[Several], last: str
    ) -> list[str]:
        lines: dict[str, None] = {}
        for phi, start, end in zip(phis, starts, ends, strict=True):
            for p, a, b in zip(phi, start, end, strict=True):
                lines[f"  {p.text} = phi {p.type} [ {a.text}, %{before} ], [ {b.text}, %{last} ]"] = None
        return list(lines)

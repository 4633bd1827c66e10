"""Emit the part of a plan around a loop with side exits (`side_exits.py`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..reading.names import Liveness, assigned, bound_names, exposed, reads
from .side_exits import BROKEN, COUNT, EXIT, FIRST, HIDDEN, START, STEP, ExitingLoop, Loop

Block = Callable[[Sequence[ast.stmt]], list[ast.stmt]]


def live_at_exits(node: Loop, found: ExitingLoop, live: Liveness) -> tuple[str, ...]:
    """The variables that a piece returns: those needed after the loop, or at the place where it leaves."""
    needed = set(live.at[id(node)])
    for way in found.exits:
        needed |= live.before[id(way.branch)]
    if node.orelse:
        needed |= live.before[id(node.orelse[0])]
    if isinstance(node, ast.While):
        needed |= set(reads(node.test))
    hidden = {EXIT, STEP} if isinstance(node, ast.For) else {EXIT}
    return tuple(sorted(bound_names(found.statements) & (needed | hidden)))


def live_before(node: Loop, found: ExitingLoop, live_out: Sequence[str]) -> frozenset[str]:
    """The variables that a piece takes: those that it reads, or may leave unchanged."""
    first: frozenset[str] = frozenset()
    if isinstance(node, ast.For):  # it is called with a step to run, which surely binds what comes before an exit
        body = found.statements[1].body if isinstance(found.statements[1], ast.For) else []
        ends = [k for k, s in enumerate(body) if any(isinstance(n, (ast.Break, ast.Continue)) for n in ast.walk(s))]
        first = assigned(body[: ends[0]] if ends else body)
    return exposed(found.statements) | (set(live_out) - first - HIDDEN)


class ExitPlan:
    """The names of a plan's own variables around one loop."""

    def __init__(self, node: Loop, found: ExitingLoop, number: int) -> None:
        self.node, self.found = node, found
        self._names = {name: f".{name}{number}" for name in (*HIDDEN, "steps", "calls")}

    def given(self, name: str) -> ast.expr:
        """Return what the plan passes for a live-in variable of the piece."""
        return _load(self._names.get(name, name))

    def target(self, name: str) -> ast.expr:
        """Return the target to which the plan binds a live-out variable of the piece."""
        return ast.Name(self._names.get(name, name), ast.Store())

    def before(self) -> list[ast.stmt]:
        """Evaluate the range, once."""
        calls = self._set("calls", ast.Constant(0))
        if isinstance(self.node, ast.While):
            return [calls]
        steps = self._get("steps")
        count = ast.Call(ast.Attribute(steps, "__len__", ast.Load()), [], [])
        return [
            calls, self._set("steps", self.node.iter), self._set(FIRST, ast.Constant(0)), self._set(COUNT, count),
            self._set(START, ast.Attribute(steps, "start", ast.Load())),
        ]  # fmt: skip

    def called(self) -> ast.stmt:
        """Count a call of the piece."""
        return self._set("calls", ast.BinOp(self._get("calls"), ast.Add(), ast.Constant(1)))

    def missed(self, block: Block) -> list[ast.stmt]:
        """Run one step in Python."""
        if isinstance(self.node, ast.While):
            return block(self.node.body)
        item = ast.Subscript(self._get("steps"), self._get(FIRST), ast.Load())
        more = self._set(FIRST, ast.BinOp(self._get(FIRST), ast.Add(), ast.Constant(1)))
        return [ast.Assign([self.node.target], item), more, *block(self.node.body)]

    def left(self, block: Block) -> list[ast.stmt]:
        """Continue where the piece has left: run the rest of the step, or end the loop."""
        made: list[ast.stmt] = []
        if isinstance(self.node, ast.For):
            made.append(self._set(FIRST, ast.BinOp(self._get(STEP), ast.Add(), ast.Constant(1))))
        made.append(ast.If(self._is_exit(BROKEN), [ast.Break()], []))
        # A break or return inside leaves the plan's own loop, so each way needs no `else`.
        chain: list[ast.stmt] = []
        for number, way in reversed(list(enumerate(self.found.exits, 1))):
            chain = [ast.If(self._is_exit(number), block(way.statements), chain)]
        return made + chain

    def loop(self, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
        """The loop of the plan itself."""
        if isinstance(self.node, ast.While):
            return [ast.While(self.node.test, body, orelse)]
        return [ast.While(ast.Compare(self._get(FIRST), [ast.Lt()], [self._get(COUNT)]), body, orelse)]

    def weighed(self, weigh: str, piece: str) -> list[ast.stmt]:
        """Check whether each call of the piece has run enough steps to be worth it."""
        if isinstance(self.node, ast.While):
            return []
        return [ast.Expr(ast.Call(_load(weigh), [_load(piece), self._get("calls"), self._get(FIRST)], []))]

    def _is_exit(self, number: int) -> ast.expr:
        return ast.Compare(self._get(EXIT), [ast.Eq()], [ast.Constant(number)])

    def _get(self, name: str) -> ast.expr:
        return _load(self._names[name])

    def _set(self, name: str, value: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Name(self._names[name], ast.Store())], value)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())

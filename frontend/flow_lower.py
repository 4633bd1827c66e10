"""The statements of a function of elements in, operands out: loops, branches and early returns without jumps.

`break`, `continue` and `return` become truth values: `live` says whether an element still runs the statements that
follow in a block, `keep` whether its loop goes on, `returned` whether it has its result. What follows a statement that
may jump stands under `if live`. A branch is computed everywhere and selected from where it is light or there are no
bodies to put it in (outside of an `each`), else it becomes a `when`; a loop becomes a `while`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ir import flow as ir_flow
from ..ir.builder import Builder
from ..ir.dtypes import BOOL
from ..ir.errors import Span, TypeProblem
from ..ir.facts import Facts
from ..ir.graph import Value
from ..ir.ops import TABLE, WHERE
from . import syntax
from .declared import Declared, declare, result
from .expressions import Expressions, as_operand
from .flow import assigned, breaks, inside, jumps, returns
from .flow_types import Cell, Cells, unknown
from .frame import Frame, Variable
from .maker import Maker
from .weak import Operand, dtype_of, take

LIVE, KEEP, RETURNED, RESULT, AT = "%live", "%keep", "%returned", "%result", "%at"
AND, NOT, LESS, ADD = (TABLE[name] for name in ("logical_and", "logical_not", "lt", "add"))
Conform = Callable[[Operand, Declared, str, Frame, Span], Value]
Statements = Sequence[syntax.Statement]


class Flow:
    """One call of a function. `probes` finds the dtypes of its variables and makes nothing that is used."""

    def __init__(
        self, expressions: Expressions, conform: Conform, item: syntax.Function, cells: Cells, probes: bool
    ) -> None:
        self._expressions = expressions
        self._conform = conform
        self._item = item
        self._cells = cells
        self._probes = probes
        self._cell_of: dict[str, Cell] = {}

    def run(self, frame: Frame) -> list[Operand]:
        """What the body returns."""
        frame.variables[LIVE] = Variable(True)
        frame.variables[RETURNED] = Variable(False)
        names = [f"{RESULT}{k}" for k in range(_count(self._item))]
        for k, name in enumerate(names):
            self._cell_of[name] = self._cells.get((self._item, k), "the result")
            frame.variables[name] = Variable(None)
        self._block(self._item.body.statements, frame)
        return [frame.variables[name].value for name in names]

    # -- values

    def _maker(self, span: Span | None) -> Maker:
        return Maker(self._expressions.builder, span)

    def _store(self, name: str, x: Operand, frame: Frame, span: Span, type: Declared | None = None) -> None:
        cell, maker = self._cell_of[name], self._maker(span)
        if self._probes:
            cell.meet(dtype_of(x), span)
            frame.variables[name] = Variable(cell.probe(maker), type)
        else:
            frame.variables[name] = Variable(cell.read(maker, cell.take(maker, x)), type)

    def _raw(self, name: str, frame: Frame, span: Span | None) -> Value | bool | None:
        """The value of a variable in its dtype; a flag may be a bool, and a result not there yet."""
        value = frame.variables[name].value
        if value is None or isinstance(value, bool) or name not in self._cell_of:
            return value  # type: ignore[no-any-return]
        return self._cell_of[name].take(self._maker(span), value)

    def _put(self, name: str, value: Value | bool | None, frame: Frame, span: Span | None) -> None:
        """`_raw` the other way round."""
        shown = (
            self._cell_of[name].read(self._maker(span), value)
            if isinstance(value, Value) and name in self._cell_of
            else value
        )
        frame.variables[name] = Variable(shown, frame.variables[name].type)

    def _truth(self, expr: syntax.Expr, frame: Frame) -> Value | bool:
        found = self._expressions.condition(expr, frame)
        if isinstance(found, (bool, int, float, complex)):
            return bool(found)
        return take(self._maker(expr.span), found, BOOL)

    def _and(self, a: Value | bool, b: Value | bool, span: Span | None) -> Value | bool:
        if isinstance(a, bool) or isinstance(b, bool):
            other, known = (b, a) if isinstance(a, bool) else (a, b)
            return other if known else False
        return self._maker(span).op(AND, a, b)

    def _not(self, a: Value | bool, span: Span | None) -> Value | bool:
        return not a if isinstance(a, bool) else self._maker(span).op(NOT, a)

    # -- statements

    def _block(self, statements: Statements, frame: Frame) -> None:
        for k, statement in enumerate(statements):
            self._statement(statement, frame)
            rest = statements[k + 1 :]
            if not rest or not jumps([statement]):
                continue
            live = frame.variables[LIVE].value
            if live is not True:
                self._branch(live, rest, (), frame, statement.span)
                return

    def _statement(self, statement: syntax.Statement, frame: Frame) -> None:
        match statement:
            case syntax.Let():
                self._let(statement, frame)
            case syntax.Assign():
                self._assign(statement, frame)
            case syntax.If():
                condition = self._truth(statement.condition, frame)
                other = statement.other.statements if statement.other else ()
                self._branch(condition, statement.then.statements, other, frame, statement.condition.span)
            case syntax.For() | syntax.While():
                with self._expressions.level(statement.span):
                    (self._probe_loop if self._probes else self._loop)(statement, frame)
            case syntax.Return():
                self._return(statement, frame)
            case syntax.Jump() if not self._probes:
                frame.variables[LIVE] = Variable(False)
                if statement.what == "break":
                    frame.variables[KEEP] = Variable(False)

    def _let(self, let: syntax.Let, frame: Frame) -> None:
        found = self._expressions.value(let.value, frame)
        values = found if isinstance(found, tuple) and len(let.names) > 1 else (found,)
        if len(values) != len(let.names):
            count = len(found) if isinstance(found, tuple) else 1
            raise TypeProblem(f"{len(let.names)} names for {count} value{'s' * (count != 1)}", let.span)
        for name, one in zip(let.names, values, strict=True):
            value, type = as_operand(one, let.value.span), None
            if let.type is not None:
                type = declare(let.type, computed=True)
                value = self._conform(value, type, f"'{name.name}'", frame, let.value.span)
            if let.mutable:
                self._cell_of[name.name] = self._cells.get(name, f"'{name.name}'")
                self._store(name.name, value, frame, let.value.span, type)
            else:
                self._cell_of.pop(name.name, None)
                frame.variables[name.name] = Variable(value, type)

    def _assign(self, assign: syntax.Assign, frame: Frame) -> None:
        assert isinstance(assign.target, syntax.Name)
        name = assign.target.name
        old = frame.variables[name]
        value = self._expressions.operand(assign.value, frame)
        if assign.op is not None:
            value = self._expressions.operate(assign.op, old.value, value, assign.span)
        if old.type is not None:
            value = self._conform(value, old.type, f"'{name}'", frame, assign.span)
        self._store(name, value, frame, assign.span, old.type)

    def _return(self, statement: syntax.Return, frame: Frame) -> None:
        for k, expr in enumerate(statement.values):
            value = self._expressions.operand(expr, frame)
            if self._item.outputs is not None:
                output = result(self._item.outputs[k])
                what = f"the result '{output.name}'" if output.name else "the result"
                value = self._conform(value, output.type, what, frame, expr.span)
            self._store(f"{RESULT}{k}", value, frame, expr.span)
        if not self._probes:
            for name, flag in ((LIVE, False), (KEEP, False), (RETURNED, True)):
                frame.variables[name] = Variable(flag)

    # -- branches

    def _branch(self, condition: Value | bool, then: Statements, other: Statements, frame: Frame, span: Span) -> None:
        if isinstance(condition, bool) and not self._probes:
            self._block(then if condition else other, frame)
            return
        sides = [self._side(statements, frame, span) for statements in (then, other)]
        if self._probes:
            return
        assert isinstance(condition, Value)
        changed = [n for n, old in frame.variables.items() if any(f.variables[n] is not old for f, _ in sides)]
        found = []
        for k, (inner, builder) in enumerate(sides):
            values: Mapping[str, Value | bool | None] = {n: self._raw(n, inner, span) for n in changed}
            if self._expressions.has_bodies and not ir_flow.is_light(builder.nodes):
                where = condition if k == 0 else self._maker(span).op(NOT, condition)
                values = self._guarded(where, builder, values, frame, span)
            else:
                self._expressions.splice(builder)
            found.append(values)
        for name in changed:
            self._put(name, self._merged(condition, found[0][name], found[1][name], span), frame, span)

    def _side(self, statements: Statements, frame: Frame, span: Span) -> tuple[Frame, Builder]:
        inner, builder = frame.inner(), Builder("branch", Facts())
        with self._expressions.level(span), self._expressions.building(builder):
            self._block(statements, inner)
        return inner, builder

    def _guarded(
        self, where: Value, side: Builder, values: Mapping[str, Value | bool | None], frame: Frame, span: Span
    ) -> Mapping[str, Value | bool | None]:
        """What a side leaves, computed only where it is taken."""
        made = {r for n in side.nodes for r in n.results}
        names = [n for n, v in values.items() if isinstance(v, Value) and v in made]
        if not names:
            return values
        outputs = [values[n] for n in names]
        body, others = ir_flow.close(side, [v for v in outputs if isinstance(v, Value)])
        results = ir_flow.when(self._expressions.builder, where, others, body, span)
        return {**values, **dict(zip(names, results, strict=True))}

    def _merged(
        self, condition: Value, a: Value | bool | None, b: Value | bool | None, span: Span
    ) -> Value | bool | None:
        if a is None or b is None or a is b:
            return b if a is None else a
        if isinstance(a, bool) and isinstance(b, bool):
            return condition if a else self._not(condition, span)
        if b is False:
            assert isinstance(a, Value)
            return self._and(condition, a, span)
        if a is False:
            return self._and(self._not(condition, span), b, span)
        return self._maker(span).op(WHERE, condition, a, b)

    # -- loops

    def _probe_loop(self, statement: syntax.For | syntax.While, frame: Frame) -> None:
        inner = frame.inner()
        if isinstance(statement, syntax.While):
            self._expressions.condition(statement.condition, frame)
        else:
            cell = self._index_cell(statement)
            for bound in (statement.start, statement.stop):
                cell.join(dtype_of(self._expressions.operand(bound, frame)), bound.span)
            inner.variables[statement.index.name] = Variable(cell.probe(self._maker(statement.span)))
        self._block(statement.body.statements, inner)

    def _index_cell(self, statement: syntax.For) -> Cell:
        return self._cells.get(statement.index, f"'{statement.index.name}'")

    def _loop(self, statement: syntax.For | syntax.While, frame: Frame) -> None:
        span, block = statement.span, statement.body.statements
        outer, maker = self._expressions.builder, self._maker(span)
        leaves = returns(block)
        names = [n for n in frame.variables if n in assigned(block)]
        start: dict[str, Value] = {}
        stop: Value | None = None
        if isinstance(statement, syntax.For):
            cell = self._index_cell(statement)
            bounds = [self._expressions.operand(bound, frame) for bound in (statement.start, statement.stop)]
            start[AT], stop = (cell.take(maker, x) for x in bounds)
        for name in names:
            value = self._raw(name, frame, span)
            assert isinstance(value, (Value, bool))
            start[name] = value if isinstance(value, Value) else take(maker, value, BOOL)
        if leaves or breaks(block):
            start[KEEP] = outer.constant(True, BOOL, span)
        if leaves:
            start[RETURNED] = outer.constant(False, BOOL, span)
            for name, cell in self._results():
                value = self._raw(name, frame, span)
                start[name] = (
                    value if isinstance(value, Value) else cell.take(maker, False if cell.dtype == BOOL else 0)
                )
        body = Builder("loop", Facts())
        inner = frame.inner()
        with self._expressions.building(body):
            state = {n: body.input(n.removeprefix("%"), v.type) for n, v in start.items()}
            after = self._step(statement, stop, state, inner)
        graph, others = ir_flow.close(body, after)
        ended = dict(zip(start, ir_flow.loop(outer, [*start.values()], others, graph, span), strict=True))
        for name in (*names, *([n for n, _ in self._results()] if leaves else ())):
            self._put(name, ended[name], frame, span)
        if leaves:
            frame.variables[RETURNED] = Variable(ended[RETURNED])
            gone_on = self._not(ended[RETURNED], span)
            frame.variables[LIVE] = Variable(gone_on)
            if KEEP in frame.variables:
                frame.variables[KEEP] = Variable(self._and(frame.variables[KEEP].value, gone_on, span))

    def _results(self) -> list[tuple[str, Cell]]:
        return [(n, c) for n, c in self._cell_of.items() if n.startswith(RESULT)]

    def _step(
        self, statement: syntax.For | syntax.While, stop: Value | None, state: Mapping[str, Value], frame: Frame
    ) -> list[Value]:
        """Whether a step counts, and what it makes of the state."""
        span = statement.span
        for name, value in state.items():
            if name != AT:
                frame.variables.setdefault(name, Variable(None))
                self._put(name, value, frame, span)
        frame.variables[LIVE] = Variable(True)
        go = self._goes_on(statement, stop, state, frame)
        frame.variables[KEEP] = Variable(True)
        if RETURNED in state:
            frame.variables[RETURNED] = Variable(False)
        if isinstance(statement, syntax.For):
            cell, maker = self._index_cell(statement), self._maker(statement.index.span)
            frame.variables[statement.index.name] = Variable(cell.read(maker, state[AT]))
        self._block(statement.body.statements, frame)
        maker = self._maker(span)
        after = [go if isinstance(go, Value) else take(maker, go, BOOL)]
        for name, value in state.items():
            if name == AT:
                after.append(maker.op(ADD, value, take(maker, 1, value.type.dtype)))
                continue
            new = self._raw(name, frame, span)
            after.append(new if isinstance(new, Value) else take(maker, bool(new), BOOL))
        return after

    def _goes_on(
        self, statement: syntax.For | syntax.While, stop: Value | None, state: Mapping[str, Value], frame: Frame
    ) -> Value | bool:
        def asks() -> Value | bool:
            if isinstance(statement, syntax.While):
                return self._truth(statement.condition, frame)
            assert stop is not None
            return self._maker(statement.span).op(LESS, state[AT], stop)

        keep = state.get(KEEP)
        if keep is None:
            return asks()
        found = self._expressions.guarded(keep, asks, statement.span)
        return self._and(keep, found, statement.span)  # type: ignore[arg-type]


def _count(item: syntax.Function) -> int:
    return next(len(s.values) for s in inside(item.body.statements) if isinstance(s, syntax.Return))


def probe_frame(frame: Frame) -> Frame:
    """The frame of a call with numbers that stand for its arguments."""
    found = frame.inner()
    for name, variable in frame.variables.items():
        value = variable.value
        if isinstance(value, Value):
            found.variables[name] = Variable(unknown(value.type.dtype), variable.type)
    return found

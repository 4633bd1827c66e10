"""Lower the loops, branches and early returns of a `fn` to code without jumps.

`break`, `continue` and `return` become bools: `live` tells whether an element still runs the rest of a block, `keep`
whether its loop continues, `returned` whether it has its result. The statements after one that may jump are put under
`if live`. A light branch is computed everywhere and selected from, and so is every branch outside an `each`, where
there are no bodies; any other branch becomes a `when`. A loop becomes a `while`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir import flow as ir_flow
from ...ir.builder import Builder
from ...ir.dtypes import BOOL
from ...ir.errors import Span, TypeProblem, quantity
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.ops import TABLE, WHERE
from ..language import syntax
from ..language.declared import Declared, declare, result
from ..maker import Maker
from ..weak import Operand, dtype_of, take
from .element_loops import KEEP, LIVE, RETURNED, jump, lower_in_order, lower_loop, probe_loop
from .element_types import Cell, Cells, unknown
from .expressions import Conform, Expressions, as_operand
from .frame import Environment, Variable
from .jumps import inside

RESULT = "%result"
AND, NOT = TABLE["logical_and"], TABLE["logical_not"]
Statements = Sequence[syntax.Statement]


class Flow:
    """Lowers one call of a function. With `probes` it only finds the dtypes of the variables."""

    def __init__(
        self, expressions: Expressions, conform: Conform, item: syntax.Function, cells: Cells, probes: bool
    ) -> None:
        self.expressions = expressions
        self._conform = conform
        self._item = item
        self.cells = cells
        self.probes = probes
        self._cell_of: dict[str, Cell] = {}

    def run(self, frame: Environment) -> list[Operand]:
        """Lower the body and return its results."""
        frame.variables[LIVE] = Variable(True)
        frame.variables[RETURNED] = Variable(False)
        names = [f"{RESULT}{k}" for k in range(_count(self._item))]
        for k, name in enumerate(names):
            self._cell_of[name] = self.cells.get((self._item, k), "the result")
            frame.variables[name] = Variable(None)
        self.block(self._item.body.statements, frame)
        return [frame.variables[name].value for name in names]

    # -- values

    def maker(self, span: Span | None) -> Maker:
        return Maker(self.expressions.builder, span)

    def _store(self, name: str, x: Operand, frame: Environment, span: Span, type: Declared | None = None) -> None:
        cell, maker = self._cell_of[name], self.maker(span)
        if self.probes:
            cell.meet(dtype_of(x), span)
            frame.variables[name] = Variable(cell.probe(maker), type)
        else:
            frame.variables[name] = Variable(cell.read(maker, cell.take(maker, x)), type)

    def raw(self, name: str, frame: Environment, span: Span | None) -> Value | bool | None:
        """Return the value of a variable in its dtype; a flag may be a bool, and a result may not exist yet."""
        value = frame.variables[name].value
        if value is None or isinstance(value, bool) or name not in self._cell_of:
            return value  # type: ignore[no-any-return]
        return self._cell_of[name].take(self.maker(span), value)

    def put(self, name: str, value: Value | bool | None, frame: Environment, span: Span | None) -> None:
        """Assign a value to a variable: the inverse of `raw`."""
        shown = (
            self._cell_of[name].read(self.maker(span), value)
            if isinstance(value, Value) and name in self._cell_of
            else value
        )
        frame.variables[name] = Variable(shown, frame.variables[name].type)

    def truth(self, expr: syntax.Expr, frame: Environment) -> Value | bool:
        found = self.expressions.condition(expr, frame)
        if isinstance(found, (bool, int, float, complex)):
            return bool(found)
        return take(self.maker(expr.span), found, BOOL)

    def both(self, a: Value | bool, b: Value | bool, span: Span | None) -> Value | bool:
        if isinstance(a, bool) or isinstance(b, bool):
            other, known = (b, a) if isinstance(a, bool) else (a, b)
            return other if known else False
        return self.maker(span).op(AND, a, b)

    def negated(self, a: Value | bool, span: Span | None) -> Value | bool:
        return not a if isinstance(a, bool) else self.maker(span).op(NOT, a)

    # -- statements

    def block(self, statements: Statements, frame: Environment) -> None:
        def lower_rest(live: Any, rest: Statements, span: Span) -> None:
            self._branch(live, rest, (), frame, span)

        lower_in_order(statements, frame, self._statement, lower_rest)

    def _statement(self, statement: syntax.Statement, frame: Environment) -> None:
        match statement:
            case syntax.Let():
                self._let(statement, frame)
            case syntax.Assign():
                self._assign(statement, frame)
            case syntax.If():
                condition = self.truth(statement.condition, frame)
                self._branch(condition, statement.then.statements, statement.otherwise, frame, statement.condition.span)
            case syntax.For() | syntax.While():
                with self.expressions.level(statement.span):
                    (probe_loop if self.probes else lower_loop)(self, statement, frame)
            case syntax.Return():
                self._return(statement, frame)
            case syntax.Jump() if not self.probes:
                jump(statement, frame)

    def _let(self, let: syntax.Let, frame: Environment) -> None:
        found = self.expressions.value(let.value, frame)
        values = found if isinstance(found, tuple) and len(let.names) > 1 else (found,)
        if len(values) != len(let.names):
            count = len(found) if isinstance(found, tuple) else 1
            raise TypeProblem(f"{quantity(len(let.names), 'name')} for {quantity(count, 'value')}", let.span)
        for name, one in zip(let.names, values, strict=True):
            value, type = as_operand(one, let.value.span), None
            if let.type is not None:
                type = declare(let.type, computed=True)
                value = self._conform(value, type, f"'{name.name}'", frame, let.value.span)
            if let.mutable:
                self._cell_of[name.name] = self.cells.get(name, f"'{name.name}'")
                self._store(name.name, value, frame, let.value.span, type)
            else:
                self._cell_of.pop(name.name, None)
                frame.variables[name.name] = Variable(value, type)

    def _assign(self, assign: syntax.Assign, frame: Environment) -> None:
        name, new = self.expressions.assigned(assign, frame, self._conform)
        self._store(name, new.value, frame, assign.span, new.type)

    def _return(self, statement: syntax.Return, frame: Environment) -> None:
        for k, expr in enumerate(statement.values):
            value = self.expressions.operand(expr, frame)
            if self._item.outputs is not None:
                output = result(self._item.outputs[k])
                what = f"the result '{output.name}'" if output.name else "the result"
                value = self._conform(value, output.type, what, frame, expr.span)
            self._store(f"{RESULT}{k}", value, frame, expr.span)
        if not self.probes:
            for name, flag in ((LIVE, False), (KEEP, False), (RETURNED, True)):
                frame.variables[name] = Variable(flag)

    # -- branches

    def _branch(
        self, condition: Value | bool, then: Statements, other: Statements, frame: Environment, span: Span
    ) -> None:
        if isinstance(condition, bool) and not self.probes:
            self.block(then if condition else other, frame)
            return
        sides = [self._side(statements, frame, span) for statements in (then, other)]
        if self.probes:
            return
        assert isinstance(condition, Value)
        changed = [n for n, old in frame.variables.items() if any(f.variables[n] is not old for f, _ in sides)]
        found = []
        for k, (inner, builder) in enumerate(sides):
            values: Mapping[str, Value | bool | None] = {n: self.raw(n, inner, span) for n in changed}
            if self.expressions.has_bodies and not ir_flow.is_light(builder.nodes):
                where = condition if k == 0 else self.maker(span).op(NOT, condition)
                values = self._guarded(where, builder, values, frame, span)
            else:
                self.expressions.splice(builder)
            found.append(values)
        for name in changed:
            self.put(name, self._merged(condition, found[0][name], found[1][name], span), frame, span)

    def _side(self, statements: Statements, frame: Environment, span: Span) -> tuple[Environment, Builder]:
        inner, builder = frame.inner(), Builder("branch", Facts())
        with self.expressions.level(span), self.expressions.building(builder):
            self.block(statements, inner)
        return inner, builder

    def _guarded(
        self, where: Value, side: Builder, values: Mapping[str, Value | bool | None], frame: Environment, span: Span
    ) -> Mapping[str, Value | bool | None]:
        """Compute a side only where it is taken."""
        made = {r for n in side.nodes for r in n.results}
        names = [n for n, v in values.items() if isinstance(v, Value) and v in made]
        if not names:
            return values
        outputs = [values[n] for n in names]
        body, others = ir_flow.close(side, [v for v in outputs if isinstance(v, Value)])
        results = ir_flow.when(self.expressions.builder, where, others, body, span)
        return {**values, **dict(zip(names, results, strict=True))}

    def _merged(
        self, condition: Value, a: Value | bool | None, b: Value | bool | None, span: Span
    ) -> Value | bool | None:
        if a is None or b is None or a is b:
            return b if a is None else a
        if isinstance(a, bool) and isinstance(b, bool):
            return condition if a else self.negated(condition, span)
        if b is False:
            assert isinstance(a, Value)
            return self.both(condition, a, span)
        if a is False:
            return self.both(self.negated(condition, span), b, span)
        return self.maker(span).op(WHERE, condition, a, b)

    def results(self) -> list[tuple[str, Cell]]:
        """Name the variables that hold the results."""
        return [(n, c) for n, c in self._cell_of.items() if n.startswith(RESULT)]


def _count(item: syntax.Function) -> int:
    return next(len(s.values) for s in inside(item.body.statements) if isinstance(s, syntax.Return))


def probe_frame(frame: Environment) -> Environment:
    """Make the frame of a call, with sample numbers as its arguments."""
    found = frame.inner()
    for name, variable in frame.variables.items():
        value = variable.value
        if isinstance(value, Value):
            found.variables[name] = Variable(unknown(value.type.dtype), variable.type)
    return found

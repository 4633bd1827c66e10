"""Lower a loop in a `fn` to a `while`.

The loop carries everything that changes from step to step: the variables that the body assigns, the index of a `for`,
`keep` if the body may leave the loop, and `returned` with the results if it may return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir import flow as ir_flow
from ...ir.builder import Builder
from ...ir.dtypes import BOOL
from ...ir.errors import Span, TypeProblem
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.ops import TABLE
from ..language import syntax
from ..weak import dtype_of, take
from .element_types import Cell
from .frame import Environment, Variable
from .jumps import assigned, breaks, jumps, returns
from .lazy_operands import guarded

if TYPE_CHECKING:
    from .element_functions import Flow

LIVE, KEEP, RETURNED, AT = "%live", "%keep", "%returned", "%at"
LESS, ADD = TABLE["lt"], TABLE["add"]


def jump(statement: syntax.Jump, frame: Environment) -> None:
    """Mark the rest of an iteration as not reached, and after `break` all later iterations too."""
    frame.variables[LIVE] = Variable(False)
    if statement.what == "break":
        frame.variables[KEEP] = Variable(False)


def lower_in_order(
    statements: Sequence[syntax.Statement],
    frame: Environment,
    lower: Callable[[syntax.Statement, Environment], None],
    lower_rest: Callable[[Any, Sequence[syntax.Statement], Span], None],
) -> None:
    """Lower statements in order. `lower_rest` takes those after one that may jump: they only count where it did not."""
    for k, statement in enumerate(statements):
        lower(statement, frame)
        rest = statements[k + 1 :]
        if not rest or not jumps([statement]):
            continue
        live = frame.variables[LIVE].value
        if live is not True:
            lower_rest(live, rest, statement.span)
            return


def probe_loop(flow: Flow, statement: syntax.For | syntax.While, frame: Environment) -> None:
    inner = frame.inner()
    if isinstance(statement, syntax.While):
        flow.expressions.condition(statement.condition, frame)
    else:
        cell = _index_cell(flow, statement)
        for bound in (statement.start, statement.stop):
            dtype = dtype_of(flow.expressions.operand(bound, frame))
            if dtype.kind not in ("int", "uint"):
                raise TypeProblem(f"a loop bound must be an integer, not {dtype}", bound.span, "convert it: i64(...)")
            cell.join(dtype, bound.span)
            if cell.dtype is not None and cell.dtype.kind == "float":
                raise TypeProblem("no integer type can hold both bounds", bound.span, "convert one of them: i64(...)")
        inner.variables[statement.index.name] = Variable(cell.probe(flow.maker(statement.span)))
    flow.block(statement.body.statements, inner)


def _index_cell(flow: Flow, statement: syntax.For) -> Cell:
    return flow.cells.get(statement.index, f"'{statement.index.name}'")


def lower_loop(flow: Flow, statement: syntax.For | syntax.While, frame: Environment) -> None:
    span, block = statement.span, statement.body.statements
    outer, maker = flow.expressions.builder, flow.maker(span)
    leaves = returns(block)
    names = [n for n in frame.variables if n in assigned(block)]
    start: dict[str, Value] = {}
    stop: Value | None = None
    if isinstance(statement, syntax.For):
        cell = _index_cell(flow, statement)
        bounds = [flow.expressions.operand(bound, frame) for bound in (statement.start, statement.stop)]
        start[AT], stop = (cell.take(maker, x) for x in bounds)
    for name in names:
        value = flow.raw(name, frame, span)
        assert isinstance(value, (Value, bool))
        start[name] = value if isinstance(value, Value) else take(maker, value, BOOL)
    if leaves or breaks(block):
        start[KEEP] = outer.constant(True, BOOL, span)
    if leaves:
        start[RETURNED] = outer.constant(False, BOOL, span)
        for name, cell in flow.results():
            value = flow.raw(name, frame, span)
            start[name] = value if isinstance(value, Value) else cell.take(maker, False if cell.dtype == BOOL else 0)
    body = Builder("loop", Facts())
    inner = frame.inner()
    with flow.expressions.building(body):
        state = {n: body.input(n.removeprefix("%"), v.type) for n, v in start.items()}
        after = _step(flow, statement, stop, state, inner)
    graph, others = ir_flow.close(body, after)
    ended = dict(zip(start, ir_flow.loop(outer, [*start.values()], others, graph, span), strict=True))
    for name in (*names, *([n for n, _ in flow.results()] if leaves else ())):
        flow.put(name, ended[name], frame, span)
    if leaves:
        frame.variables[RETURNED] = Variable(ended[RETURNED])
        gone_on = flow.negated(ended[RETURNED], span)
        frame.variables[LIVE] = Variable(gone_on)
        if KEEP in frame.variables:
            frame.variables[KEEP] = Variable(flow.both(frame.variables[KEEP].value, gone_on, span))


def _step(
    flow: Flow,
    statement: syntax.For | syntax.While,
    stop: Value | None,
    state: Mapping[str, Value],
    frame: Environment,
) -> list[Value]:
    """Lower one step: return whether it counts, and the next state."""
    span = statement.span
    for name, value in state.items():
        if name != AT:
            frame.variables.setdefault(name, Variable(None))
            flow.put(name, value, frame, span)
    frame.variables[LIVE] = Variable(True)
    go = _goes_on(flow, statement, stop, state, frame)
    frame.variables[KEEP] = Variable(True)
    if RETURNED in state:
        frame.variables[RETURNED] = Variable(False)
    if isinstance(statement, syntax.For):
        cell, maker = _index_cell(flow, statement), flow.maker(statement.index.span)
        frame.variables[statement.index.name] = Variable(cell.read(maker, state[AT]))
    flow.block(statement.body.statements, frame)
    maker = flow.maker(span)
    after = [go if isinstance(go, Value) else take(maker, go, BOOL)]
    for name, value in state.items():
        if name == AT:
            after.append(maker.op(ADD, value, take(maker, 1, value.type.dtype)))
            continue
        new = flow.raw(name, frame, span)
        after.append(new if isinstance(new, Value) else take(maker, bool(new), BOOL))
    return after


def _goes_on(
    flow: Flow,
    statement: syntax.For | syntax.While,
    stop: Value | None,
    state: Mapping[str, Value],
    frame: Environment,
) -> Value | bool:
    def asks() -> Value | bool:
        if isinstance(statement, syntax.While):
            return flow.truth(statement.condition, frame)
        assert stop is not None
        return flow.maker(statement.span).op(LESS, state[AT], stop)

    keep = state.get(KEEP)
    if keep is None:
        return asks()
    found = guarded(flow.expressions, keep, asks, statement.span)
    return flow.both(keep, found, statement.span)  # type: ignore[arg-type]

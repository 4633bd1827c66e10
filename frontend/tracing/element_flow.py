"""Record control flow over elements in traced functions: each Python function of a step becomes an op.

A step is traced on arrays. If it works on single elements it becomes an `each`: its graph is rebuilt over numbers, and
the values of the trace that it reads become operands. If not, and the condition is a single number, it becomes a
`loop` over whole arrays (`array_loops`). The dtypes of a loop's state are found by tracing until they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...ir import flow
from ...ir.builder import Builder
from ...ir.dtypes import BOOL, WEAK, DType
from ...ir.errors import Span, TypeProblem, Unsupported, quantity
from ...ir.facts import Facts
from ...ir.graph import Graph, Node, Value
from ...ir.ops import BROADCAST, CAST, CONSTANT, EACH, IOTA, TABLE, WHERE, Trait
from ...ir.rules import promote
from ...ir.types import TensorType
from ..maker import Maker
from .array_loops import choose_arrays, inside, loop_over_arrays
from .trace import Trace
from .tracer import Tracer

NOT = TABLE["logical_not"]
MAX_ROUNDS = 8  # dtypes only widen, and there are only a few wider ones


def trace_of(*things: Any) -> Trace | None:
    """Return the trace of the first traced value among these, which may be tuples."""
    for thing in things:
        if isinstance(thing, Tracer):
            assert isinstance(thing._trace, Trace)
            return thing._trace
        if isinstance(thing, (tuple, list)) and (found := trace_of(*thing)) is not None:
            return found
    return None


def while_loop(
    trace: Trace, goes_on: Callable[..., Any], step: Callable[..., Any], state: Sequence[Any], span: Span | None
) -> list[Tracer]:
    """Record a loop and return its final state: it runs `step(*state)` while `goes_on(*state)` holds."""
    maker = Maker(trace.builder, span)
    start = [maker.lift(trace.operand(x, True, span)) for x in state]
    dtypes = [v.type.dtype for v in start]
    for _ in range(MAX_ROUNDS):
        builder, inputs, found = _traced(trace, start, dtypes, lambda s: (goes_on(*s), *step(*s)), span)
        if len(found) != len(start) + 1:
            raise TypeProblem(
                f"the step must return {quantity(len(start), 'value')}, like the state, not {len(found) - 1}", span
            )
        wider = [_wider(a, v.type.dtype) for a, v in zip(dtypes, found[1:], strict=True)]
        if wider == dtypes and not any(d.weak for d in dtypes):
            break
        dtypes = [d.strong for d in wider] if wider == dtypes else wider  # values that are still weak become strong
    else:
        raise TypeProblem(
            "the dtypes of the state must not change from step to step",
            span,
            "convert the values that the step returns",
        )
    if not found[0].type.shape and not _works_on_elements(builder, found):
        return loop_over_arrays(trace, goes_on, step, start, dtypes, span)
    numbers, captured = _of_elements(builder, inputs, found, [BOOL, *dtypes], span)
    program = Builder("loop", Facts())
    first = [program.input("state", TensorType(d)) for d in dtypes]
    others = [program.input(v.name or "in", TensorType(v.type.dtype)) for v in captured]
    last = flow.loop(program, first, others, numbers, span)
    given = [maker.cast(v, d) for v, d in zip(start, dtypes, strict=True)]
    return _run(trace, program, last, [*given, *captured], span)


def _wider(a: DType, b: DType) -> DType:
    """Return the dtype that holds a state both before and after a step; for weak numbers it is weak."""
    if a == b or (b.weak and not a.weak):
        return a
    found = promote((a, b))
    return WEAK[found.kind] if a.weak and b.weak else found


def cond(
    trace: Trace,
    condition: Any,
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    operands: Sequence[Any],
    span: Span | None,
) -> list[Tracer]:
    """Record a choice: `then()` where the condition holds, `otherwise()` elsewhere."""
    maker = Maker(trace.builder, span)
    given = [maker.lift(trace.operand(x, True, span)) for x in operands]
    where = maker.cast(trace.operand(condition, True, span), BOOL)
    dtypes = [v.type.dtype for v in given]
    sides: list[tuple[Builder, list[Value], list[Value]]] = []
    for side in (then, otherwise):
        sides.append(_traced(trace, given, dtypes, partial(_called, side), span))
    if len(sides[0][2]) != len(sides[1][2]):
        raise TypeProblem("both sides of a condition must return the same number of values", span)
    if not where.type.shape and not all(_works_on_elements(builder, found) for builder, _, found in sides):
        return choose_arrays(trace, where, [partial(_called, side) for side in (then, otherwise)], given, span)
    pairs = zip(sides[0][2], sides[1][2], strict=True)
    dtypes = [promote((a.type.dtype, b.type.dtype)) for a, b in pairs]
    program = Builder("cond", Facts())
    test = program.input("condition", TensorType(BOOL))
    inputs = [program.input("operand", TensorType(v.type.dtype)) for v in given]
    read, results = [where, *given], []
    for k, (builder, own, found) in enumerate(sides):
        numbers, captured = _of_elements(builder, own, found, dtypes, span)
        others = [program.input(v.name or "in", TensorType(v.type.dtype)) for v in captured]
        read += captured
        holds = test if k == 0 else program.op(NOT, test, span=span)
        results.append(flow.when(program, holds, [*inputs, *others], numbers, span))
    chosen = [program.op(WHERE, test, a, b, span=span) for a, b in zip(*results, strict=True)]
    return _run(trace, program, chosen, read, span)


def _called(function: Callable[..., Any], operands: Sequence[Any]) -> tuple[Any, ...]:
    found = function(*operands)
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def _run(
    trace: Trace, program: Builder, results: Sequence[Value], operands: Sequence[Value], span: Span | None
) -> list[Tracer]:
    body = program.finish(results)
    return [Tracer(trace, value) for value in flow.each(trace.builder, operands, body, span)]


def _traced(
    trace: Trace,
    start: Sequence[Value],
    dtypes: Sequence[DType],
    function: Callable[[list[Tracer]], Sequence[Any]],
    span: Span | None,
) -> tuple[Builder, list[Value], list[Value]]:
    """Trace a function on values with the shapes of `start`, in a separate builder."""
    builder = Builder("step", trace.builder.facts)
    inputs = [builder.input("state", TensorType(d, v.type.shape)) for v, d in zip(start, dtypes, strict=True)]
    with inside(trace, builder):
        found = function([Tracer(trace, v) for v in inputs])
        maker = Maker(builder, span)
        values = [maker.lift(trace.operand(x, True, span)) for x in found]
    return builder, inputs, values


def _of_elements(
    traced: Builder, inputs: Sequence[Value], outputs: Sequence[Value], dtypes: Sequence[DType], span: Span | None
) -> tuple[Graph, list[Value]]:
    """Rebuild the traced step as a graph over numbers, and return it with the outer values it reads."""
    builder, values, captured = Builder("step", Facts()), dict[Value, Value](), list[Value]()
    for value in inputs:
        values[value] = builder.input("state", TensorType(value.type.dtype))
    inside = {r for n in traced.nodes for r in n.results}

    def number(value: Value) -> Value:
        if value not in values:
            assert value not in inside
            if value.node is not None and value.node.op is CONSTANT:
                values[value] = builder.node(CONSTANT, (), value.node.attrs, value.node.span).result
            else:
                values[value] = builder.input(value.name or "in", TensorType(value.type.dtype))
                captured.append(value)
        return values[value]

    needed = _needed(traced.nodes, outputs)
    for node in needed:
        operands = [number(v) for v in node.operands]
        values.update(zip(node.results, _on_numbers(builder, node, operands, span), strict=True))
    found = [
        builder.op(CAST, v, span=span, to=d) if v.type.dtype != d else v
        for v, d in zip(map(number, outputs), dtypes, strict=True)
    ]
    return builder.finish(found), captured


def _needed(nodes: Sequence[Node], outputs: Sequence[Value]) -> list[Node]:
    wanted = set(outputs)
    kept = []
    for node in reversed(nodes):
        if wanted.intersection(node.results):
            wanted.update(node.operands)
            kept.append(node)
    return kept[::-1]


def _works_on_elements(traced: Builder, outputs: Sequence[Value]) -> bool:
    return all(n.op is BROADCAST or _is_elementwise(n) for n in _needed(traced.nodes, outputs))


def _is_elementwise(node: Node) -> bool:
    return Trait.ELEMENTWISE in node.op.traits and node.op is not IOTA


def _on_numbers(builder: Builder, node: Node, operands: list[Value], span: Span | None) -> Sequence[Value]:
    """Rebuild one node of a step on numbers."""
    if node.op is BROADCAST:
        return operands
    if node.op is EACH:
        assert node.body is not None
        values = dict(zip(node.body.inputs, operands, strict=True))
        for inner in node.body:
            types = tuple(r.type for r in inner.results)
            made = builder.node(
                inner.op, [values[v] for v in inner.operands], inner.attrs, inner.span, inner.body, types
            )
            values.update(zip(inner.results, made.results, strict=True))
        return [values[v] for v in node.body.outputs]
    if not _is_elementwise(node):
        why = f"'{node.op.name}' works on whole arrays and can't run in a loop over elements"
        hint = f"the condition differs for each element here; compute '{node.op.name}' before the loop"
        raise Unsupported(why, node.span or span, hint)
    return builder.node(node.op, operands, node.attrs, node.span).results

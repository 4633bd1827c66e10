"""Record loops and choices over whole arrays in traced functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...ir.builder import Builder
from ...ir.dtypes import BOOL, DType
from ...ir.errors import ShapeProblem, Span, TypeProblem
from ...ir.graph import Value
from ...ir.loops import loop, needs_guard, once
from ...ir.ops import TABLE, WHERE
from ...ir.rules import promote, shown
from ...ir.types import TensorType
from ..maker import Maker
from .trace import Trace
from .tracer import Tracer

NOT = TABLE["logical_not"]


@contextmanager
def inside(trace: Trace, builder: Builder) -> Iterator[None]:
    """Send everything that is traced meanwhile to another builder."""
    before, trace.builder = trace.builder, builder
    try:
        yield
    finally:
        trace.builder = before


def loop_over_arrays(
    trace: Trace,
    goes_on: Callable[..., Any],
    step: Callable[..., Any],
    start: Sequence[Value],
    dtypes: Sequence[DType],
    span: Span | None,
) -> list[Tracer]:
    """Record a loop whose condition is a single number, and return its final state."""

    def ask(state: Sequence[Value]) -> Value:
        maker = Maker(trace.builder, span)
        return maker.cast(trace.operand(goes_on(*_tracers(trace, state)), True, span), BOOL)

    maker = Maker(trace.builder, span)
    given = [maker.cast(v, d) for v, d in zip(start, dtypes, strict=True)]
    go = ask(given)
    body = Builder("loop", trace.builder.facts)
    inputs = [body.input(v.name or "state", v.type) for v in given]
    with inside(trace, body):
        maker = Maker(body, span)
        found = [maker.lift(trace.operand(x, True, span)) for x in step(*_tracers(trace, inputs))]
        after = [maker.cast(v, d) for v, d in zip(found, dtypes, strict=True)]
        for k, (before, new) in enumerate(zip(inputs, after, strict=True)):
            _refuse_other_shape(trace, k, before.type, new.type, span)
        again = ask(after)
    return _tracers(trace, loop(trace.builder, given, body, go, [again, *after], span))


def _refuse_other_shape(trace: Trace, k: int, before: TensorType, after: TensorType, span: Span | None) -> None:
    """Refuse a state that changes its shape; sizes that are only equal in this call are guarded."""
    facts = trace.builder.facts
    fits = len(before.shape) == len(after.shape)
    for a, b in zip(before.shape, after.shape, strict=False):
        if facts.same(a, b):
            continue
        number = facts.number(a)
        fits = fits and number is not None and number == facts.number(b)
        if fits:
            facts.assume_equal(a, b)
    if not fits:
        old, new = (shown([s if (n := facts.number(s)) is None else n for s in t.shape]) for t in (before, after))
        raise ShapeProblem(
            f"value {k} of the state must keep its shape, but a step turns {old} into {new}",
            span,
            "start from an array of the final shape",
        )


def choose_arrays(
    trace: Trace, condition: Value, sides: Sequence[Callable[..., Any]], operands: Sequence[Value], span: Span | None
) -> list[Tracer]:
    """Record a choice between two functions. Both are computed, unless they loop or may fail."""
    results: list[Sequence[Value]] = []
    maker = Maker(trace.builder, span)
    for k, side in enumerate(sides):
        builder = Builder("side", trace.builder.facts)
        with inside(trace, builder):
            lift = Maker(builder, span).lift
            found = [lift(trace.operand(x, True, span)) for x in side(_tracers(trace, operands))]
        if needs_guard(builder.nodes):
            taken = maker.op(NOT, condition) if k else condition
            found = [*once(trace.builder, taken, builder, found, span)]
        else:
            trace.builder.nodes += builder.nodes
        results.append(found)
    chosen = []
    for a, b in zip(*results, strict=True):
        if len(a.type.shape) != len(b.type.shape):
            shapes = f"{shown(a.type.shape)} on one side and {shown(b.type.shape)} on the other"
            raise TypeProblem(
                f"both sides of a condition must have the same shape, not {shapes}",
                span,
                "return arrays of the same shape on both sides",
            )
        dtype = promote((a.type.dtype, b.type.dtype))
        chosen.append(maker.op(WHERE, condition, maker.cast(a, dtype), maker.cast(b, dtype)))
    return _tracers(trace, chosen)


def _tracers(trace: Trace, values: Sequence[Value]) -> list[Tracer]:
    return [Tracer(trace, v) for v in values]

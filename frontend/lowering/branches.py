"""Lower an `if` in a kernel to both of its sides and a select for each variable that one of them assigns.

A side that may fail, may not end, or calls a function from outside is computed only if it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...ir.builder import Builder
from ...ir.dtypes import BOOL
from ...ir.errors import Span
from ...ir.graph import Value
from ...ir.loops import needs_guard, once
from ...ir.ops import TABLE
from ..language import syntax
from ..maker import Maker
from ..weak import Operand, Weak, take, weakened
from .expressions import Expressions
from .frame import Environment, Variable

NOT = TABLE["logical_not"]
Statements = Sequence[syntax.Statement]


class BranchLowering(Protocol):
    """Lowers the statements of a kernel."""

    @property
    def expressions(self) -> Expressions: ...

    def block(self, statements: Statements, frame: Environment) -> None: ...


def branch(
    lowering: BranchLowering, condition: Operand, then: Statements, other: Statements, frame: Environment, span: Span
) -> None:
    """Lower both sides, and select each variable from the side that is taken."""
    expressions = lowering.expressions
    frames, builders = (frame.inner(), frame.inner()), list[Builder]()
    for statements, inner in zip((then, other), frames, strict=True):
        builders.append(Builder("branch", expressions.builder.facts))
        with expressions.level(span), expressions.building(builders[-1]):
            lowering.block(statements, inner)
    changed = [n for n, old in frame.variables.items() if any(f.variables[n] is not old for f in frames)]
    for inner, builder, holds in zip(frames, builders, (True, False), strict=True):
        if isinstance(condition, (bool, int, float, complex)) or not needs_guard(builder.nodes):
            expressions.splice(builder)
        else:
            _guard(expressions, condition, holds, builder, inner, changed, span)
    for name in changed:
        left, right = (inner.variables[name].value for inner in frames)
        value = expressions.choose(condition, left, right, frame, span, f"'{name}'")
        frame.variables[name] = Variable(value, frame.variables[name].type)


def _guard(
    expressions: Expressions,
    condition: Operand,
    holds: bool,
    side: Builder,
    frame: Environment,
    changed: Sequence[str],
    span: Span,
) -> None:
    """Compute a side only if it is taken; otherwise its variables are zeros, which are never selected."""
    weak = {n: frame.variables[n].value for n in changed if isinstance(frame.variables[n].value, Weak)}
    made = {n: x.take(x.dtype.strong) for n, x in weak.items()}
    made |= {n: x for n in changed if isinstance(x := frame.variables[n].value, Value)}
    own = {r for n in side.nodes for r in n.results}
    names = [n for n, x in made.items() if x in own]
    if not names:
        return
    maker = Maker(expressions.builder, span)
    where = take(maker, condition, BOOL)
    where = where if holds else maker.op(NOT, where)
    results = once(expressions.builder, where, side, [made[n] for n in names], span)
    for name, value in zip(names, results, strict=True):
        shown = weakened(maker, weak[name].dtype, value) if name in weak else value
        frame.variables[name] = Variable(shown, frame.variables[name].type)

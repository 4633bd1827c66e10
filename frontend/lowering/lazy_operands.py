"""Evaluate the right sides of `and`, `or` and `if` only where they are needed.

In the body of an `each`, a heavy side becomes a `when`. In a kernel the condition is a number, and a side that may
fail, may not end, or calls an outside function becomes a loop of at most one step. Everything else is simply computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir import flow, loops
from ...ir.builder import Builder
from ...ir.dtypes import BOOL
from ...ir.errors import Span
from ...ir.facts import Facts
from ...ir.graph import Value
from ...ir.ops import TABLE
from ..maker import Maker
from ..weak import Operand, Weak, take

if TYPE_CHECKING:
    from .expressions import Expressions

NOT = TABLE["logical_not"]
Make = Callable[[], Operand]


def guarded(expressions: Expressions, where: Operand, make: Make, span: Span, holds: bool = True) -> Operand:
    """Return the result of `make` where the condition equals `holds`, and zero elsewhere."""
    if isinstance(where, (bool, int, float, complex)):
        return make()
    if expressions.has_bodies:
        return _when(expressions, where, make, span, holds)
    if isinstance(where, Value) and where.type.shape:
        return make()
    return _once(expressions, where, make, span, holds)


def _when(expressions: Expressions, where: Operand, make: Make, span: Span, holds: bool) -> Operand:
    side = Builder("branch", Facts())
    with expressions.building(side):
        found = make()
        if not flow.is_light(side.nodes) and isinstance(found, Weak):
            found = found.take(found.dtype.strong)
    if flow.is_light(side.nodes) or not isinstance(found, Value):
        expressions.splice(side)
        return found
    condition = _truth(expressions, where, holds, span)
    body, others = flow.close(side, [found])
    return flow.when(expressions.builder, condition, others, body, span)[0]


def _once(expressions: Expressions, where: Operand, make: Make, span: Span, holds: bool) -> Operand:
    side = Builder("branch", expressions.builder.facts)
    with expressions.building(side):
        found = make()
    if not isinstance(found, Value) or not loops.needs_guard(side.nodes):
        expressions.splice(side)
        return found
    condition = _truth(expressions, where, holds, span)
    return loops.once(expressions.builder, condition, side, [found], span)[0]


def _truth(expressions: Expressions, where: Operand, holds: bool, span: Span) -> Value:
    maker = Maker(expressions.builder, span)
    found = take(maker, where, BOOL)
    return found if holds else maker.op(NOT, found)

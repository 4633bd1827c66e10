"""An expression over indices in, the part of their ranges in which nothing in it wraps around out.

In `x[(i + 1) % n] - x[(i + n - 1) % n]`, with i in 0..n, that is 1..n - 1: there the indices are affine, and the few
elements around it are computed apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..ir.facts import Facts
from . import syntax
from .frame import Frame
from .index_affine import Affine, affine
from .index_scope import IndexRange, Scope, settled
from .parts import index_name, within
from .syntax import Expr

if TYPE_CHECKING:
    from .expressions import Expressions

Box = tuple[IndexRange, ...]


def unwrapped(value: Expr, whole: Box, outside: Frame, expressions: Expressions) -> Box | None:
    """The ranges without what wraps around at their ends; None where nothing does."""
    assert outside.scope is not None
    frame = replace(outside, scope=Scope(whole, outside.scope.arrays))
    facts = expressions.builder.facts
    before, after = dict.fromkeys((i.name for i in whole), 0), dict.fromkeys((i.name for i in whole), 0)
    reduced = _reduced(value)
    for item in (item for access in within(value) if isinstance(access, syntax.Index) for item in access.items):
        if not isinstance(item, syntax.Binary) or item.op != "%" or reduced & _names(item):
            continue
        index, size = affine(item.left, frame, expressions), affine(item.right, frame, expressions)
        if index is None or size is None or size.steps:
            continue
        name, shift = next(iter(index.steps), None), _shift(index, size, frame.scope, facts)
        if name is not None and shift is not None:
            before[name], after[name] = max(before[name], -shift), max(after[name], shift)
    if not any((*before.values(), *after.values())):
        return None
    return tuple(settled(facts, i.name, i.start + before[i.name], i.stop - after[i.name]) for i in whole)


def _shift(index: Affine, size: Affine, scope: Scope | None, facts: Facts) -> int | None:
    """By how many elements an index that runs over a whole axis is shifted, before it is wrapped around its size."""
    assert scope is not None
    if [*index.steps.values()] != [1]:
        return None
    along = scope.find(next(iter(index.steps)))
    assert along is not None
    if along.start != 0 or not facts.same(along.stop, size.start):
        return None
    near = [s for s in (index.start, index.start - size.start, index.start + size.start) if isinstance(s, int)]
    return min(near, key=abs, default=None)


def _names(expr: Expr) -> set[str]:
    return {e.name for e in within(expr) if isinstance(e, syntax.Name)}


def _reduced(value: Expr) -> set[str]:
    """The indices that reductions inside an expression name."""
    callees = [e.callee for e in within(value) if isinstance(e, syntax.Call)]
    items = [item for callee in callees if isinstance(callee, syntax.Index) for item in callee.items]
    return {name.name for item in items if (name := index_name(item)) is not None}

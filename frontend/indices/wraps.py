"""Find the part of the index ranges in which nothing wraps around.

In `x[(i + 1) % n] - x[(i + n - 1) % n]`, with i in 0..n, that part is 1..n - 1: there the indices are affine, and the
few elements around it are computed separately. `sum[p in 0..3](x[(i + p - 1) % n])` has the same part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.facts import Facts
from ...ir.records import replace
from ..language import syntax
from ..language.syntax import Expr, within
from ..lowering.frame import Environment
from .affine import Affine, affine
from .ranges import given, named
from .scope import IndexRange, IndexScope, settled

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions

Box = tuple[IndexRange, ...]


def unwrapped(value: Expr, whole: Box, outside: Environment, expressions: Expressions) -> Box | None:
    """Cut the elements that wrap around off the ends of the ranges; None if nothing wraps around."""
    accesses = [e for e in within(value) if isinstance(e, syntax.Index)]
    items = [i for access in accesses for i in access.items if isinstance(i, syntax.Binary) and i.op == "%"]
    if not items:
        return None
    assert outside.scope is not None
    reduced, unknown = _reduced(value, outside, expressions)
    frame = replace(outside, scope=IndexScope((*whole, *reduced), outside.scope.arrays))
    facts = expressions.builder.facts
    before, after = dict.fromkeys((i.name for i in whole), 0), dict.fromkeys((i.name for i in whole), 0)
    for item in items:
        if unknown & {e.name for e in within(item) if isinstance(e, syntax.Name)}:
            continue
        index, size = affine(item.left, frame, expressions), affine(item.right, frame, expressions)
        if index is None or size is None or size.steps:
            continue
        for along in whole:
            low, high = _shifts(index, size, along, reduced, facts)
            before[along.name], after[along.name] = max(before[along.name], -low), max(after[along.name], high)
    if not any((*before.values(), *after.values())):
        return None
    return tuple(settled(facts, i.name, i.start + before[i.name], i.stop - after[i.name]) for i in whole)


def _shifts(index: Affine, size: Affine, along: IndexRange, reduced: Box, facts: Facts) -> tuple[int, int]:
    """Find the smallest and largest shift of an index before it wraps around its whole range.

    Return nothing for another index, or for anything but a shift.
    """
    others = {name: step for name, step in index.steps.items() if name != along.name}
    runs = {i.name: i for i in reduced}
    if index.steps.get(along.name) != 1 or not others.keys() <= runs.keys():
        return 0, 0
    if along.start != 0 or not facts.same(along.stop, size.start):
        return 0, 0
    near = [s for s in (index.start, index.start - size.start, index.start + size.start) if isinstance(s, int)]
    low = high = min(near, key=abs, default=0)
    for name, step in others.items():
        start, last = runs[name].start, runs[name].stop - 1
        if not (isinstance(step, int) and isinstance(start, int) and isinstance(last, int)):
            return 0, 0
        low, high = low + min(step * start, step * last), high + max(step * start, step * last)
    return (low, high) if near else (0, 0)


def _reduced(value: Expr, outside: Environment, expressions: Expressions) -> tuple[Box, set[str]]:
    """Find the indices of inner reductions with written ranges, and the names of all others."""
    callees = [e.callee for e in within(value) if isinstance(e, syntax.Call)]
    items = [item for callee in callees if isinstance(callee, syntax.Index) for item in callee.items]
    found: dict[str, IndexRange] = {}
    others = {named(item).name for item in items if not isinstance(item, syntax.Range)}
    for item in items:
        if isinstance(item, syntax.Range):
            index = given(item, outside, expressions)
            if found.setdefault(index.name, index) != index:
                others.add(index.name)
    return tuple(index for name, index in found.items() if name not in others), others

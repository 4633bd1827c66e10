"""Turn a written index into an affine formula over sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.accesses import coefficient_of
from ...ir.dims import Dim, Size
from ...ir.facts import Facts
from ...ir.proofs import follows
from ...ir.records import record
from ..language import syntax
from ..language.syntax import Expr
from ..lowering import folding
from ..lowering.frame import Environment
from .scope import IndexRange, IndexScope

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions


@record
class Affine:
    """`start + sum of step * index`, over the indices that occur."""

    start: Size
    steps: dict[str, Size]

    def first(self, scope: IndexScope) -> Size:
        """The value where every index is at the start of its range."""
        return self._at({name: _range(scope, name).start for name in self.steps})

    def bounds(self, scope: IndexScope) -> tuple[Size, Size] | None:
        """Return the smallest and largest value if no range is empty; None if the sign of a step is unknown."""
        low: dict[str, Size] = {}
        high: dict[str, Size] = {}
        known = self.known(scope)
        for name, step in self.steps.items():
            index = _range(scope, name)
            ends = (index.start, index.stop - 1)
            if not follows(step, known):
                if not follows(-step, known):
                    return None
                ends = ends[::-1]
            low[name], high[name] = ends
        return self._at(low), self._at(high)

    def known(self, scope: IndexScope) -> list[Size]:
        """List the sizes that are not negative where the index is used, because its ranges are not empty."""
        return [*(_range(scope, name).surplus for name in self.steps), *scope.known]

    def _at(self, places: dict[str, Size]) -> Size:
        total = self.start
        for name, step in self.steps.items():
            total = total + step * places[name]
        return total


def affine(expr: Expr, frame: Environment, expressions: Expressions) -> Affine | None:
    """Return the formula of an index if it is an integer or a size that is affine in indices."""
    assert frame.scope is not None
    formula = _formula(expr, frame, expressions)
    return None if formula is None else _split(formula, frame.scope)


def _split(formula: Size, scope: IndexScope) -> Affine | None:
    """Split a formula into the part of each index."""
    start, steps, rest = formula, dict[str, Size](), formula
    for index in scope.indices:
        step = coefficient_of(formula, str(index.symbol))
        start = dims.substitute(start, {str(index.symbol): 0})
        rest = rest - step * index.symbol
        if step != 0:
            steps[index.name] = step
    if rest != start or any(name.startswith(dims.LOOP) for s in (start, *steps.values()) for name in dims.symbols(s)):
        return None
    return Affine(start, steps)


def _remainder(whole: Size, by: Size, scope: IndexScope, facts: Facts) -> Size | None:
    """Write `whole % by` as a formula if the quotient is known."""
    found = _split(whole, scope)
    bounds = None if found is None else found.bounds(scope)
    if found is None or bounds is None:
        return None
    known = [facts.canonical(fact) for fact in found.known(scope)]
    for times in (0, 1, -1):
        ends = (bounds[0] - by * times, by - 1 - bounds[1] + by * times)
        if all(follows(facts.canonical(end), known) for end in ends):
            return whole - by * times
    return None


def _formula(expr: Expr, frame: Environment, expressions: Expressions) -> Size | None:
    """Turn an expression of integers, sizes and indices into one size, with indices as symbols."""
    match expr:
        case syntax.Literal(value=int() as number) if not isinstance(number, bool):
            return number
        case syntax.Name():
            return _named(expr, frame, expressions)
        case syntax.Unary(op="-" | "+"):
            inner = _formula(expr.operand, frame, expressions)
            return None if inner is None else -inner if expr.op == "-" else inner
        case syntax.Binary():
            return _chain(expr, frame, expressions)
    return None


def _chain(expr: syntax.Binary, frame: Environment, expressions: Expressions) -> Size | None:
    """Evaluate a chain of operators in a loop, because there may be thousands."""
    chain, first, scope = [expr], expr.left, frame.scope
    assert scope is not None
    while isinstance(first, syntax.Binary):
        chain.append(first)
        first = first.left
    total = _formula(first, frame, expressions)
    for node in reversed(chain):
        right = None if total is None else _formula(node.right, frame, expressions)
        if total is None or right is None:
            return None
        if node.op == "%":
            total = _remainder(total, right, scope, expressions.builder.facts)
        else:
            total = folding.size(node.op, total, right)
    return total


def _named(expr: syntax.Name, frame: Environment, expressions: Expressions) -> Size | None:
    assert frame.scope is not None
    index = frame.scope.find(expr.name)
    if index is not None:
        return index.symbol
    found = expressions.value(expr, frame.plain)
    return found if isinstance(found, Dim) or type(found) is int else None


def _range(scope: IndexScope, name: str) -> IndexRange:
    found = scope.find(name)
    assert found is not None
    return found

"""Lower expressions over indices to values with an axis for each index in scope.

Operators and elementwise functions work as in any kernel: their operands have the same rank, with size 1 for an index
that they don't depend on, and broadcast. Only names, brackets and calls differ; the modules for them are imported when
a kernel needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...ir.dtypes import BY_NAME
from ...ir.errors import IndexProblem
from ...ir.graph import Value
from ...ir.ops import TABLE
from ...ir.records import replace
from ..language import syntax
from ..language.syntax import Expr
from ..lowering.frame import Environment, Thing
from ..maker import Maker
from ..numpy.creation import numbered
from ..numpy.functions import ELEMENTS
from ..weak import Operand
from .scope import IndexScope

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions

ADD = TABLE["add"]
Rules = Mapping[type[Expr], Callable[[Any, Environment], Thing]]


class IndexNotation:
    """Lowers expressions in a frame that has a scope of indices."""

    def __init__(self, expressions: Expressions, rules: Rules) -> None:
        self._expressions = expressions
        self.rules: Rules = {
            **rules,
            syntax.Name: self._name,
            syntax.Index: self._element,
            syntax.Call: self._call,
        }

    def reduce(self, expr: syntax.Call, frame: Environment) -> Operand:
        """Lower a reduction over indices; outside a definition it gives one number."""
        from .reduction import reduction

        inside = frame if frame.scope is not None else replace(frame, scope=IndexScope(), elements=True)
        return reduction(expr, inside, self._expressions)

    def _element(self, expr: syntax.Index, frame: Environment) -> Thing:
        from .access import element

        return element(expr, frame, self._expressions)

    def _name(self, expr: syntax.Name, frame: Environment) -> Thing:
        assert frame.scope is not None
        index = frame.scope.find(expr.name)
        if index is None:
            return self._number(self._expressions.value(expr, frame.plain), expr)
        maker = Maker(self._expressions.builder, expr.span)
        sizes, axis = frame.scope.shape({index.name}), frame.scope.axis(index.name)
        at = numbered(maker, sizes, axis)
        return at if index.start == 0 else maker.op(ADD, at, index.start)

    def _call(self, expr: syntax.Call, frame: Environment) -> Thing:
        if isinstance(expr.callee, syntax.Index):
            return self.reduce(expr, frame)
        assert isinstance(expr.callee, syntax.Name) and frame.scope is not None
        if self._maps(expr.callee.name, frame):
            return self._expressions.call(expr, frame)
        return self._number(self._expressions.value(expr, frame.plain), expr)

    def _maps(self, name: str, frame: Environment) -> bool:
        """Tell whether a function works on single elements."""
        found = frame.unit.names.get(name)
        if found is not None:
            return isinstance(found.item, syntax.Function) and not found.item.is_kernel
        return name in ELEMENTS or name in BY_NAME or self._expressions.maps(name)

    def _number(self, found: Thing, expr: Expr) -> Thing:
        """Return a value that is the same for every index; refuse an array that is not indexed."""
        if isinstance(found, Value) and found.type.rank:
            from .messages import written

            count = found.type.rank
            hint = f"write an index for each of its {count} axes" if count > 1 else f"write {written(expr)}[i]"
            raise IndexProblem(f"expected an element, but '{written(expr)}' is an array", expr.span, hint)
        return found

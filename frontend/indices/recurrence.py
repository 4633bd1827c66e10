"""Lower `let y[i] = a * y[i - 1] + x[i]`, whose elements depend on earlier ones of the same array, to one loop.

The definition reads itself at a constant distance back along one axis. With a range and `else`, the expression after
`else` gives the first elements. Otherwise elements before the first one count as 0, and the first steps are written out
that way. The loops run over all indices in their order; passes on nests turn those over the other axes into vectors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder
from ...ir.dtypes import DType
from ...ir.errors import IndexProblem, Span, TypeProblem, Unsupported, ValueProblem
from ...ir.graph import Value
from ...ir.records import record, replace
from ...ir.types import TensorType
from ..language import syntax
from ..language.declared import declare
from ..language.syntax import Expr, within
from ..lowering.as_python import PythonWriter, placed
from ..lowering.element_stores import ElementStores
from ..lowering.frame import Environment, Variable
from ..maker import Maker
from ..weak import dtype_of
from .definition import ArrayBorder
from .pieces import Box, evaluated, filled_out
from .ranges import named, ranges
from .scope import IndexScope

if TYPE_CHECKING:
    from ..lowering.expressions import Expressions

MOST_BACK = 8  # steps that an element may look back without `else`, because each is written out once
MOST_ROUNDS = 8  # until the dtype settles
BEFORE = "%before"  # the variable that stands for earlier elements while the dtype is found
START = "%start"

Access = tuple[int, int]  # the axis along which an access looks back, and how far


def _is_own(expr: Expr, name: str) -> bool:
    return isinstance(expr, syntax.Index) and isinstance(expr.value, syntax.Name) and expr.value.name == name


@record(eq=False)
class Recurrence:
    """A definition that reads itself, with the ranges of its indices."""

    statement: syntax.Definition
    outside: Environment
    expressions: Expressions
    stores: ElementStores

    def array(self) -> Value:
        """Add the loop and return the array."""
        statement, name = self.statement, self.statement.name.name
        axis, back = self._distance()
        whole, inside = self._boxes(axis, back)
        dtype = self._dtype(whole, inside)
        expressions, frame = self.expressions, self.outside.plain
        frame = replace(frame, variables=dict(frame.variables), sizes=dict(frame.sizes))
        maker = Maker(expressions.builder, statement.span)
        for k, (index, full) in enumerate(zip(inside, whole, strict=True)):
            frame.sizes.update({f"%from{k}": index.start, f"%to{k}": index.stop, f"%size{k}": full.stop})
        writer = PythonWriter(frame.unit)
        lines = [self._empty(writer, dtype)]
        if statement.other is not None:
            start = evaluated(statement.other, whole, self.outside, expressions)
            frame.variables[START] = Variable(filled_out(maker, start, whole, dtype))
            lines += [
                self._assigned(writer, (syntax.Literal(statement.span, ...),), syntax.Name(statement.span, START))
            ]
            lines += [self._loops(writer, statement.value, {})]
        else:
            lines += [self._first(writer, axis, k) for k in range(back)]
            lines += [self._loops(writer, statement.value, {axis: back})]
        shape = tuple(index.size for index in whole)
        (made,) = self.stores.add(lines, [(name, TensorType(dtype, shape))], expressions.builder, frame, statement.span)
        return made

    # -- what it reads

    def _distance(self) -> Access:
        """Find along which axis, and how far back at most, the definition reads itself."""
        accesses = [e for e in within(self.statement.value) if _is_own(e, self.statement.name.name)]
        found = [self._access(e) for e in accesses if isinstance(e, syntax.Index)]
        axis, back = found[0][0], max(steps for _, steps in found)
        for access, (own, _) in zip(accesses, found, strict=True):
            if own != axis:
                raise Unsupported(
                    "a recurrence can only run along one axis", access.span, "define one array after another"
                )
        if self.statement.other is None and back > MOST_BACK:
            hint = "give a range, and the first elements with 'else'"
            raise Unsupported(
                f"without 'else', an element can look back {MOST_BACK} steps at most", accesses[0].span, hint
            )
        return axis, back

    def _access(self, access: syntax.Index) -> Access:
        names = [named(item).name for item in self.statement.indices]
        found: list[Access] = []
        for axis, item in enumerate(access.items if len(access.items) == len(names) else ()):
            match item:
                case syntax.Name():
                    fits = item.name == names[axis]
                case syntax.Binary(op="-", left=syntax.Name() as index, right=syntax.Literal(value=steps)):
                    fits = index.name == names[axis] and type(steps) is int and steps > 0
                    found.append((axis, int(str(steps)) if fits else 0))
                case _:
                    fits = False
            if not fits:
                found.clear()
                break
        if len(found) != 1:
            shown = ", ".join([f"{names[0]} - 1", *names[1:]])
            hint = f"look back along one axis by a number of steps, as in {self.statement.name.name}[{shown}]"
            raise Unsupported("a definition can only read its own earlier elements", access.span, hint)
        return found[0]

    def _boxes(self, axis: int, back: int) -> tuple[Box, Box]:
        """Return the ranges of the whole array and of the loop."""
        statement = self.statement
        plain = _replaced(statement.value, self._hide)
        if statement.other is not None:
            border = ArrayBorder(_with_value(statement, plain), statement.other, self.outside, self.expressions)
            start = border.inside[axis].start
            if not isinstance(start, int) or start < back:
                hint = f"write '{border.inside[axis].name} in {back}..', so that 'else' gives the first elements"
                raise IndexProblem(
                    f"the range starts at {start}, but an element looks back {back}", statement.span, hint
                )
            return border.whole, border.inside
        whole = ranges(statement.indices, (plain,), self.outside, self.expressions)
        for index in whole:
            if index.start != 0:
                hint = "give the first elements with 'else'"
                raise ValueProblem(
                    f"the range of '{index.name}' must start at 0, not {index.start}", statement.span, hint
                )
        return whole, whole

    # -- its dtype

    def _dtype(self, whole: Box, inside: Box) -> DType:
        """Find the dtype of the elements: the same one comes out if they are computed from earlier elements of that
        dtype.
        """
        statement, expressions = self.statement, self.expressions
        if statement.type is not None and (declared := declare(statement.type, computed=True)).dtype is not None:
            self._element(whole, inside, declared.dtype)
            return declared.dtype
        with expressions.building(Builder("types", expressions.builder.facts)):
            first = statement.other or _replaced(statement.value, self._hide)
            found = dtype_of(evaluated(first, whole if statement.other else inside, self.outside, expressions))
        for _ in range(MOST_ROUNDS):
            dtype = found.strong
            found = self._element(whole, inside, dtype)
            if found.strong == dtype or found.weak:
                return dtype
        raise TypeProblem("the dtype of the elements changes from step to step", statement.value.span)

    def _element(self, whole: Box, inside: Box, dtype: DType) -> DType:
        """Return the dtype of an element that is computed from earlier ones of this dtype; accesses are checked."""
        expressions, outside = self.expressions, self.outside
        names = [syntax.Name(self.statement.span, named(item).name) for item in self.statement.indices]

        def earlier(expr: Expr) -> Expr | None:
            if not _is_own(expr, self.statement.name.name):
                return None
            return syntax.Index(expr.span, syntax.Name(expr.span, BEFORE), tuple(names))

        shape = tuple(index.size for index in whole)
        known = Variable(Value(TensorType(dtype, shape), name="unknown"))
        frame = replace(outside, variables={**outside.variables, BEFORE: known}, scope=IndexScope())
        with expressions.building(Builder("types", expressions.builder.facts)):
            return dtype_of(evaluated(_replaced(self.statement.value, earlier), inside, frame, expressions))

    def _hide(self, expr: Expr) -> Expr | None:
        return syntax.Literal(expr.span, 0) if _is_own(expr, self.statement.name.name) else None

    # -- the loops

    def _empty(self, writer: PythonWriter, dtype: DType) -> ast.stmt:
        span = self.statement.span
        sizes = tuple(syntax.Name(span, f"%size{k}") for k in range(len(self.statement.indices)))
        kind = syntax.Argument(span, "dtype", syntax.Name(span, f"%{dtype.name}"))
        made = syntax.Call(
            span, syntax.Name(span, "empty"), (syntax.Argument(span, None, syntax.TupleOf(span, sizes)), kind)
        )
        return writer.statement(syntax.Assign(span, syntax.Name(span, self.statement.name.name), None, made))

    def _assigned(self, writer: PythonWriter, items: Sequence[Expr], value: Expr) -> ast.stmt:
        span = self.statement.span
        target = syntax.Index(span, syntax.Name(span, self.statement.name.name), tuple(items))
        return writer.statement(syntax.Assign(span, target, None, value))

    def _loops(
        self, writer: PythonWriter, value: Expr, starts: dict[int, int], fixed: dict[str, int] | None = None
    ) -> ast.stmt:
        """Write the loops over the indices that are not fixed.

        `starts` has the first number of an axis, where it is not 0.
        """
        span, fixed = self.statement.span, fixed or {}
        names = [named(item).name for item in self.statement.indices]
        value = _replaced(value, _as_number(frozenset(names)))
        body = self._assigned(writer, [_at(span, name, fixed) for name in names], value)
        for k in reversed(range(len(names))):
            if names[k] in fixed:
                continue
            first: Expr = syntax.Literal(span, starts[k]) if k in starts else syntax.Name(span, f"%from{k}")
            bounds = [writer.expr(first), writer.expr(syntax.Name(span, f"%to{k}"))]
            steps = placed(ast.Call(writer.function("range", span), bounds, []), span)
            body = placed(ast.For(placed(ast.Name(names[k], ast.Store()), span), steps, [body], []), span)
        return body

    def _first(self, writer: PythonWriter, axis: int, step: int) -> ast.stmt:
        """Write one of the first steps, in which elements before the start count as 0."""
        span = self.statement.span
        names = [named(item).name for item in self.statement.indices]

        def known(expr: Expr) -> Expr | None:
            if isinstance(expr, syntax.Index) and _is_own(expr, self.statement.name.name):
                _, back = self._access(expr)
                if back > step:
                    return syntax.Literal(expr.span, 0)
                items = [syntax.Literal(expr.span, step - back) if k == axis else i for k, i in enumerate(expr.items)]
                return syntax.Index(expr.span, expr.value, tuple(items))
            return (
                syntax.Literal(expr.span, step) if isinstance(expr, syntax.Name) and expr.name == names[axis] else None
            )

        value = _replaced(_replaced(self.statement.value, _as_number(frozenset(names))), known)
        body = self._loops(writer, value, {}, {names[axis]: step})
        has_it = writer.expr(
            syntax.Compare(span, syntax.Literal(span, step), (("<", syntax.Name(span, f"%to{axis}")),))
        )
        return placed(ast.If(has_it, [body], []), span)  # type: ignore[no-any-return]


def _at(span: Span, name: str, fixed: dict[str, int]) -> Expr:
    return syntax.Literal(span, fixed[name]) if name in fixed else syntax.Name(span, name)


def _as_number(names: frozenset[str]) -> Callable[[Expr], Expr | None]:
    """Turn indices that are used as numbers into i64, as in index notation. Those between brackets stay as they are."""

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, syntax.Index):
            return expr
        if isinstance(expr, syntax.Name) and expr.name in names:
            return syntax.Call(expr.span, syntax.Name(expr.span, "i64"), (syntax.Argument(expr.span, None, expr),))
        return None

    return change


def _replaced(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Copy an expression with some parts replaced."""

    def copied(x: object) -> object:
        if isinstance(x, Expr) and (new := change(x)) is not None:
            return new
        if isinstance(x, syntax.SyntaxNode):
            fields = {name: copied(getattr(x, name)) if name != "span" else x.span for name in x.FIELDS}
            return type(x)(**fields, depth=x.depth)
        return tuple(map(copied, x)) if isinstance(x, tuple) else x

    made = copied(expr)
    assert isinstance(made, Expr)
    return made


def _with_value(statement: syntax.Definition, value: Expr) -> syntax.Definition:
    fields = {name: getattr(statement, name) for name in statement.FIELDS}
    return syntax.Definition(**{**fields, "value": value}, depth=statement.depth)

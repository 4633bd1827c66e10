"""Write statements of a kernel as Python's syntax tree, which the front end of programs lowers to a loop nest.

Nothing is executed. Names that begin with `%` are functions: they can't be written in a kernel, so no variable has one.
Every node keeps the place in the `.weft` file that it comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ir.dtypes import BY_NAME
from ...ir.errors import Span, Unsupported
from ..language import syntax
from ..language.modules import Unit
from ..language.syntax import Expr
from ..numpy.functions import CONSTANTS, FUNCTIONS
from .jumps import is_plain

FUNCTION = "%"
PLACE = "weft_span"  # the attribute of a node that holds its place
MOST_INLINED = 32  # fns inside one another
_OPERATORS: Mapping[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift, "@": ast.MatMult,
}  # fmt: skip
_SIGNS: Mapping[str, type[ast.unaryop]] = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert, "not": ast.Not}
_COMPARISONS: Mapping[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}  # fmt: skip


def placed(node: Any, span: Span) -> Any:
    """Give a node its place."""
    setattr(node, PLACE, span)
    node.lineno = node.end_lineno = span.line
    node.col_offset = node.end_col_offset = span.column
    return node


def function_of(name: str) -> Any:
    """Return what a name that begins with `%` stands for, or None."""
    own = name.removeprefix(FUNCTION)
    if own == name:
        return None
    if own in ("range", "bool"):
        return {"range": range, "bool": bool}[own]
    return BY_NAME[own].numpy.type if own in BY_NAME else getattr(np, own, None)


class PythonWriter:
    """Writes statements and expressions of one body. `unit` has the names that its file can use."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._inlined = 0

    # -- statements

    def block(self, statements: tuple[syntax.Statement, ...]) -> list[ast.stmt]:
        return [self.statement(s) for s in statements]

    def statement(self, node: syntax.Statement) -> ast.stmt:
        made: Any
        match node:
            case syntax.Let():
                if node.type is not None:
                    raise _refused("a declared type", node.type.span)
                names: list[ast.expr] = [self._store(n.name, n.span) for n in node.names]
                target = names[0] if len(names) == 1 else placed(ast.Tuple(names, ast.Store()), node.span)
                made = ast.Assign([target], self.expr(node.value))
            case syntax.Assign():
                made = self._assign(node)
            case syntax.If():
                made = ast.If(self.expr(node.condition), self.block(node.then.statements), self.block(node.otherwise))
            case syntax.For():
                bounds = [self.expr(node.start), self.expr(node.stop)]
                steps = placed(ast.Call(self.function("range", node.span), bounds, []), node.span)
                made = ast.For(
                    self._store(node.index.name, node.index.span), steps, self.block(node.body.statements), []
                )
            case syntax.While():
                made = ast.While(self.expr(node.condition), self.block(node.body.statements), [])
            case syntax.Jump():
                made = ast.Break() if node.what == "break" else ast.Continue()
            case syntax.Definition():
                raise _refused("an array that is defined by its elements", node.span)
            case _:
                raise _refused("'return'", node.span)
        return placed(made, node.span)  # type: ignore[no-any-return]

    def _assign(self, node: syntax.Assign) -> ast.stmt:
        target = self.expr(node.target)
        assert isinstance(target, (ast.Name, ast.Subscript))
        target.ctx = ast.Store()
        value = self.expr(node.value)
        return ast.Assign([target], value) if node.op is None else ast.AugAssign(target, _OPERATORS[node.op](), value)

    def _store(self, name: str, span: Span) -> ast.Name:
        return placed(ast.Name(name, ast.Store()), span)  # type: ignore[no-any-return]

    # -- expressions

    def expr(self, node: Expr) -> ast.expr:
        return placed(self._expr(node), node.span)  # type: ignore[no-any-return]

    def function(self, name: str, span: Span) -> ast.Name:
        return placed(ast.Name(FUNCTION + name, ast.Load()), span)  # type: ignore[no-any-return]

    def _expr(self, node: Expr) -> ast.expr:
        match node:
            case syntax.Literal():
                return ast.Constant(node.value)  # type: ignore[arg-type]
            case syntax.Name():
                return self._name(node)
            case syntax.Unary():
                return ast.UnaryOp(_SIGNS[node.op](), self.expr(node.operand))
            case syntax.Binary():
                return self._chain(node)
            case syntax.Compare():
                others = [self.expr(e) for _, e in node.rest]
                return ast.Compare(self.expr(node.first), [_COMPARISONS[op]() for op, _ in node.rest], others)
            case syntax.Logical():
                truths = [self._truth(e) for e in node.operands]
                return ast.BoolOp(ast.And() if node.op == "and" else ast.Or(), truths)
            case syntax.Conditional():
                return ast.IfExp(self.expr(node.condition), self.expr(node.then), self.expr(node.other))
            case syntax.Call():
                return self._call(node)
            case syntax.Index():
                items = [self.expr(e) for e in node.items]
                inner = items[0] if len(items) == 1 else placed(ast.Tuple(items, ast.Load()), node.span)
                return ast.Subscript(self.expr(node.value), inner, ast.Load())
            case syntax.Slice():
                return ast.Slice(*(None if e is None else self.expr(e) for e in (node.start, node.stop, node.step)))
            case syntax.TupleOf():
                return ast.Tuple([self.expr(e) for e in node.items], ast.Load())
        raise _refused("this expression", node.span)

    def _chain(self, node: syntax.Binary) -> ast.expr:
        """Write a chain of operators in a loop, because it may be thousands long."""
        chain = [node]
        while isinstance(chain[-1].left, syntax.Binary):
            chain.append(chain[-1].left)
        total = self.expr(chain[-1].left)
        for each in reversed(chain):
            total = placed(ast.BinOp(total, _OPERATORS[each.op](), self.expr(each.right)), each.span)
        return total

    def _truth(self, node: Expr) -> ast.expr:
        """Write an operand of `and` or `or`, which give bools here."""
        inner = self.expr(node)
        is_bool = isinstance(node, (syntax.Compare, syntax.Logical)) or getattr(node, "op", "") == "not"
        return inner if is_bool else placed(ast.Call(self.function("bool", node.span), [inner], []), node.span)

    def _name(self, node: syntax.Name) -> ast.expr:
        found = self._unit.names.get(node.name)
        if found is not None and isinstance(found.item, syntax.Const):
            if found.item.type is not None:
                raise _refused("a const with a type", node.span)
            return PythonWriter(found.unit).expr(found.item.value)
        return ast.Name(node.name, ast.Load())

    def _call(self, node: syntax.Call) -> ast.expr:
        if not isinstance(node.callee, syntax.Name):
            raise _refused("a reduction over an index", node.span)
        name = node.callee.name
        found = self._unit.names.get(name)
        if found is not None:
            return self._inline(node, found.item, found.unit)
        if name not in BY_NAME and (name not in FUNCTIONS or function_of(FUNCTION + name) is None):
            raise _refused(f"'{name}'", node.span)
        args = [self.expr(a.value) for a in node.arguments if a.name is None]
        named = [placed(ast.keyword(a.name, self.expr(a.value)), a.span) for a in node.arguments if a.name is not None]
        return ast.Call(self.function(name, node.callee.span), args, named)

    def _inline(self, node: syntax.Call, item: syntax.Item, unit: Unit) -> ast.expr:
        """Write a call of a `fn` that is one expression as that expression."""
        if (
            not isinstance(item, syntax.Function)
            or item.is_kernel
            or not is_plain(item)
            or len(item.body.statements) > 1
        ):
            raise _refused("a kernel, or a fn with statements", node.span)
        (last,) = item.body.statements
        assert isinstance(last, syntax.Return)
        if len(last.values) != 1 or item.outputs is not None or any(p.type for p in item.params):
            raise _refused("a fn with declared types or several results", node.span)
        given: dict[str, Expr] = {
            p.name: a.value for p, a in zip(item.params, node.arguments, strict=False) if not a.name
        }
        given |= {a.name: a.value for a in node.arguments if a.name}
        given = {**{p.name: p.default for p in item.params if p.default is not None}, **given}
        names = [p.name for p in item.params]
        if set(given) != set(names) or len(node.arguments) > len(names):
            raise _refused(f"{item.name.name}({', '.join(names)}) with other arguments", node.span)
        self._inlined += 1
        if self._inlined > MOST_INLINED:
            raise _refused("so many fns inside one another", node.span)
        values = {name: self.expr(value) for name, value in given.items()}
        body = PythonWriter(unit).expr(last.values[0])
        self._inlined -= 1
        return _Replaced(values).visit(body)  # type: ignore[no-any-return]


class _Replaced(ast.NodeTransformer):
    """Puts arguments in the place of parameters."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def number_of(name: str) -> float | complex | None:
    """Return the value of a built-in constant such as `pi`."""
    return CONSTANTS.get(name)


def _refused(what: str, span: Span) -> Unsupported:
    hint = "compute it before the loop, or write it out"
    if what == "'return'":
        hint = "leave the loop by 'break', and return after it"
    return Unsupported(f"{what} can't be used in a loop that changes elements of an array", span, hint)

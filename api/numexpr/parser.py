"""Parse the text of an expression. Python's `ast` reads it, an allow-list takes it apart, and nothing is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Final

from .expressions import ConstantNode, ExpressionNode, VariableNode, apply, functions, node

MAX_TEXT = 65_536  # characters

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_FORBIDDEN = re.compile(r"[;:\[]|(?<!\w)__\w+__(?!\w)")

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], str]] = {ast.USub: "neg", ast.Invert: "invert"}
_COMPARE: Final[dict[type[ast.cmpop], tuple[str, bool]]] = {
    ast.Gt: ("gt", False), ast.GtE: ("ge", False), ast.Lt: ("gt", True), ast.LtE: ("ge", True),
    ast.Eq: ("eq", False), ast.NotEq: ("ne", False),
}  # fmt: skip
_TRUTH = "an expression has no truth value; use & and | with parentheses instead of and, or, not and a < b < c"


def parse(text: str, kinds: Mapping[str, str], level: str, sanitize: bool = True) -> ExpressionNode:
    """Return the tree of an expression. `kinds` are those of its variables; all others are doubles."""
    if len(text) > MAX_TEXT:
        raise ValueError(f"the expression has {len(text)} characters; at most {MAX_TEXT} are allowed")
    if sanitize and _FORBIDDEN.search(_QUOTED.sub("", text)):
        raise ValueError(f"the expression {text!r} contains ';', ':', '[' or a name such as __name__")
    try:
        tree = ast.parse(text.strip(), "<expression>", "eval")
        return node(_Parser(text, kinds, level).visit(tree.body))
    except (RecursionError, MemoryError):
        raise ValueError("the expression is nested too deeply") from None


class _Parser:
    def __init__(self, text: str, kinds: Mapping[str, str], level: str) -> None:
        self.text, self.kinds, self.level = text, kinds, level

    def visit(self, tree: ast.expr) -> Any:
        match tree:
            case ast.BinOp():
                return self.chain(tree)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.visit(operand)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return apply(_UNARY[type(op)], self.visit(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                name, swapped = _COMPARE[type(op)]
                a, b = self.visit(left), self.visit(right)
                return apply(name, b, a) if swapped else apply(name, a, b)
            case ast.Compare(ops=[_, _, *_]) | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.IfExp():
                raise TypeError(_TRUTH)
            case ast.Constant(value=value) if isinstance(value, (bool, int, float, complex, str, bytes)):
                return ConstantNode(value)
            case ast.Name(id=name):
                return self.variable(name)
            case ast.Attribute(value=value, attr="real" | "imag" as part):
                return apply(part, self.visit(value))
            case ast.Call():
                return self.call(tree)
        raise self.refused(tree)

    def chain(self, tree: ast.BinOp) -> ExpressionNode:
        """Visit operators from the left; a long sum leans to the left and must not nest calls."""
        pending: list[ast.BinOp] = []
        first: ast.expr = tree
        while isinstance(first, ast.BinOp):
            pending.append(first)
            first = first.left
        result = self.visit(first)
        for part in reversed(pending):
            if type(part.op) not in _BINARY:
                raise self.refused(part)
            result = apply(_BINARY[type(part.op)], result, self.visit(part.right))
        return node(result)

    def variable(self, name: str) -> VariableNode:
        if name in functions:
            raise TypeError(f"{name!r} is a function; call it or rename the variable")
        variable = VariableNode(name, self.kinds.get(name, "double"))
        variable.level = self.level
        return variable

    def call(self, tree: ast.Call) -> ExpressionNode:
        if not isinstance(tree.func, ast.Name) or tree.func.id not in functions:
            raise self.refused(tree.func if isinstance(tree.func, ast.Attribute) else tree)
        arguments = [self.argument(x) for x in tree.args]
        keywords = {k.arg: self.argument(k.value) for k in tree.keywords if k.arg}
        if len(keywords) != len(tree.keywords):
            raise self.refused(tree)
        return functions[tree.func.id](*arguments, **keywords)

    def argument(self, tree: ast.expr) -> Any:
        return None if isinstance(tree, ast.Constant) and tree.value is None else self.visit(tree)

    def refused(self, tree: ast.AST) -> ValueError:
        part = ast.get_source_segment(self.text.strip(), tree) or type(tree).__name__
        return ValueError(f"{part!r} is not allowed in an expression")

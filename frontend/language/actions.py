"""Build nodes of the abstract syntax, with one method for each grammar rule.

The parser calls them bottom up, so nothing here recurses; every node is counted and its depth checked as it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from ...ir.errors import LimitExceeded, OverflowProblem, Span, SyntaxProblem
from ...ir.limits import limiter
from . import syntax
from .spans import Source
from .syntax import Expr, SyntaxNode
from .tables import Action
from .tokens import Token

N = TypeVar("N", bound=SyntaxNode)
Children = list[Any]

MAX_SYNTAX = 200_000
"""Parts of a program in one file: names, numbers, operators, statements."""

IMPL = "impl"  # the decorator that registers a kernel as an implementation of an op
_WORDS = {"TRUE": True, "FALSE": False, "NONE": None, "ELLIPSIS": ...}


class Several(SyntaxNode):
    """The items that a list rule passes to the rule around it."""

    items: tuple[Any, ...]


@cache
def _rules() -> tuple[str, ...]:
    """The names of the methods of `Actions` that are actions."""
    return tuple(rule for rule in dir(Actions) if not rule.startswith("_") and rule != "table")


class Actions:
    """Builds the syntax nodes of one text."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = 0

    def table(self) -> Mapping[str, Action]:
        """Map each rule and alias of the grammar to its action."""
        return {rule: getattr(self, rule) for rule in _rules()}

    def _make(self, kind: type[N], children: Children, *fields: Any, chain: SyntaxNode | None = None) -> N:
        """Make a node from its children. `chain` is the left side of an operator chain and adds no depth."""
        span = self._span(children)
        depth = 1 + max((c.depth for c in children if isinstance(c, SyntaxNode) and c is not chain), default=0)
        if chain is not None:
            depth = max(depth, chain.depth)
        if depth > limiter.now.depth:
            hint = "give parts of the expression a name with 'let'"
            raise LimitExceeded(f"the code is nested more than {limiter.now.depth} levels deep", span, hint)
        self._count += 1
        if self._count > MAX_SYNTAX:
            hint = "split the file and import the parts"
            raise LimitExceeded(f"more than {MAX_SYNTAX} names, numbers and operators in one file", span, hint)
        return kind(span, *fields, depth=depth)

    def _span(self, children: Children) -> Span:
        if not children:
            return self._source.span(0, 0)
        first, last = children[0], children[-1]
        if isinstance(first, Token) and isinstance(last, Token):
            return self._source.span(first.start, last.start + len(last))
        return self._source.join(self._one(first), self._one(last))

    def _one(self, child: Token | SyntaxNode) -> Span:
        if isinstance(child, SyntaxNode):
            return child.span
        return self._source.span(child.start, child.start + len(child))

    def _several(self, children: Children) -> Several:
        return self._make(Several, children, tuple(_nodes(children, SyntaxNode)))

    params = dims = results = arguments = subscripts = _several

    # -- items

    def start(self, children: Children) -> syntax.File:
        items = _nodes(children, syntax.Item)
        span = self._source.span(0, 0)
        return syntax.File(span, tuple(items), depth=1 + max((i.depth for i in items), default=0))

    def import_item(self, children: Children) -> syntax.Import:
        return self._make(syntax.Import, children, str(children[1])[1:-1])

    def const_item(self, children: Children) -> syntax.Const:
        name = self.name([children[1]])
        return self._make(syntax.Const, children, name, _first(children, syntax.TypeSpec), children[-1])

    def function(self, children: Children) -> syntax.Function:
        name, body = self.name([children[1]]), children[-1]
        params, outputs = _declared(children[2:-1])
        is_kernel = children[0].type == "KERNEL"
        made = self._make(syntax.Function, children, name, is_kernel, params, outputs, body, ())
        return made.at(self._span(children[:-1]))

    def extern_item(self, children: Children) -> syntax.Extern:
        head, (before, library, between, symbol) = children[:-4], children[-4:]
        for token, word in ((before, "from"), (between, "symbol")):
            if token != word:
                raise SyntaxProblem(f"expected '{word}', not '{token}'", self._one(token))
        params, outputs = _declared(head[3:])
        body = self._make(syntax.Block, [symbol], ())
        texts = (str(library)[1:-1], str(symbol)[1:-1])
        return self._make(syntax.Extern, children, self.name([head[2]]), True, params, outputs, body, (), *texts)

    def decorator(self, children: Children) -> syntax.Decorator:
        kept = [c for c in children if not isinstance(c, Token) or c.type != "_NL"]
        arguments = _first(children, Several)
        return self._make(syntax.Decorator, kept, str(children[1]), arguments.items if arguments else ())

    def decorated(self, children: Children) -> syntax.Item:
        decorator, item = children
        if decorator.name != IMPL or not isinstance(item, syntax.Function):
            return self._make(syntax.LaterItem, children[:1], f"@{decorator.name}")
        return item.decorated(decorator)

    def param(self, children: Children) -> syntax.Param:
        fields = (str(children[0]), _first(children, syntax.TypeSpec), _first(children, Expr))
        return self._make(syntax.Param, children, *fields)

    def annotation(self, children: Children) -> syntax.TypeSpec:
        found = children[1]
        assert isinstance(found, syntax.TypeSpec)
        return found

    def type(self, children: Children) -> syntax.TypeSpec:
        dims = _first(children, Several)
        shape = dims.items if dims else ()
        return self._make(syntax.TypeSpec, children, str(children[0]), shape if len(children) > 1 else None)

    def named(self, children: Children) -> syntax.Output:
        name = str(children[0]) if len(children) > 1 else None
        return self._make(syntax.Output, children, name, children[-1])

    def result(self, children: Children) -> Several:
        found = children[1]
        if isinstance(found, Several):
            return found
        return self._make(Several, children, (self._make(syntax.Output, [found], None, found),))

    # -- statements

    def block(self, children: Children) -> syntax.Block:
        return self._make(syntax.Block, children, tuple(_nodes(children, syntax.Statement)))

    def expression_body(self, children: Children) -> syntax.Block:
        value = children[1]
        return self._make(syntax.Block, children, (self._make(syntax.Return, [value], (value,)),))

    def let(self, children: Children) -> syntax.Let:
        names = tuple(self.name([c]) for c in children[1:] if isinstance(c, Token) and c.type == "NAME")
        mutable = children[0].type == "VAR"
        return self._make(syntax.Let, children, names, _first(children, syntax.TypeSpec), children[-1], mutable)

    def assign(self, children: Children) -> syntax.Assign:
        target, token, value = children
        return self._make(syntax.Assign, children, target, str(token)[:-1] or None, value)

    def if_statement(self, children: Children) -> syntax.If:
        other = children[4] if len(children) > 3 else None
        if isinstance(other, syntax.If):
            other = self._make(syntax.Block, [other], (other,))
        return self._make(syntax.If, children, children[1], children[2], other)

    def definition(self, children: Children) -> syntax.Definition:
        keyword, name, _, indices, *_ = children
        value, *other = [c for c in children[4:] if isinstance(c, Expr)]
        spec, mutable = _first(children, syntax.TypeSpec), keyword.type == "VAR"
        fields = (self.name([name]), indices.items, spec, value, other[0] if other else None, mutable)
        return self._make(syntax.Definition, children, *fields)

    def for_statement(self, children: Children) -> syntax.For:
        start, _, stop, block = children[3:]
        return self._make(syntax.For, children, self.name([children[1]]), start, stop, block)

    def while_statement(self, children: Children) -> syntax.While:
        return self._make(syntax.While, children, children[1], children[2])

    def jump(self, children: Children) -> syntax.Jump:
        return self._make(syntax.Jump, children, str(children[0]))

    def return_statement(self, children: Children) -> syntax.Return:
        return self._make(syntax.Return, children, tuple(_nodes(children, Expr)))

    def expr_statement(self, children: Children) -> syntax.Bare:
        return self._make(syntax.Bare, children, children[0])

    # -- expressions

    def conditional(self, children: Children) -> syntax.Conditional:
        return self._make(syntax.Conditional, children, children[2], children[0], children[4])

    def logical(self, children: Children) -> syntax.Logical:
        return self._make(syntax.Logical, children, str(children[1]), tuple(children[::2]))

    def unary(self, children: Children) -> syntax.Unary:
        return self._make(syntax.Unary, children, str(children[0]), children[1])

    def compare(self, children: Children) -> syntax.Compare:
        rest = tuple(zip(map(str, children[1::2]), children[2::2], strict=True))
        return self._make(syntax.Compare, children, children[0], rest)

    def binary(self, children: Children) -> syntax.Binary:
        left, op, right = children
        chain = left if isinstance(left, syntax.Binary) and op != "**" else None
        return self._make(syntax.Binary, children, str(op), left, right, chain=chain)

    def call(self, children: Children) -> syntax.Call:
        arguments = children[2].items if len(children) > 3 else ()
        return self._make(syntax.Call, children, children[0], arguments)

    def argument(self, children: Children) -> syntax.Argument:
        name = str(children[0]) if len(children) > 1 else None
        return self._make(syntax.Argument, children, name, children[-1])

    def index(self, children: Children) -> syntax.Index:
        return self._make(syntax.Index, children, children[0], children[2].items)

    def slice(self, children: Children) -> syntax.Slice:
        fields: list[Expr | None] = [None]
        for child in children:
            if isinstance(child, Token):
                fields.append(None)
            else:
                fields[-1] = child
        start, stop, step = [*fields, None][:3]
        return self._make(syntax.Slice, children, start, stop, step)

    def range(self, children: Children) -> syntax.Range:
        index, _, start, _, stop = children
        return self._make(syntax.Range, children, index, start, stop)

    def tuple(self, children: Children) -> syntax.TupleOf:
        return self._make(syntax.TupleOf, children, tuple(_nodes(children, Expr)))

    def group(self, children: Children) -> Expr:
        """Parentheses make no node, but the span that an error marks includes them."""
        inner = children[1]
        assert isinstance(inner, Expr)
        return inner.at(self._span(children))

    def name(self, children: Children) -> syntax.Name:
        return self._make(syntax.Name, children, str(children[0]))

    def string(self, children: Children) -> syntax.Literal:
        return self._make(syntax.Literal, children, str(children[0])[1:-1])

    def word(self, children: Children) -> syntax.Literal:
        return self._make(syntax.Literal, children, _WORDS[children[0].type])

    def number(self, children: Children) -> syntax.Literal:
        return self._make(syntax.Literal, children, self._value(children[0]))

    def _value(self, token: Token) -> complex:
        text = str(token).lower()
        try:
            if text.startswith(("0x", "0b", "0o")):
                return self._integer(token, int(text, 0)) if len(text) < 80 else self._integer(token, 1 << 64)
            if text.endswith("j"):
                return complex(text)
            if "." in text or "e" in text:
                return self._float(token, float(text))
            return self._integer(token, int(text) if len(text) < 80 else 1 << 64)
        except ValueError as error:
            raise SyntaxProblem(f"'{token}' is not a number", self._one(token)) from error

    def _integer(self, token: Token, value: int) -> int:
        if value < 1 << 64:
            return value
        raise OverflowProblem("the integer does not fit 64 bits", self._one(token), "write a float, as in 1e30")

    def _float(self, token: Token, value: float) -> float:
        if math.isfinite(value):
            return value
        raise OverflowProblem("the number does not fit f64", self._one(token), "write 'inf' for infinity")


def _nodes(children: Children, kind: type[N]) -> list[N]:
    return [c for c in children if isinstance(c, kind)]


def _declared(children: Children) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """Pick the parameters and results from the children of a function."""
    params: tuple[Any, ...] = ()
    outputs = None
    for child in children:
        if isinstance(child, Several) and all(isinstance(i, syntax.Param) for i in child.items):
            params = child.items
        elif isinstance(child, Several):
            outputs = child.items
    return params, outputs


def _first(children: Children, kind: type[N]) -> N | None:
    return next((c for c in children if isinstance(c, kind)), None)

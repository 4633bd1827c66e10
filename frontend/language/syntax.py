"""Define the abstract syntax of a `.weft` file: frozen nodes, each with its span.

`depth` is how deep a node nests; the left side of a chain of operators does not add to it, because lowering
walks such a chain in a loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from ...ir.errors import Span


class SyntaxNode:
    """A node of the syntax. Its fields are declared by its class and base classes, and passed in order or by name.

    Nodes are frozen. They are not dataclasses, because defining thirty of those takes longer than parsing a file.
    """

    span: Span
    depth: int
    FIELDS: ClassVar[tuple[str, ...]] = ("span",)

    def __init_subclass__(cls) -> None:
        cls.FIELDS = (*cls.FIELDS, *inspect.get_annotations(cls))

    def __init__(self, *values: Any, depth: int = 1, **named: Any) -> None:
        given = {**dict(zip(self.FIELDS, values, strict=False)), **named}
        if len(values) + len(named) != len(self.FIELDS) or given.keys() != set(self.FIELDS):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.FIELDS)}")
        self.__dict__.update(given, depth=depth)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.FIELDS)
        return f"{type(self).__name__}({', '.join(shown)})"

    def at(self, span: Span) -> Self:
        """Return the same node with another span."""
        fields = {name: getattr(self, name) for name in self.FIELDS}
        return type(self)(**{**fields, "span": span}, depth=self.depth)


# -- expressions


class Expr(SyntaxNode):
    pass


class Literal(Expr):
    """A number, `true`, `false`, `None`, `...` or text."""

    value: object


class Name(Expr):
    name: str


class Unary(Expr):
    op: str
    operand: Expr


class Binary(Expr):
    op: str
    left: Expr
    right: Expr


class Compare(Expr):
    """`a < b <= c`: the first operand, then pairs of an operator and an operand."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


class Logical(Expr):
    op: str
    operands: tuple[Expr, ...]


class Conditional(Expr):
    condition: Expr
    then: Expr
    other: Expr


class Argument(SyntaxNode):
    name: str | None
    value: Expr


class Call(Expr):
    callee: Expr
    arguments: tuple[Argument, ...]


class Slice(Expr):
    start: Expr | None
    stop: Expr | None
    step: Expr | None


class Range(Expr):
    """`i in a..b` between brackets: index notation."""

    index: Expr
    start: Expr
    stop: Expr


class Index(Expr):
    value: Expr
    items: tuple[Expr, ...]


class TupleOf(Expr):
    items: tuple[Expr, ...]


# -- types


class TypeSpec(SyntaxNode):
    """A dtype or a class of dtypes; `dims` is None for a scalar."""

    name: str
    dims: tuple[Expr, ...] | None


class Param(SyntaxNode):
    name: str
    type: TypeSpec | None
    default: Expr | None


class Output(SyntaxNode):
    name: str | None
    type: TypeSpec


# -- statements


class Statement(SyntaxNode):
    pass


class Block(SyntaxNode):
    statements: tuple[Statement, ...]


class Let(Statement):
    """`let` or `var`; several names take the results of one call."""

    names: tuple[Name, ...]
    type: TypeSpec | None
    value: Expr
    mutable: bool


class Assign(Statement):
    """`target = value`; `op` is the operator of an update such as `+=`."""

    target: Expr
    op: str | None
    value: Expr


class If(Statement):
    condition: Expr
    then: Block
    other: Block | None

    @property
    def otherwise(self) -> tuple[Statement, ...]:
        """The statements of `else`; none without one."""
        return self.other.statements if self.other else ()


class For(Statement):
    """`for index in start..stop`."""

    index: Name
    start: Expr
    stop: Expr
    body: Block


class While(Statement):
    condition: Expr
    body: Block


class Jump(Statement):
    """`break` or `continue`."""

    what: str


class Return(Statement):
    values: tuple[Expr, ...]


class Bare(Statement):
    """An expression whose value is not used."""

    value: Expr


class Definition(Statement):
    """`let c[i, j in 1..n] = value else other`; `mutable` tells `var` from `let`."""

    name: Name
    indices: tuple[Expr, ...]
    type: TypeSpec | None
    value: Expr
    other: Expr | None
    mutable: bool


# -- items


class Item(SyntaxNode):
    pass


class Import(Item):
    path: str


class Const(Item):
    name: Name
    type: TypeSpec | None
    value: Expr


class Decorator(SyntaxNode):
    """`@name(arguments)` before an item."""

    name: str
    arguments: tuple[Argument, ...]


class Function(Item):
    """A `fn` or a `kernel`. `outputs` is None where no result is declared."""

    name: Name
    is_kernel: bool
    params: tuple[Param, ...]
    outputs: tuple[Output, ...] | None
    body: Block
    decorators: tuple[Decorator, ...]

    def decorated(self, decorator: Decorator) -> Self:
        """Return the same function with one more decorator in front."""
        fields = {name: getattr(self, name) for name in self.FIELDS}
        return type(self)(**{**fields, "decorators": (decorator, *self.decorators)}, depth=self.depth)


class Extern(Function):
    """`extern kernel`: it names a symbol of a shared library, and its body is empty."""

    library: str
    symbol: str


class LaterItem(Item):
    """A decorated item that is not in the language yet."""

    what: str


class File(SyntaxNode):
    items: tuple[Item, ...]


# -- what is inside an expression, except names that brackets bind, as in `sum[p](...)`


def parts_of(expr: Expr) -> Iterator[Expr]:
    """The direct parts of an expression."""
    match expr:
        case Unary():
            yield expr.operand
        case Binary():
            yield from (expr.left, expr.right)
        case Compare():
            yield expr.first
            yield from (operand for _, operand in expr.rest)
        case Logical():
            yield from expr.operands
        case Conditional():
            yield from (expr.condition, expr.then, expr.other)
        case Call():
            if isinstance(expr.callee, Index):
                yield from (item for item in expr.callee.items if isinstance(item, Range))
            yield from (a.value for a in expr.arguments)
        case Range():
            yield from (expr.start, expr.stop)
        case Slice():
            yield from (e for e in (expr.start, expr.stop, expr.step) if e is not None)
        case Index():
            yield from (expr.value, *expr.items)
        case TupleOf():
            yield from expr.items


def within(root: Expr) -> Iterator[Expr]:
    """The expression and all inside it, in the order in which they are written; a loop, because chains are long."""
    waiting = [root]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += reversed([*parts_of(expr)])


def index_name(item: Expr) -> Name | None:
    """The name that an item between the brackets of a definition or a reduction binds, if it is one."""
    name = item.index if isinstance(item, Range) else item
    return name if isinstance(name, Name) else None

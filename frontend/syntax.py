"""The abstract syntax of a `.weft` file: frozen nodes, each with its span.

`depth` is how deep a node nests; the left side of a chain of operators does not add to it, because lowering
walks such a chain in a loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.errors import Span


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    span: Span
    depth: int = field(default=1, kw_only=True, repr=False)


# -- expressions


@dataclass(frozen=True, slots=True, eq=False)
class Expr(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Expr):
    """A number, `true`, `false`, `None`, `...` or text."""

    value: object


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expr):
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Expr):
    op: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Compare(Expr):
    """`a < b <= c`: the first operand, then pairs of an operator and an operand."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Logical(Expr):
    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Conditional(Expr):
    condition: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Node):
    name: str | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expr):
    callee: Expr
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Expr):
    start: Expr | None
    stop: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Range(Expr):
    """`i in a..b` between brackets: index notation."""

    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Index(Expr):
    value: Expr
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TupleOf(Expr):
    items: tuple[Expr, ...]


# -- types


@dataclass(frozen=True, slots=True, eq=False)
class TypeSpec(Node):
    """A dtype or a class of dtypes; `dims` is None for a scalar."""

    name: str
    dims: tuple[Expr, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Param(Node):
    name: str
    type: TypeSpec | None


@dataclass(frozen=True, slots=True, eq=False)
class Output(Node):
    name: str | None
    type: TypeSpec


# -- statements


@dataclass(frozen=True, slots=True, eq=False)
class Statement(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Block(Node):
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Let(Statement):
    """`let` and `var`; several names take the results of one call."""

    names: tuple[Name, ...]
    type: TypeSpec | None
    value: Expr
    mutable: bool


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Statement):
    """`target = value`; `op` is the operator of `+=` and its like."""

    target: Expr
    op: str | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class If(Statement):
    condition: Expr
    then: Block
    other: Block | None


@dataclass(frozen=True, slots=True, eq=False)
class Return(Statement):
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Bare(Statement):
    """An expression whose value nothing uses."""

    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Later(Statement):
    """What parses and is not in the language yet: a loop, a jump, index notation."""

    what: str


# -- items


@dataclass(frozen=True, slots=True, eq=False)
class Item(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Import(Item):
    path: str


@dataclass(frozen=True, slots=True, eq=False)
class Const(Item):
    name: Name
    type: TypeSpec | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Function(Item):
    """A `fn` or a `kernel`. `outputs` is None where no result is declared."""

    name: Name
    is_kernel: bool
    params: tuple[Param, ...]
    outputs: tuple[Output, ...] | None
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class LaterItem(Item):
    """An `extern` or a decorated item: not in the language yet."""

    what: str


@dataclass(frozen=True, slots=True, eq=False)
class File(Node):
    items: tuple[Item, ...]

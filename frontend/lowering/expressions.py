"""Lower expressions: fold numbers and sizes, and make nodes for everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ...ir.builder import Builder
from ...ir.dims import Dim, Size
from ...ir.dtypes import BY_NAME, C128, F64, I64, U64, DType
from ...ir.errors import LimitExceeded, ShapeProblem, Span, TypeProblem, quantity
from ...ir.graph import Value
from ...ir.kernels import OpSource
from ...ir.limits import limiter
from ...ir.opdef import Trait
from ...ir.rules import shown
from ..indices.notation import IndexNotation
from ..language import syntax
from ..language.declared import Declared, declare
from ..language.modules import LoadedDefinition
from ..language.syntax import Expr
from ..maker import Maker
from ..numpy import functions
from ..numpy.powers import OPERATOR
from ..weak import Operand, Weak, combine, is_operand, select, settle
from . import folding
from .conform import conform
from .frame import Environment, Thing, Variable
from .lazy_operands import guarded

Conform = Callable[[Operand, Declared, str, Environment, Span], Value]
Inline = Callable[[LoadedDefinition, Sequence[Thing], Mapping[str, Thing], Span], Thing]

MAX_INLINE = 200
"""Depth of one kernel's expressions once every function that it calls stands in its place."""

OPERATORS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": OPERATOR,
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift", "<": "less",
    "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal",
    "@": "matmul",
}  # fmt: skip
SIGNS = {"-": "negative", "+": "positive", "~": "invert"}
_CLASSES = {"int": I64, "uint": U64, "float": F64, "complex": C128}
_NUMBERS = (bool, int, float, complex)
KINDS: Mapping[type, str] = {
    bool: "a bool", float: "a float", complex: "a complex number", str: "a string", tuple: "a tuple",
    type(None): "None", type(...): "'...'", slice: "a slice", DType: "a type",
}  # fmt: skip


class NestingLevel:
    """How deep the lowering is in expressions, blocks and inlined calls."""

    def __init__(self) -> None:
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1


class Expressions:
    """Lowers the expressions of one kernel and of everything inlined into it."""

    def __init__(self, builder: Builder, inline: Inline, ops: OpSource | None) -> None:
        self.builder = self._root = builder
        self._made = 0
        self.has_bodies = False  # whether the body of an `each` is being lowered
        self._inline = inline
        self._ops = ops
        self._level = NestingLevel()
        self._consts: dict[LoadedDefinition, Thing] = {}
        self._rules: dict[type[Expr], Callable[[Any, Environment], Thing]] = {
            syntax.Literal: lambda expr, frame: expr.value,
            syntax.Name: self._name,
            syntax.Unary: self._unary,
            syntax.Binary: self._binary,
            syntax.Compare: self._compare,
            syntax.Logical: self._logical,
            syntax.Conditional: self._conditional,
            syntax.Call: self.call,
            syntax.Index: self._index,
            syntax.Slice: self._slice,
            syntax.TupleOf: lambda expr, frame: tuple(self.value(e, frame) for e in expr.items),
        }
        self._indexed = IndexNotation(self, self._rules)

    def value(self, expr: Expr, frame: Environment) -> Thing:
        """Lower an expression and return its value."""
        rules = self._rules if frame.scope is None else self._indexed.rules
        with self.level(expr.span):
            return rules[type(expr)](expr, frame)

    def level(self, span: Span) -> NestingLevel:
        """Go one level deeper, and count it, so that no program overflows Python's stack."""
        if self._level.depth >= MAX_INLINE:
            hint = "use fewer functions that call one another, or name parts of the expression with 'let'"
            raise LimitExceeded(f"calls are nested more than {MAX_INLINE} levels deep once inlined", span, hint)
        return self._level

    def operand(self, expr: Expr, frame: Environment) -> Operand:
        """Lower an expression that must be a number or an array."""
        return as_operand(self.value(expr, frame), expr.span)

    def size(self, expr: Expr, frame: Environment) -> Size:
        """Lower an expression that must be a size."""
        found = self.value(expr, frame)
        if isinstance(found, Dim) or type(found) is int:
            return found
        have = KINDS.get(type(found), "a value that is only known at run time")
        raise TypeProblem(f"expected a size, not {have}", expr.span, "use integers and the names of dimensions")

    def assigned(self, assign: syntax.Assign, frame: Environment, conform: Conform) -> tuple[str, Variable]:
        """Return a variable's name and its new value.

        For `+=` and the like, that is the old value combined with the other one.
        """
        assert isinstance(assign.target, syntax.Name)
        name, value = assign.target.name, self.operand(assign.value, frame)
        old = frame.variables[name]
        if assign.op is not None:
            value = self.operate(assign.op, old.value, value, assign.span)
        if old.type is not None:
            value = conform(value, old.type, f"'{name}'", frame, assign.span)
        return name, Variable(value, old.type)

    def operate(self, op: str, a: Operand, b: Operand, span: Span) -> Operand:
        """Apply an operator of the language to two operands."""
        if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS) and op != "@":
            return folding.binary(op, a, b, span)
        if _is_size(a) and _is_size(b) and (size := folding.size(op, a, b)) is not None:  # type: ignore[arg-type]
            return size
        if isinstance(a, Weak) or isinstance(b, Weak):
            make = self._here(lambda x, y: self.operate(op, x, y, span))
            found: Operand = combine(Maker(self.builder, span), make, (a, b))
            return found
        return self._function(OPERATORS[op], (a, b), span)

    def choose(
        self, condition: Operand, then: Operand, other: Operand, frame: Environment, span: Span, what: str
    ) -> Operand:
        """Choose between two values; in a kernel they must have the same shape."""
        left, right = _shape(then), _shape(other)
        same = len(left) == len(right) and all(map(self.builder.facts.same, left, right))
        if not frame.elements and not same:
            raise ShapeProblem(
                f"{what} has shape {shown(left)} on one side and {shown(right)} on the other",
                span,
                "give both sides the same shape, or use where(c, a, b), which broadcasts",
            )
        return select(Maker(self.builder, span), condition, then, other, what)

    def condition(self, expr: Expr, frame: Environment) -> Operand:
        """Lower the condition of an `if`; in a kernel it must be a scalar."""
        found = self.operand(expr, frame)
        if not frame.elements and _shape(found):
            raise ShapeProblem(
                f"a condition in a kernel must be a scalar, not an array of shape {shown(_shape(found))}",
                expr.span,
                "use where(c, a, b) to choose for each element, or move the 'if' into a fn",
            )
        return found

    # -- bodies

    @contextmanager
    def building(self, builder: Builder, has_bodies: bool | None = None) -> Iterator[None]:
        """Send everything that is lowered meanwhile to another builder."""
        before = self.builder, self.has_bodies
        self.builder, self.has_bodies = builder, before[1] if has_bodies is None else has_bodies
        try:
            yield
        finally:
            self.builder, self.has_bodies = before
        self._made += len(builder.nodes)
        if self._made > limiter.now.nodes:  # each builder only counts its own nodes
            hint = "use fewer functions with loops that call one another"
            raise LimitExceeded(
                f"the kernel has more than {limiter.now.nodes} operations once every call is inlined", hint=hint
            )

    def splice(self, side: Builder) -> None:
        """Move the nodes of another builder here, including those that its weak values make later."""
        self.builder.nodes += side.nodes
        side.nodes = self.builder.nodes

    def _here(self, make: Callable[..., Operand]) -> Callable[..., Operand]:
        """Wrap the recipe of a weak value so that it always uses the current builder."""
        here = self.builder, self.has_bodies

        def made(*operands: Operand) -> Operand:
            before = self.builder, self.has_bodies
            self.builder, self.has_bodies = here
            try:
                return make(*operands)
            finally:
                self.builder, self.has_bodies = before

        return made

    # -- one method for each kind of expression

    def _name(self, expr: syntax.Name, frame: Environment) -> Thing:
        name = expr.name
        if (variable := frame.variables.get(name)) is not None:
            return variable.value
        if name in frame.sizes:
            return frame.sizes[name]
        if (definition := frame.unit.names.get(name)) is not None:
            return self._const(definition)
        if name in functions.CONSTANTS:
            return functions.CONSTANTS[name]
        found: DType | None = BY_NAME.get(name) or _CLASSES.get(name)
        if found is None:
            raise TypeProblem(f"'{name}' is a class of types, not a value", expr.span)
        return found

    def _const(self, definition: LoadedDefinition) -> Thing:
        if definition not in self._consts:
            item = definition.item
            assert isinstance(item, syntax.Const)
            value = self.operand(item.value, Environment(definition.unit, True, {}, {}))
            if item.type is not None:
                maker = Maker(self._root, item.value.span)
                value = conform(maker, value, declare(item.type), f"'{item.name.name}'", None)
            self._consts[definition] = value
        return self._consts[definition]

    def _unary(self, expr: syntax.Unary, frame: Environment) -> Operand:
        operand = self.operand(expr.operand, frame)
        if expr.op == "not":
            return self._logic("logical_not", (operand,), expr.span)
        return self._sign(expr.op, operand, expr.span)

    def _sign(self, op: str, operand: Operand, span: Span) -> Operand:
        if isinstance(operand, _NUMBERS):
            return folding.unary(op, operand, span)
        if isinstance(operand, Dim) and op == "-":
            return -operand
        if isinstance(operand, Weak):
            make = self._here(lambda x: self._sign(op, x, span))
            found: Operand = combine(Maker(self.builder, span), make, (operand,))
            return found
        return self._function(SIGNS[op], (operand,), span)

    def _binary(self, expr: syntax.Binary, frame: Environment) -> Operand:
        """Lower a chain of operators in a loop, because it may be thousands long."""
        chain, first = [], expr
        while True:
            chain.append(first)
            if not isinstance(first.left, syntax.Binary):
                break
            first = first.left
        total = self.operand(first.left, frame)
        for node in reversed(chain):
            total = self.operate(node.op, total, self.operand(node.right, frame), node.span)
        return total

    def _compare(self, expr: syntax.Compare, frame: Environment) -> Operand:
        left = self.operand(expr.first, frame)
        result: Operand | None = None
        for op, operand in expr.rest:
            right = (
                self.operand(operand, frame)
                if result is None
                else guarded(self, result, partial(self.operand, operand, frame), operand.span)
            )
            part = self.operate(op, left, right, expr.span)
            result = part if result is None else self._logic("logical_and", (result, part), expr.span)
            left = right
        assert result is not None
        return result

    def _logical(self, expr: syntax.Logical, frame: Environment) -> Operand:
        name = "logical_and" if expr.op == "and" else "logical_or"
        total = self.operand(expr.operands[0], frame)
        for operand in expr.operands[1:]:
            right = guarded(self, total, partial(self.operand, operand, frame), operand.span, expr.op == "and")
            total = self._logic(name, (total, right), expr.span)
        return total

    def _logic(self, name: str, operands: tuple[Operand, ...], span: Span) -> Operand:
        if all(isinstance(x, _NUMBERS) for x in operands):
            truths = [bool(x) for x in operands]
            return {"logical_and": all, "logical_or": any}.get(name, lambda t: not t[0])(truths)
        return self._function(name, operands, span)

    def _conditional(self, expr: syntax.Conditional, frame: Environment) -> Operand:
        condition = self.condition(expr.condition, frame)
        then = guarded(self, condition, partial(self.operand, expr.then, frame), expr.then.span)
        other = guarded(self, condition, partial(self.operand, expr.other, frame), expr.other.span, False)
        return self.choose(condition, then, other, frame, expr.span, "the value")

    def maps(self, name: str) -> bool:
        """Tell whether the op registered under a name works on single elements."""
        op = None if self._ops is None else self._ops.find_op(name)
        return op is not None and Trait.ELEMENTWISE in op.traits

    def call(self, expr: syntax.Call, frame: Environment) -> Thing:
        """Lower a call of a function, a kernel or an op, or a reduction over indices."""
        if isinstance(expr.callee, syntax.Index):
            return self._indexed.reduce(expr, frame)
        assert isinstance(expr.callee, syntax.Name)
        name = expr.callee.name
        args = [self.value(a.value, frame) for a in expr.arguments if a.name is None]
        kwargs = {a.name: self.value(a.value, frame) for a in expr.arguments if a.name is not None}
        _check_order(expr)
        if (definition := frame.unit.names.get(name)) is not None:
            return self._inline(definition, args, kwargs, expr.span)
        maker = Maker(self.builder, expr.span)
        operands = tuple(x for x in (*args, *kwargs.values()) if is_operand(x))
        args = [_settled(maker, x, operands) for x in args]
        kwargs = {k: _settled(maker, x, operands) for k, x in kwargs.items()}
        if name in BY_NAME:
            if len(args) != 1 or kwargs:
                raise TypeProblem(f"{name}(x) takes exactly one value", expr.span)
            return maker.cast(as_operand(args[0], expr.span), BY_NAME[name])  # type: ignore[arg-type]
        op = None if self._ops is None or name in functions.FUNCTIONS else self._ops.find_op(name)
        if op is None:
            return functions.call(self.builder, name, args, kwargs, expr.span)
        if kwargs:
            raise TypeProblem(f"'{name}' has no argument '{next(iter(kwargs))}'", expr.span, "it takes only operands")
        if len(args) != op.arity:
            raise TypeProblem(f"'{name}' takes {quantity(op.arity, 'operand')}, not {len(args)}", expr.span)
        return maker.op(op, *(as_operand(x, expr.span) for x in args))  # type: ignore[arg-type]

    def _index(self, expr: syntax.Index, frame: Environment) -> Value:
        value = self.operand(expr.value, frame)
        if not isinstance(value, Value):
            raise TypeProblem("a number can't be indexed", expr.value.span)
        items = [_as_index(self.value(item, frame)) for item in expr.items]
        return functions.index(self.builder, value, items, expr.span)

    def _slice(self, expr: syntax.Slice, frame: Environment) -> slice:
        parts = (expr.start, expr.stop, expr.step)
        start, stop, step = (None if part is None else self.value(part, frame) for part in parts)
        return slice(start, stop, step)

    def _function(self, name: str, operands: tuple[Operand, ...], span: Span) -> Value:
        maker = Maker(self.builder, span)
        settled = tuple(settle(maker, x, operands) for x in operands)
        found = functions.call(self.builder, name, settled, {}, span)
        assert isinstance(found, Value)
        return found


def _as_index(x: Thing) -> Thing:
    return x.take(I64) if isinstance(x, Weak) and x.dtype.kind == "int" else x


def as_operand(found: Thing, span: Span) -> Operand:
    """Return the value if it is a number or an array, or raise an error."""
    if is_operand(found):
        operand: Operand = found
        return operand
    if isinstance(found, tuple) and all(map(is_operand, found)) and len(found) > 1:
        hint = f"bind each: let {', '.join('abcdefgh'[: len(found)])} = ..."
        raise TypeProblem(f"expected one value, not {len(found)}", span, hint)
    raise TypeProblem(f"expected a number or an array, not {KINDS.get(type(found), 'this')}", span)


def _settled(maker: Maker, x: Thing, others: tuple[Operand, ...]) -> Thing:
    """Make an argument for a function; numbers in a tuple, which is an array, take their default dtype."""
    if isinstance(x, tuple):
        return tuple(_settled(maker, item, ()) for item in x)
    return settle(maker, x, others) if isinstance(x, Weak) else x


def _check_order(expr: syntax.Call) -> None:
    named: set[str] = set()
    for argument in expr.arguments:
        if argument.name is None and named:
            raise TypeProblem("positional arguments must come before named ones", argument.span)
        if argument.name in named:
            raise TypeProblem(f"'{argument.name}' is given twice", argument.span)
        if argument.name is not None:
            named.add(argument.name)


def _shape(x: Operand) -> tuple[Size, ...]:
    return x.type.shape if isinstance(x, Value) else ()


def _is_size(x: Operand) -> bool:
    return isinstance(x, Dim) or type(x) is int

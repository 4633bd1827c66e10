"""Build expressions from Python operators: `E.a * 2` is a tree that `NumExpr` compiles.

The names `astType`, `astKind`, `value` and `children` are numexpr's, since libraries read them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..ir.errors import type_of
from .kinds import DTYPES, RANKED, common_kind, kind_of_constant

_CONSTANTS = (bool, int, float, complex, bytes, str, np.generic)
MAX_POWER = 50  # up to here a product of factors is cheaper than `pow`
MAX_CONSTANT_BITS = 4096  # of an integer that constants give; the kinds have 64

Optimization = str
LEVELS: Final = ("none", "moderate", "aggressive")


class ExpressionNode:
    """A part of an expression. Operators and functions on it give larger expressions."""

    astType = "generic"
    __slots__ = ("astKind", "children", "level", "value")
    __hash__ = object.__hash__

    def __init__(self, value: Any, kind: str, children: tuple[ExpressionNode, ...] = (), level: str = "none") -> None:
        self.value, self.astKind, self.children, self.level = value, kind, children, level

    def __repr__(self) -> str:
        inside = "".join(f", {c!r}" for c in self.children)
        return f"{type(self).__name__}({self.value!r}, {self.astKind}{inside})"

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value; use &, | and ~ instead of and, or and not")

    @property
    def real(self) -> ExpressionNode:
        return apply("real", self)

    @property
    def imag(self) -> ExpressionNode:
        return apply("imag", self)

    def __pos__(self) -> ExpressionNode:
        return self

    def __neg__(self) -> ExpressionNode:
        return apply("neg", self)

    def __invert__(self) -> ExpressionNode:
        return apply("invert", self)

    def __add__(self, other: Any) -> ExpressionNode:
        return apply("add", self, other)

    def __radd__(self, other: Any) -> ExpressionNode:
        return apply("add", other, self)

    def __sub__(self, other: Any) -> ExpressionNode:
        return apply("sub", self, other)

    def __rsub__(self, other: Any) -> ExpressionNode:
        return apply("sub", other, self)

    def __mul__(self, other: Any) -> ExpressionNode:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> ExpressionNode:
        return apply("mul", other, self)

    def __truediv__(self, other: Any) -> ExpressionNode:
        return apply("div", self, other)

    def __rtruediv__(self, other: Any) -> ExpressionNode:
        return apply("div", other, self)

    def __floordiv__(self, other: Any) -> ExpressionNode:
        return apply("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> ExpressionNode:
        return apply("floordiv", other, self)

    def __mod__(self, other: Any) -> ExpressionNode:
        return apply("mod", self, other)

    def __rmod__(self, other: Any) -> ExpressionNode:
        return apply("mod", other, self)

    def __pow__(self, other: Any) -> ExpressionNode:
        return apply("pow", self, other)

    def __rpow__(self, other: Any) -> ExpressionNode:
        return apply("pow", other, self)

    def __lshift__(self, other: Any) -> ExpressionNode:
        return apply("lshift", self, other)

    def __rlshift__(self, other: Any) -> ExpressionNode:
        return apply("lshift", other, self)

    def __rshift__(self, other: Any) -> ExpressionNode:
        return apply("rshift", self, other)

    def __rrshift__(self, other: Any) -> ExpressionNode:
        return apply("rshift", other, self)

    def __and__(self, other: Any) -> ExpressionNode:
        return apply("and", self, other)

    def __rand__(self, other: Any) -> ExpressionNode:
        return apply("and", other, self)

    def __or__(self, other: Any) -> ExpressionNode:
        return apply("or", self, other)

    def __ror__(self, other: Any) -> ExpressionNode:
        return apply("or", other, self)

    def __xor__(self, other: Any) -> ExpressionNode:
        return apply("xor", self, other)

    def __rxor__(self, other: Any) -> ExpressionNode:
        return apply("xor", other, self)

    def __gt__(self, other: Any) -> ExpressionNode:
        return apply("gt", self, other)

    def __ge__(self, other: Any) -> ExpressionNode:
        return apply("ge", self, other)

    def __lt__(self, other: Any) -> ExpressionNode:
        return apply("gt", other, self)

    def __le__(self, other: Any) -> ExpressionNode:
        return apply("ge", other, self)

    def __eq__(self, other: object) -> ExpressionNode:  # type: ignore[override]
        return apply("eq", self, other)

    def __ne__(self, other: object) -> ExpressionNode:  # type: ignore[override]
        return apply("ne", self, other)


class VariableNode(ExpressionNode):
    """An array that the caller gives by name."""

    astType = "variable"
    __slots__ = ()

    def __init__(self, value: str, kind: str = "double") -> None:
        super().__init__(value, kind)


class ConstantNode(ExpressionNode):
    """A number or a text."""

    astType = "constant"
    __slots__ = ()

    def __init__(self, value: Any, kind: str | None = None) -> None:
        super().__init__(value, kind or kind_of_constant(value))


class OpNode(ExpressionNode):
    """An operation or a function on other nodes. For reductions, `axis` is the axis, or None for all."""

    astType = "op"
    __slots__ = ("axis",)

    def __init__(
        self, value: str, kind: str, children: tuple[ExpressionNode, ...], level: str = "none", axis: int | None = None
    ) -> None:
        super().__init__(value, kind, children, level)
        self.axis = axis


class _Expression:
    """Make variables: `E.a` is the variable `a`."""

    def __getattr__(self, name: str) -> VariableNode:
        if name.startswith("_"):
            raise AttributeError(name)
        return VariableNode(name)


E = _Expression()


def apply(name: str, *operands: Any, level: str | None = None) -> ExpressionNode:
    """Apply an operation or a function to nodes and constants; only constants give a constant."""
    nodes = tuple(node(x) for x in operands)
    level = level or max((n.level for n in nodes), key=LEVELS.index)
    if name == "where" and isinstance(nodes[0], ConstantNode):
        return nodes[1] if nodes[0].value else nodes[2]
    if all(isinstance(n, ConstantNode) for n in nodes):
        return ConstantNode(_fold(name, [n.value for n in nodes]))
    if name == "div":
        return _divide(nodes[0], nodes[1], level)
    if name == "pow":
        return _power(nodes[0], nodes[1], level)
    kind = _result_kind(name, [n.astKind for n in nodes])
    if kind == "bool":
        name = {"mul": "and", "add": "or"}.get(name, name)
    return OpNode(name, kind, nodes, level)


def reduce(name: str, operand: Any, axis: Any = None) -> ExpressionNode:
    """Apply `sum`, `prod`, `min` or `max`."""
    axis = axis.value if isinstance(axis, ConstantNode) else axis
    if axis is not None and (isinstance(axis, (bool, ExpressionNode)) or not isinstance(axis, (int, np.integer))):
        raise TypeError(f"axis must be an integer or None, not {axis!r}")
    if axis is not None and axis < 0:
        raise ValueError(f"axis must not be negative, but is {axis}")
    over = node(operand)
    if isinstance(over, ConstantNode):
        return over
    return OpNode(name, over.astKind, (over,), over.level, None if axis is None else int(axis))


def node(value: Any) -> ExpressionNode:
    """Return a constant for a number or a text, and a node as it is."""
    if hasattr(value, "astKind"):
        return value  # type: ignore[no-any-return]
    if isinstance(value, _CONSTANTS):
        return ConstantNode(value)
    raise TypeError(f"{type_of(value)} can't stand in an expression")


def _divide(a: ExpressionNode, b: ExpressionNode, level: str) -> ExpressionNode:
    kind = common_kind([a.astKind, b.astKind])
    floats = ("float", "double", "complex")
    if level != "none" and isinstance(b, ConstantNode) and a.astKind == b.astKind and kind in floats and b.value != 0:
        return OpNode("mul", kind, (a, ConstantNode(1.0 / b.value)), level)
    return OpNode("div", "double" if kind in ("bool", "int", "long") else kind, (a, b), level)


def _power(a: ExpressionNode, b: ExpressionNode, level: str) -> ExpressionNode:
    kind = common_kind([a.astKind, b.astKind])
    if not isinstance(b, ConstantNode) or b.astKind not in ("int", "long", "float", "double"):
        return OpNode("pow", kind, (a, b), level)
    exponent = b.value
    if exponent < 0 and a.astKind in ("int", "long") and b.astKind in ("int", "long"):
        raise ValueError("integers to negative integer powers are not allowed")
    simple = (-1, 0, 0.5, 1, 2) if level == "moderate" else ()
    if exponent in simple or (
        level == "aggressive" and 2 * exponent == int(2 * exponent) and abs(exponent) <= MAX_POWER
    ):
        return _product(a, float(exponent), kind, level)
    return OpNode("pow", kind, (a, b), level)


def _product(a: ExpressionNode, exponent: float, kind: str, level: str) -> ExpressionNode:
    """Return a power as products by repeated squaring, with a square root for halves."""
    whole, half = divmod(abs(exponent), 1)
    kind = "double" if half and kind in ("bool", "int", "long") else kind
    result: ExpressionNode | None = None
    square, left = a, int(whole)
    while left:
        if left & 1:
            result = square if result is None else apply("mul", result, square, level=level)
        left >>= 1
        square = apply("mul", square, square, level=level) if left else square
    if half:
        root = OpNode("sqrt", kind, (a,), level)
        result = root if result is None else apply("mul", result, root, level=level)
    if result is None:
        result = OpNode("ones_like", kind, (a,), level)
    return apply("div", 1, result, level=level) if exponent < 0 else result


_FUNCTION_KINDS: Final[dict[str, tuple[str, str]]] = {
    **dict.fromkeys(
        ("sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
         "arctanh", "fmod", "arctan2", "log", "log1p", "log10", "log2", "exp", "expm1", "abs"), ("float", "complex")),
    **dict.fromkeys(("ceil", "floor"), ("float", "double")),
    **dict.fromkeys(("hypot", "nextafter", "copysign", "maximum", "minimum", "round", "trunc", "sign"),
                    ("double", "complex")),
    **dict.fromkeys(("real", "imag"), ("double", "double")),
    **dict.fromkeys(("complex", "conj"), ("complex", "complex")),
    **dict.fromkeys(("copy", "ones_like"), ("bool", "complex")),
}  # fmt: skip
"""The lowest and the highest kind of a function's result."""

_TESTS = ("isnan", "isfinite", "isinf", "signbit", "contains", "gt", "ge", "eq", "ne")
_KEEPS_INTEGERS = ("copy", "ones_like", "round", "sign")


def _result_kind(name: str, operands: list[str]) -> str:
    if name in _TESTS:
        return "bool"
    kind = common_kind(operands)
    if name not in _FUNCTION_KINDS or kind == "bytes":
        return kind
    if kind in ("int", "long"):
        return kind if name in _KEEPS_INTEGERS else "complex" if name == "complex" else "double"
    lowest, highest = _FUNCTION_KINDS[name]
    return min(max(kind, lowest, key=RANKED.index), highest, key=RANKED.index)


_FOLDED: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "lshift": operator.lshift, "rshift": operator.rshift,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "invert": operator.invert, "neg": operator.neg,
    "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne, "contains": lambda a, b: b in a,
    "complex": complex, "pow": operator.pow, "real": lambda a: complex(a).real, "imag": lambda a: complex(a).imag,
}  # fmt: skip


def _fold(name: str, values: list[Any]) -> Any:
    values = [v.encode("ascii") if isinstance(v, str) else v for v in values]
    texts = [isinstance(v, bytes) for v in values]
    if any(texts) and (not all(texts) or name not in _TESTS):
        raise TypeError(f"'{name}' does not take strings and numbers" if not all(texts) else f"'{name}' of strings")
    if name in ("pow", "lshift") and all(isinstance(v, int) for v in values):
        base, steps = values
        if steps * (base.bit_length() if name == "pow" else 1) > MAX_CONSTANT_BITS:
            raise OverflowError(f"the constant {base} {'**' if name == 'pow' else '<<'} {steps} is too large")
    if name in _FOLDED:
        return _FOLDED[name](*values)
    from .operations import OPERATIONS

    with np.errstate(all="ignore"):
        return np.asarray(OPERATIONS[name](*values))[()]


def cast_constant(value: Any, kind: str) -> Any:
    """Return a constant as a number of NumPy's type for a kind."""
    if kind == "bytes":
        return value.encode("ascii") if isinstance(value, str) else value
    return DTYPES[kind].type(value)


def _function(name: str) -> Callable[..., ExpressionNode]:
    from .signatures import SIGNATURES

    count = len(SIGNATURES[name][0]) - 1

    def function(*operands: Any) -> ExpressionNode:
        if len(operands) != count and not (name in _FUNCTION_KINDS and len(operands) == 1):
            raise TypeError(f"{name} takes {count} argument{'s' if count > 1 else ''}, not {len(operands)}")
        return apply(name, *operands)

    return function


def _reduction(name: str) -> Callable[..., ExpressionNode]:
    def reduction(a: Any, axis: Any = None) -> ExpressionNode:
        return reduce(name, a, axis)

    return reduction


REDUCTIONS: Final = ("sum", "prod", "min", "max")
functions: Final[dict[str, Callable[..., ExpressionNode]]] = {
    **{
        name: _function(name)
        for name in (*_FUNCTION_KINDS, "where", "isnan", "isfinite", "isinf", "signbit", "contains")
    },
    **{name: _reduction(name) for name in REDUCTIONS},
}
"""Every function that an expression can call."""

"""Evaluate Python expressions: numbers become ops of the nest at once, array expressions go to a draft."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dtypes import BOOL, F64, I64, from_numpy, is_scalar, is_scalar_type
from ...ir.errors import TypeProblem, type_of
from ..numpy.powers import OPERATOR
from .arithmetic import FLOAT, INT, OPERATORS, apply, as_int, negation, truth, value_of
from .arrays.grids import grid
from .arrays.indexing import is_basic, is_whole_number, view_of
from .arrays.masks import count, lift, selects
from .arrays.strides import load_strided, strided_item
from .arrays.viewing import viewed_attribute
from .complexes import is_complex
from .context import Lowering, is_stale
from .kinds import KNOWN_TYPES, Known, NumpyScalar, jitted_function
from .library import int_power
from .values import (
    Abstract,
    CutProblem,
    Expression,
    FunctionValue,
    MethodValue,
    Number,
    Selected,
    SliceValue,
    TupleValue,
    Unset,
    View,
    constant,
)

BINARY = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift", ast.MatMult: "matmul",
}  # fmt: skip
UNARY = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}
COMPARE = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal",
}  # fmt: skip
Evaluate = Callable[[Lowering, Any], Abstract]


def evaluate(p: Lowering, node: ast.expr) -> Abstract:
    """The value of an expression."""
    if id(node) in p.paths:
        return _variable(p, p.paths[id(node)], node)
    rule = RULES.get(type(node))
    if rule is None:
        raise CutProblem(f"{type(node).__name__} expressions are not compiled", node)
    try:
        return rule(p, node)
    except CutProblem as problem:
        problem.node = problem.node or node
        raise


def condition(p: Lowering, node: ast.expr) -> Number:
    """Return the truth of an expression, as `if` and `while` test it."""
    if isinstance(node, ast.BoolOp):
        is_and = isinstance(node.op, ast.And)
        found = condition(p, node.values[0])
        for part in node.values[1:]:
            found = _either(p, found, is_and, lambda part=part: condition(p, part))  # type: ignore[misc]
        return found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negation(p.e, condition(p, node.operand))
    value = p.computed(evaluate(p, node), node)
    if isinstance(value, Known):
        return constant(bool(value.value))
    if isinstance(value, TupleValue):
        return constant(bool(value.items))
    if isinstance(value, View) and value.rank:
        raise CutProblem("the truth value of an array is needed", node)
    return truth(p.e, p.converted(value))


def _either(p: Lowering, first: Number, is_and: bool, then: Callable[[], Number]) -> Number:
    test = first if is_and else negation(p.e, first)
    return p.number(conditional(p, test, then, lambda: constant(not is_and)))


def conditional(p: Lowering, test: Number, yes: Callable[[], Abstract], no: Callable[[], Abstract]) -> Abstract:
    """Evaluate `yes if test else no`; only one side is computed."""
    name = p.e.fresh("%choice")

    def put(make: Callable[[], Abstract]) -> Callable[[], None]:
        def run() -> None:
            p.env[name] = p.computed(make())

        return run

    p.branch(test, put(yes), put(no))
    found = p.env.pop(name)
    if isinstance(found, Unset):
        raise CutProblem(found.name)
    return found  # type: ignore[no-any-return]


def from_object(p: Lowering, value: Any) -> Abstract:
    """An object that is known at compile time."""
    if type(value) in (bool, int, float, complex):
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise CutProblem("a Python int does not fit 64 bits")
        return constant(value)
    if is_scalar(value):
        try:
            dtype = from_numpy(value.dtype)
        except TypeProblem as error:
            raise CutProblem(error.message) from error
        return Number(NumpyScalar(dtype), p.e.constant(value.item(), dtype))
    if type(value) is tuple:
        return TupleValue(tuple(from_object(p, item) for item in value))
    if isinstance(value, KNOWN_TYPES) or jitted_function(value) is not None:
        return Known(value)
    raise CutProblem(f"{type_of(value)} is not known to compiled code")


def _constant(p: Lowering, node: ast.Constant) -> Abstract:
    return from_object(p, node.value)


def _name(p: Lowering, node: ast.Name) -> Abstract:
    return _variable(p, node.id, node)


def _variable(p: Lowering, name: str, node: ast.expr) -> Abstract:
    found = p.env.get(name)
    if isinstance(found, Unset):
        raise CutProblem(found.name, node)
    if found is None:
        found = p.names(name)
    if found is None:
        raise CutProblem(f"'{name}' has no value here", node)
    if is_stale(found):
        raise CutProblem(f"'{name}' may be a view of an array that was changed", node)
    if isinstance(found, Number) and found.bound is not None:
        p.env[name] = found = p.bound(found)
    p.used(name)
    return found


def _tuple(p: Lowering, node: ast.Tuple | ast.List) -> Abstract:
    return TupleValue(tuple(evaluate(p, item) for item in node.elts), isinstance(node, ast.List))


def _binary(p: Lowering, node: ast.BinOp) -> Abstract:
    return binary(p, BINARY[type(node.op)], evaluate(p, node.left), evaluate(p, node.right))


def binary(p: Lowering, name: str, a: Abstract, b: Abstract) -> Abstract:
    """Apply a binary operator, given by the name of NumPy's function for it."""
    lifted = lift(p, (a, b), lambda args: binary(p, name, *args)) if name != "matmul" else None
    if lifted is not None:
        return lifted
    if any(isinstance(x, Number) and x.other is not None for x in (a, b)):
        a, b = (p.computed(x) if isinstance(x, Expression) and not x.value.type.shape else x for x in (a, b))
    if isinstance(a, Number) and isinstance(b, Number):
        if name == "matmul":
            raise CutProblem("this raises: '@' of numbers")
        if is_complex(a) or is_complex(b):
            return _complex(p, name, a, b)
        if name == "power" and all(x.is_python and x.dtype.is_integer and x.other is None for x in (a, b)):
            return _int_power(p, a, b)
        return apply(p.e, name, (a, b))
    if isinstance(a, TupleValue) and isinstance(b, TupleValue) and name == "add" and a.is_list == b.is_list:
        return TupleValue((*a.items, *b.items), a.is_list)
    if all(isinstance(x, (Number, View, Expression)) for x in (a, b)):
        return p.draft.call(OPERATOR if name == "power" else name, (a, b), {})
    raise CutProblem("an operand is not an array or a number")


def _int_power(p: Lowering, a: Number, b: Number) -> Abstract:
    """Compute `a ** b` of ints: by multiplications if the exponent is known at compile time, else by a shift or
    a loop.
    """
    if b.known is not None:
        return apply(p.e, "power", (a, b))
    if a.known == 2:
        return apply(p.e, "left_shift", (constant(1), b))
    return p.inline(p, int_power, (as_int(p.e, a), as_int(p.e, b)), {})


def _complex(p: Lowering, name: str, a: Number, b: Number) -> Abstract:
    """Apply an operator to complex numbers. Python's own treat an np.float64 as a float, since it is one."""
    if a.is_python and is_complex(a) and b.kind == NumpyScalar(F64) and b.other is None:
        b = Number(FLOAT, b.value)
    if a.is_python and b.is_python and a.other is None and b.other is None:
        return apply(p.e, name, (a, b))
    return p.draft.call(OPERATOR if name == "power" else name, (a, b), {})


def _unary(p: Lowering, node: ast.UnaryOp) -> Abstract:
    if isinstance(node.op, ast.Not):
        return negation(p.e, condition(p, node.operand))
    value, name = evaluate(p, node.operand), UNARY[type(node.op)]
    lifted = lift(p, (value,), lambda args: p.draft.call(name, args, {}))
    if lifted is not None:
        return lifted
    if isinstance(value, Number) and (value.pair is None or value.is_python):
        return apply(p.e, name, (value,))
    return p.draft.call(name, (value,), {})


def _compare(p: Lowering, node: ast.Compare) -> Abstract:
    left = evaluate(p, node.left)

    def link(left: Abstract, k: int) -> Abstract:
        right = evaluate(p, node.comparators[k])
        if k + 1 < len(node.ops):
            right = p.computed(right)
        found = _compared(p, node.ops[k], left, right)
        if k + 1 == len(node.ops):
            return found
        return _either(p, truth(p.e, p.number(found)), True, lambda: truth(p.e, p.number(link(right, k + 1))))

    return link(left, 0)


def _compared(p: Lowering, op: ast.cmpop, a: Abstract, b: Abstract) -> Abstract:
    if isinstance(op, (ast.Is, ast.IsNot)):
        return constant(_is_same(a, b) == isinstance(op, ast.Is))
    name = COMPARE.get(type(op))
    if name is None:
        found = _is_in(p, a, b)
        return found if isinstance(op, ast.In) else negation(p.e, found)
    if isinstance(a, Known) and isinstance(b, Known) and isinstance(a.value, (str, np.dtype, type)):
        return constant(bool(OPERATORS[name](a.value, b.value)))
    if isinstance(a, TupleValue) and isinstance(b, TupleValue) and name in ("equal", "not_equal"):
        found = _are_equal(p, a, b)
        return found if name == "equal" else negation(p.e, found)
    return binary(p, name, a, b)


def _are_equal(p: Lowering, a: TupleValue, b: TupleValue) -> Number:
    """Compare tuples of integers. As with `in`, Python first looks whether two items are the same object."""
    if not all(_is_integer(x) for x in (*a.items, *b.items)):
        raise CutProblem("tuples are only compared if they have integers")
    unequal = constant(len(a.items) != len(b.items))
    for x, y in zip(a.items, b.items, strict=False):
        unequal = p.either(unequal, truth(p.e, p.number(binary(p, "not_equal", x, y))))
    return negation(p.e, unequal)


def _is_integer(x: Abstract) -> bool:
    return isinstance(x, Number) and x.dtype.is_integer and x.other is None


def _is_in(p: Lowering, a: Abstract, b: Abstract) -> Number:
    """Evaluate `a in b` for integers.

    Python first looks whether two numbers are the same object, which matters for NaN.
    """
    items = b.items if isinstance(b, TupleValue) else ()
    if not items or not all(map(_is_integer, (a, *items))):
        raise CutProblem("'in' is only compiled for integers and tuples of them")
    found = constant(False)
    for item in items:
        found = p.either(found, truth(p.e, p.number(binary(p, "equal", a, item))))
    return found


def _is_same(a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Known) and isinstance(b, Known):
        return a.value is b.value
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Known) and x.value is None and isinstance(y, (Number, View, Expression, TupleValue)):
            return False
    raise CutProblem("'is' between these values is left to Python")


def _bool(p: Lowering, node: ast.BoolOp) -> Abstract:
    def chain(k: int) -> Abstract:
        value = p.computed(evaluate(p, node.values[k]))
        if k + 1 == len(node.values):
            return value
        test = truth(p.e, p.number(value))
        if isinstance(node.op, ast.And):
            return conditional(p, test, lambda: chain(k + 1), lambda: value)
        return conditional(p, test, lambda: value, lambda: chain(k + 1))

    return chain(0)


def _choice(p: Lowering, node: ast.IfExp) -> Abstract:
    test = condition(p, node.test)
    return conditional(p, test, lambda: evaluate(p, node.body), lambda: evaluate(p, node.orelse))


def _subscript(p: Lowering, node: ast.Subscript) -> Abstract:
    return indexed(p, evaluate(p, node.value), index_items(p, node.slice))


def index_items(p: Lowering, node: ast.expr) -> tuple[Abstract, ...]:
    """Evaluate the items of an index; an array expression among them is computed."""
    if isinstance(node, ast.Tuple):
        return tuple(_index_array(p, p.computed(evaluate(p, item))) for item in node.elts)
    value = evaluate(p, node)
    if not (isinstance(value, Expression) and value.value.type.dtype == BOOL):
        value = p.computed(value)
    return value.items if isinstance(value, TupleValue) and not value.is_list else (_index_array(p, value),)


def _index_array(p: Lowering, item: Abstract) -> Abstract:
    """Convert a list of integers in an index to the array that NumPy makes of it."""
    if not isinstance(item, TupleValue) or not item.items:
        return item
    if not all(isinstance(x, Number) and is_whole_number(x) and x.other is None for x in item.items):
        return item
    numbers = [x for x in item.items if isinstance(x, Number)]
    if any(x.dtype.kind == "uint" for x in numbers):
        raise CutProblem("a list of unsigned integers is used as an index")
    made = p.e.allocate(I64, (len(numbers),), p.node)
    for k, number in enumerate(numbers):
        p.e.store(p.e.cast(value_of(p.e, number), I64), made, (k,))
    return made


def indexed(p: Lowering, of: Abstract, items: tuple[Abstract, ...]) -> Abstract:
    """`of[items]`."""
    if isinstance(of, TupleValue):
        return _item(of, items)
    if isinstance(of, Known) and (of.value is np.mgrid or of.value is np.ogrid):
        return grid(p, items, of.value is np.ogrid)
    if isinstance(of, View) and is_basic(items):
        at = strided_item(p, items)
        if at is not None:
            return load_strided(p, of, items, at)
        view = view_of(p.e, of, items)
        if view.rank or any(isinstance(i, Known) and i.value is Ellipsis for i in items):
            return view
        return p.load(view)
    if selects(of, items):
        assert isinstance(of, (View, Expression)) and isinstance(items[0], (View, Expression))
        return Selected(of, items[0])
    if isinstance(of, (View, Expression)):
        items = tuple(p.computed(item) for item in items)
        return p.draft.index(of, [_graph_item(p, item) for item in items])
    raise CutProblem("only arrays and tuples can be indexed")


def _item(of: TupleValue, items: tuple[Abstract, ...]) -> Abstract:
    (item,) = items
    if isinstance(item, SliceValue):
        return TupleValue(of.items[slice(*map(_known_int, (item.start, item.stop, item.step)))], of.is_list)
    at = _known_int(item)
    if at is None or not -len(of.items) <= at < len(of.items):
        raise CutProblem("the index of a tuple is out of range")
    return of.items[at]


def _known_int(item: Abstract | None) -> int | None:
    if item is None or (isinstance(item, Known) and item.value is None):
        return None
    if not isinstance(item, Number) or type(item.known) is not int:
        raise CutProblem("a tuple is indexed by a number that is not known at compile time")
    return item.known


def _graph_item(p: Lowering, item: Abstract) -> Any:
    """Evaluate an item of an index into an array expression, or of an index with arrays."""
    if isinstance(item, SliceValue):
        return slice(*(None if x is None else _graph_item(p, x) for x in (item.start, item.stop, item.step)))
    if isinstance(item, Number) and item.size is not None:
        p.e.need(item.size)
        return item.size
    if isinstance(item, View) and item.dtype.kind == "bool":
        raise CutProblem("an array is selected by a mask, so its size depends on data")
    return p.draft.operand(item)


def _slice(p: Lowering, node: ast.Slice) -> Abstract:
    parts = [None if x is None else p.computed(evaluate(p, x)) for x in (node.lower, node.upper, node.step)]
    return SliceValue(*parts)


def _attribute(p: Lowering, node: ast.Attribute) -> Abstract:
    value = evaluate(p, node.value)
    if isinstance(value, Known):
        if not hasattr(value.value, node.attr):
            raise CutProblem(f"this raises AttributeError: {node.attr}", node)
        if isinstance(value.value, ModuleType):
            p.meanings.attribute(value.value, node.attr)
        elif not isinstance(value.value, (np.dtype, np.ufunc)) and not is_scalar_type(value.value):
            raise CutProblem(f"the attribute '{node.attr}' is looked up in Python", node)
        return from_object(p, getattr(value.value, node.attr))
    if isinstance(value, Selected) and node.attr == "size":
        return count(p, value)
    if isinstance(value, (View, Expression)):
        return _array_attribute(p, value, node.attr)
    if isinstance(value, Number) and value.pair is not None and node.attr in ("real", "imag"):
        part = value.pair[node.attr == "imag"]
        return Number(FLOAT if value.is_python else NumpyScalar(part.type.dtype), part)
    if isinstance(value, Number) and isinstance(value.kind, NumpyScalar):
        known: dict[str, Abstract] = {
            "dtype": Known(value.kind.dtype.numpy), "ndim": constant(0), "shape": TupleValue(()), "size": constant(1),
        }  # fmt: skip
        if node.attr in known:
            return known[node.attr]
    return MethodValue(value, node.attr)


def _array_attribute(p: Lowering, value: View | Expression, name: str) -> Abstract:
    shape = value.shape if isinstance(value, View) else value.value.type.shape
    if name == "shape":
        return TupleValue(tuple(sized(n) for n in shape))
    if name == "ndim":
        return constant(len(shape))
    if name == "size":
        return sized(dims.product(shape))
    dtype = (value.dtype if isinstance(value, View) else value.value.type.dtype).numpy
    if name == "dtype":
        return Known(dtype)
    if name in ("itemsize", "nbytes"):
        count = dims.product(shape) if name == "nbytes" else 1
        return apply(p.e, "multiply", (sized(count), constant(dtype.itemsize)))
    if isinstance(value, View) and (found := viewed_attribute(p, value, name)) is not None:
        return found
    if name == "T":
        return p.draft.call("transpose", (value,), {})
    if name in ("real", "imag"):
        return p.draft.call(name, (value,), {})
    return MethodValue(value, name)


def made_function(p: Lowering, node: ast.FunctionDef | ast.Lambda) -> FunctionValue:
    """Make the function that a `def` or `lambda` defines here."""
    kinds = inspect.Parameter
    given = node.args
    if given.vararg is not None or given.kwarg is not None:
        raise CutProblem("a function that takes * or ** arguments is left to Python", node)
    plain = [*given.posonlyargs, *given.args]
    first = len(plain) - len(given.defaults)
    parameters: list[inspect.Parameter] = []
    for k, argument in enumerate(plain):
        kind = kinds.POSITIONAL_ONLY if k < len(given.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        default = p.computed(evaluate(p, given.defaults[k - first])) if k >= first else kinds.empty
        parameters.append(kinds(argument.arg, kind, default=default))
    for argument, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        default = kinds.empty if value is None else p.computed(evaluate(p, value))
        parameters.append(kinds(argument.arg, kinds.KEYWORD_ONLY, default=default))
    body = node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    return FunctionValue(name, node, inspect.Signature(parameters), tuple(body), p.frame)


def sized(size: dims.Size) -> Number:
    """A size as a Python int."""
    return constant(size) if isinstance(size, int) else Number(INT, size=size)


RULES: dict[type[ast.expr], Evaluate] = {
    ast.Constant: _constant, ast.Name: _name, ast.Tuple: _tuple, ast.List: _tuple, ast.BinOp: _binary,
    ast.UnaryOp: _unary, ast.Compare: _compare, ast.BoolOp: _bool, ast.IfExp: _choice, ast.Subscript: _subscript,
    ast.Slice: _slice, ast.Attribute: _attribute, ast.Call: lambda p, node: p.call(p, node),
    ast.Lambda: made_function,
}  # fmt: skip

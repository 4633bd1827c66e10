"""Evaluate calls: Python's builtins, NumPy's functions and methods of arrays, and functions with source, inlined."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...ir.graph import Value
from ..numpy.elementwise import ELEMENTWISE
from ..tracing.callables import numpy_name
from .arguments import dtype_argument
from .arithmetic import numpy_call, value_of
from .arrays.allocation import MAKING, fill
from .arrays.masks import lift, reduce_selected
from .arrays.scatter import has_indices, scatter
from .arrays.viewing import VIEW_METHODS, VIEW_RULES
from .builtin_calls import BUILTINS, as_python, convert, converted
from .complexes import is_complex
from .context import Lowering
from .expressions import evaluate
from .inlining import inline, inline_local
from .kinds import Known, NumpyScalar, jitted_function
from .library import WRITTEN_HERE, substitute
from .sums import COMPREHENSIONS, sum_of_terms
from .values import (
    Abstract,
    CutProblem,
    Expression,
    FunctionValue,
    MethodValue,
    Number,
    Selected,
    TupleValue,
    View,
)

Arguments = Sequence[Abstract]
Named = Mapping[str, Abstract]


def call(p: Lowering, node: ast.Call) -> Abstract:
    """The value of a call."""
    function = evaluate(p, node.func)
    if isinstance(function, Known) and function.value is sum and node.args and isinstance(node.args[0], COMPREHENSIONS):
        return sum_of_terms(p, node)
    args: list[Abstract] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            spread = evaluate(p, arg.value)
            if not isinstance(spread, TupleValue):
                raise CutProblem("only tuples can be unpacked into arguments", arg)
            args += spread.items
        else:
            args.append(evaluate(p, arg))
    if any(k.arg is None for k in node.keywords):
        raise CutProblem("** arguments are not compiled", node)
    named = {str(k.arg): evaluate(p, k.value) for k in node.keywords}
    if isinstance(function, MethodValue):
        return _method(p, function, args, named)
    if isinstance(function, FunctionValue):
        return inline_local(p, function, args, named)
    if not isinstance(function, Known):
        raise CutProblem("the called function is not known at compile time", node)
    if (jitted := jitted_function(function.value)) is not None:
        return inline(p, jitted, args, named)
    if any(function.value is known for known in WRITTEN_HERE):
        args, named = [p.computed(x) for x in args], {key: p.computed(x) for key, x in named.items()}
        other = substitute(function.value, args, named)
        if other is not None:
            return inline(p, other[0], other[1], {})
    rule = RULES.get(function.value) if _is_hashable(function.value) else None
    if rule is not None:
        return rule(p, args, named)
    if isinstance(function.value, FunctionType) and numpy_name(function.value) is None:
        return inline(p, function.value, args, named)
    if isinstance(function.value, type):
        return convert(p, function.value, args)
    return numpy_function(p, function.value, args, named)


def _is_hashable(value: Any) -> bool:
    return isinstance(value, (type, FunctionType)) or callable(value)


# -- NumPy


def numpy_function(p: Lowering, function: Any, args: Arguments, named: Named) -> Abstract:
    """A function of NumPy, on numbers or arrays."""
    name = numpy_name(function)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc) and function.__name__ == "at":
        return _at(p, owner, args, named)
    if isinstance(owner, np.ufunc):
        name = f"{owner.__name__}.{function.__name__}"
    if name is None:
        shown = getattr(function, "__name__", type(function).__name__)
        raise CutProblem(f"'{shown}' has no native code in loops")
    named = {key: x for key, x in named.items() if key == "copy" or not (isinstance(x, Known) and x.value is None)}
    if isinstance(function, np.ufunc) and len(args) == function.nin + 1 and "out" not in named:
        args, named = args[:-1], {**named, "out": args[-1]}
    if "out" in named:
        return _into(p, function, args, named)
    if any(isinstance(x, Selected) for x in args):
        return _of_selected(p, function, name, args, named)
    numbers = [x for x in args if isinstance(x, Number)]
    if len(numbers) == len(args) and not named and name in ELEMENTWISE_NAMES and not any(map(is_complex, args)):
        return numpy_call(p.e, name, numbers)
    if name in VIEW_RULES and args and isinstance(args[0], View):
        found = VIEW_RULES[name](p, args[0], args[1:], named)
        if found is not None:
            return found
    return p.draft.call(name, args, named)


def _of_selected(p: Lowering, function: Any, name: str, args: Arguments, named: Named) -> Abstract:
    if name in ELEMENTWISE_NAMES:
        found = lift(p, args, lambda given: numpy_function(p, function, given, named))
        if found is not None:
            return found
    (of,) = args
    assert isinstance(of, Selected)
    return reduce_selected(p, name, of, named)


def _at(p: Lowering, ufunc: np.ufunc, args: Arguments, named: Named) -> Abstract:
    """Evaluate `np.add.at(a, indices, b)`: the operation for each index in turn, with numbers."""
    of, index, value = args
    items = index.items if isinstance(index, TupleValue) else (p.computed(index),)
    if named or not isinstance(of, View) or not has_indices(items) or not of.buffer.writeable:
        raise CutProblem("this call of 'at' is not compiled")
    p.stores()

    def put(target: View, part: Abstract) -> None:
        if target.rank or not isinstance(part, Number):
            raise CutProblem("'at' is only compiled for single elements")
        made = numpy_call(p.e, ufunc.__name__, (p.load(target), part))
        if not np.can_cast(made.dtype.numpy, target.dtype.numpy, "same_kind"):
            raise CutProblem(f"this raises UFuncTypeError: {made.dtype} can't be put into {target.dtype}")
        p.e.store(p.e.cast(value_of(p.e, made), target.dtype), target, ())

    scatter(p, of, items, value, put)
    return Known(None)


def _copyto(p: Lowering, args: Arguments, named: Named) -> Abstract:
    """`np.copyto(target, value)`."""
    target, value = args
    if named or not isinstance(target, View) or not target.rank or not target.buffer.writeable:
        raise CutProblem("this call of 'copyto' is not compiled")
    made = p.draft.operand(value)
    if not isinstance(made, Value):
        number = p.number(value)
        if not np.can_cast(number.dtype.strong.numpy, target.dtype.numpy, "same_kind"):
            raise CutProblem(f"{number.dtype} may not be put into {target.dtype}")
        fill(p, target, number)
        return Known(None)
    if not np.can_cast(made.type.dtype.numpy, target.dtype.numpy, "same_kind"):
        raise CutProblem(f"this raises TypeError: {made.type.dtype} can't be put into {target.dtype}")
    p.stores()
    p.draft.emit([p.draft.cast(made, target.dtype)], [target])
    return Known(None)


def _into(p: Lowering, function: Any, args: Arguments, named: Named) -> Abstract:
    """A call with `out=`."""
    target = named["out"]
    rest = {key: x for key, x in named.items() if key != "out"}
    if not isinstance(target, View) or not target.buffer.writeable or not target.rank:
        raise CutProblem("'out' must be an array that can be written")
    made = numpy_function(p, function, args, rest)
    if not isinstance(made, Expression) or made.value.type.shape != target.shape:
        raise CutProblem("the result does not have the shape of 'out'")
    if not np.can_cast(made.value.type.dtype.numpy, target.dtype.numpy, "same_kind"):
        raise CutProblem("the result can't be put into 'out'")
    p.stores()
    p.draft.emit([p.draft.cast(made.value, target.dtype)], [target])
    return target


def _method(p: Lowering, method: MethodValue, args: Arguments, named: Named) -> Abstract:
    of, name = method.of, method.name
    if isinstance(of, Selected) and not args:
        return reduce_selected(p, name, of, named)
    if isinstance(of, (View, Expression)):
        if name == "copy":
            return _copy(p, of)
        if name == "fill" and isinstance(of, View):
            return _fill(p, of, args)
        if name == "item" and not args:
            return as_python(p, p.number(of))
        if name in VIEW_METHODS and isinstance(of, View):
            found = VIEW_METHODS[name](p, of, args, named)
            if found is not None:
                return found
        if name in ("reshape", "transpose") and args and not isinstance(args[0], TupleValue):
            args = (TupleValue(tuple(args)),)
        if name == "flatten":
            made = p.draft.call("ravel", (of, *args), named)
            assert isinstance(made, (View, Expression))
            return _copy(p, made)
        if name in ARRAY_METHODS:
            return p.draft.call(name, (of, *args), named)
    if isinstance(of, Number) and isinstance(of.kind, NumpyScalar):
        if name == "item" and not args:
            return as_python(p, of)
        if name == "astype":
            return converted(p, dtype_argument(args[0]), of)
    if isinstance(of, Number) and of.pair is not None and name == "conjugate" and not args:
        return Number(of.kind, pair=(of.pair[0], p.e.op("neg", of.pair[1])))
    if isinstance(of, Known) and isinstance(of.value, np.ufunc):
        return p.draft.call(f"{of.value.__name__}.{name}", args, named)
    raise CutProblem(f"the method '{name}' has no native code in loops")


def _copy(p: Lowering, of: View | Expression) -> Abstract:
    if isinstance(of, Expression) and p.draft.viewed(of.value) is None:
        return of
    source = p.computed(of)
    assert isinstance(source, View)
    if isinstance(of, Expression):
        source.buffer.shadow = None  # NumPy makes a copy, too
        return source
    made = p.e.allocate(source.dtype, source.shape, p.node)
    p.copy(made, source)
    return made


def _fill(p: Lowering, of: View, args: Arguments) -> Abstract:
    number = p.number(args[0])
    if not of.buffer.writeable:
        raise CutProblem("this raises ValueError: the array is read-only")
    p.stores()
    fill(p, of, number)
    return Known(None)


ARRAY_METHODS = frozenset((
    "sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "clip", "round", "astype", "conj", "conjugate",
    "ravel", "flatten", "squeeze", "reshape", "transpose", "swapaxes", "argmax", "argmin", "cumsum", "cumprod", "dot",
    "trace", "diagonal", "repeat", "take",
))  # fmt: skip
ELEMENTWISE_NAMES = frozenset(ELEMENTWISE)
RULES = {**BUILTINS, **MAKING, np.copyto: _copyto}

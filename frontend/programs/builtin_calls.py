"""Evaluate Python's builtins and the functions of `math` on numbers."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dtypes import C128, F64, I64, DType, from_numpy, is_scalar_type
from .arithmetic import (
    FLOAT,
    INT,
    apply,
    as_int,
    cast_number,
    fitted_int,
    is_of,
    join,
    number_parts,
    numpy_call,
    truth,
    value_of,
)
from .arrays.masks import count, lift
from .complexes import COMPLEX, is_complex, of_parts
from .context import Lowering
from .expressions import from_object, sized
from .kinds import Known, NumpyScalar, PythonNumber
from .values import (
    Abstract,
    CutProblem,
    Expression,
    Iteration,
    Number,
    RangeValue,
    Selected,
    TupleValue,
    View,
    constant,
    dtype_of,
)

Arguments = Sequence[Abstract]
Named = Mapping[str, Abstract]
Rule = Callable[[Lowering, Arguments, Named], Abstract]


def _range(p: Lowering, args: Arguments, named: Named) -> Abstract:
    numbers = [_whole(p, x) for x in args]
    if not 1 <= len(numbers) <= 3 or named:
        raise CutProblem("range takes one to three numbers")
    if len(numbers) == 1:
        return RangeValue(constant(0), numbers[0], constant(1))
    return RangeValue(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else constant(1))


def _whole(p: Lowering, value: Abstract) -> Number:
    """Return an argument that must be an integer, as a Python int."""
    number = p.number(value)
    if isinstance(number.kind, NumpyScalar):
        if not number.kind.dtype.is_integer:
            raise CutProblem("this raises TypeError: an integer is needed")
        return as_python(p, number)
    if number.kind.name not in ("int", "bool"):
        raise CutProblem("this raises TypeError: an integer is needed")
    return as_int(p.e, number)


def _iteration(name: str) -> Callable[[Lowering, Arguments, Named], Abstract]:
    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        over = [p.computed(x) for x in args]
        if name == "enumerate":
            start = over[1] if len(over) > 1 else named.get("start", constant(0))
            if isinstance(over[0], TupleValue):
                first = p.number(start).known
                if isinstance(first, int):
                    return TupleValue(tuple(TupleValue((constant(first + k), x)) for k, x in enumerate(over[0].items)))
            return Iteration(name, (over[0],), p.number(start))
        if all(isinstance(x, TupleValue) for x in over) and over:
            items = [x.items for x in over if isinstance(x, TupleValue)]
            if name == "zip":
                return TupleValue(tuple(TupleValue(row) for row in zip(*items, strict=False)))
            return TupleValue(items[0][::-1])
        return Iteration(name, tuple(over))

    return make


def _len(p: Lowering, args: Arguments, named: Named) -> Abstract:
    (value,) = args
    if isinstance(value, TupleValue):
        return constant(len(value.items))
    if isinstance(value, View) and value.rank:
        return sized(value.shape[0])
    if isinstance(value, Selected):
        return count(p, value)
    if isinstance(value, Expression) and value.value.type.shape:
        return sized(value.value.type.shape[0])
    raise CutProblem("len() of this is not compiled")


def _abs(p: Lowering, args: Arguments, named: Named) -> Abstract:
    (value,) = args
    lifted = lift(p, args, lambda given: p.draft.call("absolute", given, {}))
    if lifted is not None:
        return lifted
    if isinstance(value, Number) and (value.is_python or not is_complex(value)):
        return apply(p.e, "absolute", (value,))
    return p.draft.call("absolute", args, {})


def _extreme(name: str) -> Callable[[Lowering, Arguments, Named], Abstract]:
    """Compute `min` or `max` of numbers: the first of equal ones, compared as in Python."""
    compare = "less" if name == "min" else "greater"

    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        items = args[0].items if len(args) == 1 and isinstance(args[0], TupleValue) else args
        if named or len(items) < 2:
            raise CutProblem(f"{name}() of this is not compiled")
        numbers = [p.number(x) for x in items]
        found = numbers[0]
        for number in numbers[1:]:
            found = _smaller(p, compare, found, number)
        return found

    return make


def _smaller(p: Lowering, compare: str, found: Number, number: Number) -> Number:
    if found.size is not None and number.size is not None:
        gap = number.size - found.size if compare == "greater" else found.size - number.size
        if p.e.proves(-gap):
            return found
        if p.e.proves(gap - 1):
            return number
    test = truth(p.e, apply(p.e, compare, (number, found)))
    if test.known is not None:
        return number if test.known else found
    kind, other = join(found, number)
    values = [cast_number(p.e, x, dtype_of(kind)) for x in (number, found)]
    size = None
    if found.size is not None and number.size is not None and kind == INT:
        size = (dims.minimum if compare == "less" else dims.maximum)(found.size, number.size)
    flags = [is_of(p.e, x, kind) for x in (number, found)] if other is not None and p.e.tracks_kinds else []
    yes, no = flags or (None, None)
    first = None if yes is None or no is None else p.e.select(value_of(p.e, test), yes, no)
    return Number(kind, p.e.select(value_of(p.e, test), *values), size, other=other, is_first=first)


def convert(p: Lowering, wanted: type, args: Arguments) -> Abstract:
    if is_scalar_type(wanted) and len(args) == 1:
        return converted(p, from_numpy(np.dtype(wanted)), p.number(args[0]))
    raise CutProblem(f"{wanted.__name__}() is not compiled")


def converted(p: Lowering, dtype: DType, number: Number) -> Number:
    """Make a NumPy number, as `np.float32(x)` does."""
    view_like = Number(number.kind, number.value, number.size, other=None)
    if number.is_python and number.dtype.is_integer and dtype.is_integer and dtype != I64:
        return Number(NumpyScalar(dtype), fitted_int(p.e, value_of(p.e, view_like), dtype))
    if number.pair is not None or dtype.kind == "complex":
        return of_parts(NumpyScalar(dtype), number_parts(p.e, number, dtype))
    return Number(NumpyScalar(dtype), cast_number(p.e, view_like, dtype))


def _int(p: Lowering, args: Arguments, named: Named) -> Abstract:
    (value,) = args
    number = p.converted(value)
    if number.known is not None and not isinstance(number.known, complex):
        return from_object(p, int(number.known))
    if number.dtype.kind != "float":
        return as_python(p, number) if isinstance(number.kind, NumpyScalar) else as_int(p.e, number)
    real = cast_number(p.e, number, F64)
    inside = p.e.op("lt", p.e.op("abs", real), p.e.constant(2.0**63, F64))
    p.e.check(inside, "a float does not fit an int of 64 bits", "OverflowProblem")
    return Number(INT, p.e.cast(p.e.op("trunc", real), I64))


INFINITIES = ("inf", "-inf", "+inf", "nan")


def _float(p: Lowering, args: Arguments, named: Named) -> Abstract:
    if isinstance(args[0], Known) and isinstance(args[0].value, str) and args[0].value in INFINITIES:
        return constant(float(args[0].value))
    number = p.converted(args[0])
    if number.known is not None and not isinstance(number.known, complex):
        return constant(float(number.known))
    if number.dtype.kind == "complex":
        raise CutProblem("this raises TypeError: float() of a complex number")
    return Number(FLOAT, cast_number(p.e, number, F64))


def _complex(p: Lowering, args: Arguments, named: Named) -> Abstract:
    numbers = [p.number(x) for x in args]
    if named or not 1 <= len(numbers) <= 2 or (len(numbers) == 2 and any(map(is_complex, numbers))):
        raise CutProblem("complex() of this is not compiled")
    if len(numbers) == 1:
        return of_parts(COMPLEX, number_parts(p.e, numbers[0], C128))
    return of_parts(COMPLEX, [cast_number(p.e, x, F64) for x in numbers])


def _bool(p: Lowering, args: Arguments, named: Named) -> Abstract:
    return truth(p.e, p.converted(args[0]))


def _math(name: str, inside: Callable[[Lowering, Any], Any] | None = None) -> Any:
    """Call a function of `math` whose result is a float. Outside its domain Python raises."""

    def make(p: Lowering, args: Arguments, named: Named) -> Abstract:
        numbers = [Number(NumpyScalar(F64), cast_number(p.e, p.number(x), F64)) for x in args]
        if inside is not None:
            p.e.check(inside(p, value_of(p.e, numbers[0])), "math domain error")
        made = value_of(p.e, numpy_call(p.e, name, numbers))
        fine = p.e.op("isfinite", made)
        for number in numbers:
            fine = p.e.op("logical_or", fine, p.e.op("logical_not", p.e.op("isfinite", value_of(p.e, number))))
        p.e.check(fine, "math range error", "OverflowProblem")
        return Number(FLOAT, made)

    return make


def _at_least(limit: float, strictly: bool = False) -> Callable[[Lowering, Any], Any]:
    return lambda p, x: p.e.op("gt" if strictly else "ge", x, p.e.constant(limit, F64))


def _finite(p: Lowering, x: Any) -> Any:
    return p.e.op("isfinite", x)


def as_python(p: Lowering, number: Number) -> Number:
    kind = {"bool": "bool", "int": "int", "uint": "int", "float": "float"}.get(number.dtype.kind)
    if kind is None or (number.dtype.bits == 64 and number.dtype.kind == "uint"):
        raise CutProblem("this number has no kind of Python in loops")
    made = PythonNumber(kind)
    return Number(made, cast_number(p.e, number, dtype_of(made)))


BUILTINS: Mapping[Any, Callable[[Lowering, Arguments, Named], Abstract]] = {
    builtins.range: _range, builtins.enumerate: _iteration("enumerate"), builtins.zip: _iteration("zip"),
    builtins.reversed: _iteration("reversed"), builtins.len: _len, builtins.abs: _abs, builtins.min: _extreme("min"),
    builtins.max: _extreme("max"), builtins.int: _int, builtins.float: _float, builtins.bool: _bool,
    builtins.complex: _complex,
    math.sqrt: _math("sqrt", _at_least(0.0)), math.exp: _math("exp"), math.log: _math("log", _at_least(0.0, True)),
    math.sin: _math("sin", _finite), math.cos: _math("cos", _finite), math.tan: _math("tan", _finite),
    math.fabs: _math("fabs"), math.atan: _math("arctan"), math.tanh: _math("tanh"), math.hypot: _math("hypot"),
    math.atan2: _math("arctan2"),
}  # fmt: skip

"""The table from op to vector code. An emitter gets its operands in the dtypes that the op computes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...ir.dtypes import DType
from ...ir.ops import TABLE, OpDef
from . import integers
from .math import (
    exponential,
    hyperbolic,
    inverse_hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    root,
    trigonometric,
)
from .text import Emitter, Val

Emit = Callable[..., Val]


def _binary(for_float: str, for_integer: str, for_bool: str | None = None) -> Emit:
    def emit(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
        if dtype.kind == "float":
            return e.op(for_float, a, b)
        return e.op(for_bool if dtype.kind == "bool" and for_bool else for_integer, a, b)

    return emit


def _compare(for_float: str, for_integer: str, unsigned: str) -> Emit:
    def emit(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
        if dtype.kind == "float":
            return e.fcmp(for_float, a, b)
        return e.icmp(for_integer if dtype.kind == "int" else unsigned, a, b)

    return emit


def _extreme(name: str) -> Emit:
    def emit(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
        """NaN wins, and -0 is below +0, so that the order of operands can't be seen."""
        if dtype.kind == "float":
            return e.call(f"{name}imum", a, b)
        if dtype.kind == "bool":
            return e.op("or" if name == "max" else "and", a, b)
        return e.call(("s" if dtype.kind == "int" else "u") + name, a, b)

    return emit


def _math(function: Callable[[Emitter, Val], Val]) -> Emit:
    return lambda e, dtype, x: function(e, x)


def _intrinsic(name: str) -> Emit:
    """A rounding: whole numbers are as they are."""
    return lambda e, dtype, x: e.call(name, x) if dtype.kind == "float" else x


def _either(for_float: Callable[[Emitter, Val, Val], Val], for_integer: Callable[[Emitter, Val, Val], Val]) -> Emit:
    return lambda e, dtype, a, b: for_float(e, a, b) if dtype.kind == "float" else for_integer(e, a, b)


def _negate(e: Emitter, dtype: DType, x: Val) -> Val:
    return e.fneg(x) if dtype.kind == "float" else e.op("sub", e.zero_like(x), x)


def _absolute(e: Emitter, dtype: DType, x: Val) -> Val:
    if dtype.kind == "float":
        return e.call("fabs", x)
    if dtype.kind != "int":
        return x
    return e.select(e.icmp("slt", x, e.zero_like(x)), e.op("sub", e.zero_like(x), x), x)


def _sign(e: Emitter, dtype: DType, x: Val) -> Val:
    zero, one = e.zero_like(x), e.const_like(x, 1)
    if dtype.kind == "float":
        signed = e.call("copysign", one, x)
        return e.select(e.fcmp("one", x, zero), signed, e.op("fadd", x, zero))
    positive = e.select(e.icmp("sgt", x, zero), one, zero)
    return e.select(e.icmp("slt", x, zero), e.const_like(x, -1), positive) if dtype.kind == "int" else positive


def _reciprocal(e: Emitter, dtype: DType, x: Val) -> Val:
    one = e.const_like(x, 1)
    if dtype.kind == "float":
        return e.op("fdiv", one, x)
    zero = e.icmp("eq", x, e.zero_like(x))
    lowest = e.const_like(x, -(1 << (dtype.bits - 1)))
    return e.select(zero, lowest, e.op("sdiv", one, e.select(zero, one, x)))


def _not(e: Emitter, dtype: DType, x: Val) -> Val:
    return e.not_(x)


def _class_test(predicate: str, infinite: bool) -> Emit:
    def emit(e: Emitter, dtype: DType, x: Val) -> Val:
        if dtype.kind != "float":
            return e.icmp("ult", x, e.zero_like(x))  # never
        if not infinite:
            return e.fcmp(predicate, x, x)
        return e.fcmp(predicate, e.call("fabs", x), e.const_like(x, float("inf")))

    return emit


def _finite(e: Emitter, dtype: DType, x: Val) -> Val:
    if dtype.kind != "float":
        return e.icmp("uge", x, e.zero_like(x))
    return e.fcmp("olt", e.call("fabs", x), e.const_like(x, float("inf")))


def _square(e: Emitter, dtype: DType, x: Val) -> Val:
    return e.op("fmul" if dtype.kind == "float" else "mul", x, x)


_BY_NAME: Mapping[str, Emit] = {
    "add": _binary("fadd", "add", "or"),
    "sub": _binary("fsub", "sub"),
    "mul": _binary("fmul", "mul", "and"),
    "div": lambda e, dtype, a, b: e.op("fdiv", a, b),
    "power": _either(power.pow, integers.power),
    "neg": _negate,
    "positive": lambda e, dtype, x: x,
    "abs": _absolute,
    "sign": _sign,
    "square": _square,
    "reciprocal": _reciprocal,
    "sqrt": lambda e, dtype, x: e.call("sqrt", x),
    "exp": _math(exponential.exp),
    "exp2": _math(exponential.exp2),
    "expm1": _math(exponential.expm1),
    "log": _math(logarithm.log),
    "log2": _math(logarithm.log2),
    "log10": _math(logarithm.log10),
    "log1p": _math(logarithm.log1p),
    "cbrt": _math(root.cbrt),
    "hypot": lambda e, dtype, x, y: root.hypot(e, x, y),
    "sin": _math(trigonometric.sin),
    "cos": _math(trigonometric.cos),
    "tan": _math(trigonometric.tan),
    "arcsin": _math(inverse_trigonometric.asin),
    "arccos": _math(inverse_trigonometric.acos),
    "arctan": _math(inverse_trigonometric.atan),
    "arctan2": lambda e, dtype, y, x: inverse_trigonometric.atan2(e, y, x),
    "sinh": _math(hyperbolic.sinh),
    "cosh": _math(hyperbolic.cosh),
    "tanh": _math(hyperbolic.tanh),
    "arcsinh": _math(inverse_hyperbolic.asinh),
    "arccosh": _math(inverse_hyperbolic.acosh),
    "arctanh": _math(inverse_hyperbolic.atanh),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "trunc": _intrinsic("trunc"),
    "rint": _intrinsic("roundeven"),
    "minimum": _extreme("min"),
    "maximum": _extreme("max"),
    "eq": _compare("oeq", "eq", "eq"),
    "ne": _compare("une", "ne", "ne"),
    "lt": _compare("olt", "slt", "ult"),
    "le": _compare("ole", "sle", "ule"),
    "gt": _compare("ogt", "sgt", "ugt"),
    "ge": _compare("oge", "sge", "uge"),
    "logical_and": lambda e, dtype, a, b: e.op("and", a, b),
    "logical_or": lambda e, dtype, a, b: e.op("or", a, b),
    "logical_xor": lambda e, dtype, a, b: e.op("xor", a, b),
    "logical_not": _not,
    "bitwise_and": lambda e, dtype, a, b: e.op("and", a, b),
    "bitwise_or": lambda e, dtype, a, b: e.op("or", a, b),
    "bitwise_xor": lambda e, dtype, a, b: e.op("xor", a, b),
    "invert": _not,
    "left_shift": lambda e, dtype, a, b: integers.shift(e, "shl", a, b),
    "right_shift": lambda e, dtype, a, b: integers.shift(e, "ashr", a, b),
    "isnan": _class_test("uno", infinite=False),
    "isinf": _class_test("oeq", infinite=True),
    "isfinite": _finite,
}
EMITTERS: Mapping[OpDef, Emit] = {TABLE[name]: emit for name, emit in _BY_NAME.items()}

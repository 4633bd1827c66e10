"""Map each op to the emitter of its vector code. Operands come in the dtypes that the op computes in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ....ir.dtypes import DType
from ....ir.ops import TABLE, OpDef
from ..code.text import Emitter, Val
from ..math import (
    arcsine,
    arctangent,
    constant_division,
    division,
    error_function,
    exponential,
    hyperbolic,
    hyperbolic_tangent,
    inverse_hyperbolic,
    log_sum,
    logarithm,
    logistic,
    power,
    root,
    trigonometric,
)
from . import floats, integers

Emit = Callable[..., Val]

# A degree in radians and a radian in degrees, as NumPy computes them.
DEGREE = {"float": float(np.float32(math.pi) / np.float32(180)), "double": math.pi / 180}
RADIAN = {"float": float(np.float32(180) / np.float32(math.pi)), "double": 180 / math.pi}


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
        """Let NaN win and order -0 below +0, so that the order of operands does not matter."""
        if dtype.kind == "float":
            return e.call(f"{name}imum", a, b)
        if dtype.kind == "bool":
            return e.op("or" if name == "max" else "and", a, b)
        return e.call(("s" if dtype.kind == "int" else "u") + name, a, b)

    return emit


def _math(function: Callable[..., Val]) -> Emit:
    return lambda e, dtype, *x: function(e, *x)


def _times(factor: Mapping[str, float]) -> Emit:
    return lambda e, dtype, x: e.op("fmul", x, e.const_like(x, factor[x.elem]))


def _number_first(name: str) -> Emit:
    """As `_extreme`, but NaN loses."""
    whole = _extreme(name)

    def emit(e: Emitter, dtype: DType, a: Val, b: Val) -> Val:
        if dtype.kind == "float":
            return floats.number_first(e, f"{name}imum", a, b)
        return whole(e, dtype, a, b)

    return emit


def _intrinsic(name: str) -> Emit:
    """Emits a rounding; integers stay unchanged."""
    return lambda e, dtype, x: e.call(name, x) if dtype.kind == "float" else x


def _either(for_float: Callable[..., Val], for_integer: Callable[..., Val]) -> Emit:
    """Choose between code for floats and for integers; the latter gets the dtype, because it depends on the sign."""
    return lambda e, dtype, *x: for_float(e, *x) if dtype.kind == "float" else for_integer(e, dtype, *x)


def _negate(e: Emitter, dtype: DType, x: Val) -> Val:
    return e.fneg(x) if dtype.kind == "float" else e.op("sub", e.zero_like(x), x)


def _sign_of_float(e: Emitter, x: Val) -> Val:
    zero = e.zero_like(x)
    signed = e.call("copysign", e.const_like(x, 1), x)
    return e.select(e.fcmp("one", x, zero), signed, e.op("fadd", x, zero))


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


def _demand(e: Emitter, dtype: DType, x: Val, holds: Val) -> Val:
    e.fail_where(e.not_(holds))
    return x


def _square(e: Emitter, dtype: DType, x: Val) -> Val:
    return e.op("fmul" if dtype.kind == "float" else "mul", x, x)


_BY_NAME: Mapping[str, Emit] = {
    "add": _binary("fadd", "add", "or"),
    "sub": _binary("fsub", "sub"),
    "mul": _binary("fmul", "mul", "and"),
    "div": lambda e, dtype, a, b: constant_division.divide(e, a, b),
    "power": _either(power.pow, integers.power),
    "neg": _negate,
    "positive": lambda e, dtype, x: x,
    "abs": _either(lambda e, x: e.call("fabs", x), integers.absolute),
    "sign": _either(_sign_of_float, integers.sign),
    "square": _square,
    "reciprocal": _either(lambda e, x: e.op("fdiv", e.const_like(x, 1), x), integers.reciprocal),
    "sqrt": lambda e, dtype, x: e.call("sqrt", x),
    "exp": _math(exponential.exp),
    "exp2": _math(exponential.exp2),
    "expm1": _math(exponential.expm1),
    "log": _math(logarithm.log),
    "log2": _math(logarithm.log2),
    "log10": _math(logarithm.log10),
    "log1p": _math(logarithm.log1p),
    "cbrt": _math(root.cbrt),
    "hypot": _math(root.hypot),
    "sin": _math(trigonometric.sin),
    "cos": _math(trigonometric.cos),
    "tan": _math(trigonometric.tan),
    "arcsin": _math(arcsine.asin),
    "arccos": _math(arcsine.acos),
    "arctan": _math(arctangent.atan),
    "arctan2": _math(arctangent.atan2),
    "sinh": _math(hyperbolic.sinh),
    "cosh": _math(hyperbolic.cosh),
    "tanh": _math(hyperbolic_tangent.tanh),
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
    "left_shift": integers.left_shift,
    "right_shift": integers.right_shift,
    "isnan": _class_test("uno", infinite=False),
    "isinf": _class_test("oeq", infinite=True),
    "isfinite": _finite,
    "signbit": _math(floats.signbit),
    "copysign": _math(floats.copysign),
    "fmin": _number_first("min"),
    "fmax": _number_first("max"),
    "fmod": _either(division.truncated_remainder, integers.fmod),
    "gcd": integers.gcd,
    "lcm": integers.lcm,
    "bitwise_count": integers.bit_count,
    "heaviside": _math(floats.heaviside),
    "ldexp": _math(floats.ldexp),
    "nextafter": floats.nextafter,
    "spacing": floats.spacing,
    "deg2rad": _times(DEGREE),
    "rad2deg": _times(RADIAN),
    "logaddexp": _math(log_sum.logaddexp),
    "logaddexp2": _math(log_sum.logaddexp2),
    "conjugate": lambda e, dtype, x: x,
    "demand": _demand,
    "erf": _math(error_function.erf),
    "erfc": _math(error_function.erfc),
    "expit": _math(logistic.expit),
    "logit": _math(logistic.logit),
}
EMITTERS: Mapping[OpDef, Emit] = {TABLE[name]: emit for name, emit in _BY_NAME.items()}
COMPARISONS = frozenset(TABLE[name] for name in ("eq", "ne", "lt", "le", "gt", "ge"))


def emit(e: Emitter, op: OpDef, dtypes: Sequence[DType], values: Sequence[Val]) -> Val:
    """Emits an op without attributes. Only comparisons mix signed and unsigned integers."""
    first, last = dtypes[0], dtypes[-1]
    if op in COMPARISONS and first != last:
        return integers.compare_signs(e, op.name, values[0], values[1], 0 if first.kind == "int" else 1)
    return EMITTERS[op](e, first, *values)

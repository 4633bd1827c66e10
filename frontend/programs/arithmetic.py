"""Compute with numbers as Python and NumPy do, which differ: Python's ints are exact, and its division by zero raises.

A Python int is an i64 with overflow checks: if a result does not fit, the piece fails and Python runs the statements.
If one operand is a NumPy number, NumPy's function of the same name determines dtype and value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import LOOP
from ...ir.dtypes import BOOL, C128, F64, I64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType
from ...ir.errors import OverflowProblem, WeftError
from ...ir.graph import Value
from ...ir.opdef import Trait
from ...ir.ops import CAST, CONSTANT, RESHAPE, SIZE
from ...ir.types import TensorType
from ..numpy import functions
from .complexes import is_complex, parts_of, python_complex
from .emit import NestEmitter
from .kinds import NumpyScalar, PythonNumber
from .values import CutProblem, Number, NumberKind, TwoKinds, constant, dtype_of, plain

OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "equal": operator.eq, "not_equal": operator.ne,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "negative": operator.neg, "positive": operator.pos, "invert": operator.invert, "absolute": operator.abs,
}  # fmt: skip
COMPARISONS = {
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
}  # fmt: skip
ON_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
WEAK = {"int": WEAK_INT, "float": WEAK_FLOAT, "bool": BOOL, "complex": WEAK_COMPLEX}
INT, FLOAT, TRUTH = PythonNumber("int"), PythonNumber("float"), PythonNumber("bool")
EXACT = 2.0**53  # integers up to here are floats
NEAR_OVERFLOW = 2.0**63 * (1 - 2.0**-40)


def value_of(e: NestEmitter, number: Number) -> Value:
    """Return the number as a value of the nest, computed here if it is a size or a constant."""
    if number.value is not None:
        return number.value
    if number.dtype.kind == "complex":
        raise CutProblem("single complex numbers are only supported in expressions with arrays")
    if number.known is not None:
        return e.constant(number.known, number.dtype)
    assert number.size is not None
    symbols = dims.symbols(number.size)
    lone = number.size if isinstance(number.size, int) else str(number.size)
    if lone in e.ints and lone not in e.needed:
        return e.ints[str(lone)]
    is_loose = any(name in e.ints and name not in e.needed for name in symbols)
    if number.parts is not None and (is_loose or _is_large(number.size)):
        name, a, b = number.parts
        return _checked(e, name, value_of(e, a), value_of(e, b))
    return e.size_number(number.size)


def _is_large(size: dims.Size) -> bool:
    """Whether an int may need more than 63 bits. Sizes have up to 31, and numbers from data up to 62."""
    total = 0
    for monomial, factor in dims.terms_of(size):
        total += abs(factor) << (31 * len(monomial))
    return total >= 2**63


def cast_number(e: NestEmitter, number: Number, dtype: DType) -> Value:
    """The number as another dtype; a constant is converted when compiling."""
    if number.known is not None:
        return e.constant(_as(number.known, dtype), dtype)
    return e.cast(value_of(e, number), dtype)


def _as(value: bool | int | float | complex, dtype: DType) -> bool | int | float | complex:
    if dtype.kind == "bool":
        return bool(value)
    if dtype.kind in ("int", "uint"):
        assert not isinstance(value, complex)
        return int(value)
    if dtype.kind == "complex":
        return complex(value)
    assert not isinstance(value, complex)
    return float(value)


def truth(e: NestEmitter, number: Number) -> Number:
    """`bool(x)`."""
    if number.known is not None:
        return constant(bool(number.known))
    if number.dtype == BOOL:
        return Number(TRUTH, value_of(e, number))
    if number.pair is not None:
        zero = e.constant(0.0, number.pair[0].type.dtype)
        return Number(TRUTH, e.op("logical_or", *(e.op("ne", part, zero) for part in number.pair)))
    value = value_of(e, number)
    return Number(TRUTH, e.op("ne", value, e.constant(_as(0, number.dtype), number.dtype)))


def negation(e: NestEmitter, number: Number) -> Number:
    """`not x`."""
    found = truth(e, number)
    if found.known is not None:
        return constant(not found.known)
    return Number(TRUTH, e.op("logical_not", value_of(e, found)))


def join(a: Number, b: Number) -> tuple[NumberKind, NumberKind | None]:
    """Return the kind of a variable that holds one of two numbers, and a second kind that it may have."""
    first, second = plain(a.kind), plain(b.kind)
    if first == second:
        if a.other is not None and b.other is not None and a.other != b.other:
            raise CutProblem("a variable holds values of three kinds")
        return first, a.other or b.other
    for x, y in ((a, b), (b, a)):
        if x.other is None and (y.other is None or y.other == plain(x.kind)) and _is_exact(x, dtype_of(y.kind)):
            return plain(y.kind), plain(x.kind)
    raise CutProblem(f"a variable is {shown(a.kind)} here and {shown(b.kind)} there")


def is_of(e: NestEmitter, number: Number, kind: NumberKind) -> Value | None:
    """Compute in the nest whether a number is of a kind; None if that is not tracked."""
    if number.other is None:
        return e.constant(plain(number.kind) == kind, BOOL)
    if number.is_first is None:
        return None
    return number.is_first if plain(number.kind) == kind else e.op("logical_not", number.is_first)


def _is_exact(number: Number, dtype: DType) -> bool:
    """Tell whether a number always keeps its value in a wider dtype."""
    known = number.known
    if number.dtype == dtype and dtype.kind != "complex":
        return True
    if known is None or dtype.kind in ("bool", "complex") or number.dtype.kind == "bool":
        return False
    if isinstance(known, complex):
        return False
    if dtype.kind in ("int", "uint"):
        return isinstance(known, int) and 0 <= known < 2 ** (dtype.bits - 1)
    return float(known) == known and float(dtype.numpy.type(known)) == known


def shown(kind: NumberKind) -> str:
    """A kind as messages show it."""
    article = "an" if isinstance(kind, PythonNumber) and kind.name == "int" else "a"
    return f"np.{kind.dtype.numpy.name}" if isinstance(kind, NumpyScalar) else f"{article} {kind.name} of Python"


def apply(e: NestEmitter, name: str, operands: Sequence[Number]) -> Number:
    """Apply an operator, given by the name of NumPy's function for it."""
    if all(n.is_python and n.other is None for n in operands):
        return _python(e, name, operands)
    unsure = [k for k, n in enumerate(operands) if n.other is not None]
    if not unsure:
        return numpy_call(e, name, operands)
    values = {k: value_of(e, operands[k]) for k in unsure}

    def of_kinds(kinds: Sequence[NumberKind | None]) -> list[Number]:
        found = [*operands]
        for k, kind in zip(unsure, kinds, strict=True):
            assert kind is not None
            found[k] = Number(kind, values[k])
        return found

    first = of_kinds([operands[k].kind for k in unsure])
    if name in COMPARISONS and all(operands[k].dtype in (F64, I64) for k in unsure):
        return Number(TRUTH, value_of(e, apply(e, name, first)), other=NumpyScalar(BOOL))
    usual = _outcome(e, name, first)
    kinds = product(*((operands[k].kind, operands[k].other) for k in unsure))
    if any(_outcome(e, name, of_kinds(several)) != usual for several in kinds):
        settles = [operands[k].settle for k in unsure]
        number = operands[unsure[0]]
        if None in settles and number.other is not None:
            raise TwoKinds(f"a variable is {shown(number.kind)} here and {shown(number.other)} there")
        for settle in filter(None, settles):
            settle()
    return apply(e, name, first)


def _outcome(e: NestEmitter, name: str, operands: Sequence[Number]) -> tuple[Any, ...]:
    """Return the dtypes in which an operation computes and returns, to compare two possible kinds of an operand."""
    if all(n.is_python for n in operands):
        kinds = [n.kind.name for n in operands if isinstance(n.kind, PythonNumber)]
        wide = "complex" if "complex" in kinds else "float" if "float" in kinds or name == "divide" else "int"
        return ("python", wide, name == "divide" or name in COMPARISONS or wide == "float")
    builder, made = _draft(name, operands)
    nodes = [n for n in builder.nodes if n.op is not CONSTANT]
    computes = [n.op.dtypes(tuple(v.type.dtype for v in n.operands), n.attrs)[0] for n in nodes]
    return ("numpy", made.type.dtype, computes)


def _draft(name: str, operands: Sequence[Number]) -> tuple[Builder, Value]:
    """Call a NumPy function on numbers; those that are not known become inputs of a new graph."""
    builder = Builder("number")
    given: list[Any] = []
    for number in operands:
        given.append(number.known if number.known is not None else builder.input("x", input_type(number), True))
    made = functions.call(builder, name, given, {}, None)
    if isinstance(made, tuple):
        raise CutProblem(f"'{name}' has several results")
    return builder, made


def input_type(number: Number) -> TensorType:
    """Return the type of a number as an input of a graph. Python's numbers are weak."""
    kind = number.kind
    return TensorType(kind.dtype if isinstance(kind, NumpyScalar) else WEAK[kind.name])


# -- Python's numbers


def _python(e: NestEmitter, name: str, operands: Sequence[Number]) -> Number:
    if all(n.known is not None for n in operands):
        try:
            made = OPERATORS[name](*(n.known for n in operands))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise CutProblem(f"this raises {type(error).__name__}: {error}") from error
        if type(made) is int and not -(2**63) <= made < 2**63:
            raise CutProblem("a Python int does not fit 64 bits here")
        return constant(made)
    names = [n.kind.name for n in operands if isinstance(n.kind, PythonNumber)]
    if "complex" in names:
        return _complex(e, name, operands)
    if len(operands) == 1:
        return _unary(e, name, operands[0], names[0])
    if name in COMPARISONS:
        return _compared(e, name, operands, names)
    if name in ON_BITS and names == ["bool", "bool"]:
        return Number(TRUTH, e.op(name, *(value_of(e, n) for n in operands)))
    if "float" in names or name == "divide":
        return _floats(e, name, operands)
    a, b = (as_int(e, n) for n in operands)
    return _ints(e, name, a, b)


def number_parts(e: NestEmitter, number: Number, dtype: DType) -> tuple[Value, ...]:
    """Return the values of the nest that make up a number of this dtype: one, or both parts of a complex number."""
    if is_complex(number) and dtype.kind != "complex":
        raise CutProblem("the imaginary part of a complex number would be dropped")
    return parts_of(e, number, dtype, lambda x, d: cast_number(e, x, d))


def _complex(e: NestEmitter, name: str, operands: Sequence[Number]) -> Number:
    pairs = []
    for number in operands:
        real, imag = parts_of(e, number, C128, lambda x, _: _as_float(e, x, exactly=True))
        pairs.append((real, imag))
    made = python_complex(e, name, pairs, operands[-1].known)
    return made if isinstance(made, Number) else Number(PythonNumber(made[1]), made[0])


def as_int(e: NestEmitter, number: Number) -> Number:
    """A Python bool as an int."""
    if number.kind == INT or (isinstance(number.kind, PythonNumber) and number.kind.name == "int"):
        return number
    if number.known is not None:
        return constant(int(bool(number.known)))
    return Number(INT, e.cast(value_of(e, number), I64))


def _unary(e: NestEmitter, name: str, number: Number, kind: str) -> Number:
    if kind == "float":
        made = {"negative": "neg", "absolute": "abs", "positive": "positive"}.get(name)
        if made is None:
            raise CutProblem(f"this raises TypeError: '{name}' of a float")
        return Number(FLOAT, e.op(made, value_of(e, number)))
    whole = as_int(e, number)
    if name == "positive":
        return whole
    if name == "negative":
        return _ints(e, "subtract", constant(0), whole)
    if name == "invert":
        return _ints(e, "subtract", constant(-1), whole)
    value = value_of(e, whole)
    e.check(e.op("ne", value, e.constant(-(2**63), I64)), "a Python int does not fit 64 bits", "OverflowProblem")
    return Number(INT, e.op("abs", value))


def _compared(e: NestEmitter, name: str, operands: Sequence[Number], names: Sequence[str]) -> Number:
    if "float" in names:
        a, b = (_as_float(e, n, exactly=True) for n in operands)
        return Number(TRUTH, e.op(COMPARISONS[name], a, b))
    a_, b_ = (as_int(e, n) for n in operands)
    if a_.size is not None and b_.size is not None:
        settled = _settled(e, name, a_.size - b_.size)
        if settled is not None:
            return constant(settled)
    return Number(TRUTH, e.op(COMPARISONS[name], value_of(e, a_), value_of(e, b_)))


def _settled(e: NestEmitter, name: str, gap: dims.Size) -> bool | None:
    """Return the truth of a comparison of sizes if it follows from the ranges of loops."""
    if isinstance(gap, int):
        return bool(OPERATORS[name](gap, 0))
    tests: Mapping[str, tuple[dims.Size, dims.Size]] = {
        "less": (-gap - 1, gap), "less_equal": (-gap, gap - 1), "greater": (gap - 1, -gap),
        "greater_equal": (gap, -gap - 1),
    }  # fmt: skip
    if name not in tests or not any(n.startswith(LOOP) for n in dims.symbols(gap)):
        return None
    yes, no = tests[name]
    return True if e.proves(yes) else False if e.proves(no) else None


def _as_float(e: NestEmitter, number: Number, exactly: bool = False) -> Value:
    """Convert a number to a float. With `exactly`, an int that would be rounded fails the piece."""
    if number.known is not None:
        if exactly and float(number.known) != number.known:  # type: ignore[arg-type]
            raise CutProblem("a Python int that no float holds exactly is compared or divided")
        return e.constant(float(number.known), F64)  # type: ignore[arg-type]
    value = value_of(e, number)
    if value.type.dtype == F64:
        return value
    made = e.cast(value, F64)
    if exactly and value.type.dtype == I64 and not _is_short(e, number):
        small = e.op("le", e.op("abs", made), e.constant(EXACT, F64))
        e.check(small, "a Python int that no float holds is compared or divided", "OverflowProblem")
    return made


def _is_short(e: NestEmitter, number: Number) -> bool:
    """Whether an int is a size of at most 53 bits."""
    if number.size is None or any(name in e.ints and name not in e.needed for name in dims.symbols(number.size)):
        return False
    return all(len(monomial) <= 1 and abs(factor) < 2**20 for monomial, factor in dims.terms_of(number.size))


def _floats(e: NestEmitter, name: str, operands: Sequence[Number]) -> Number:
    both_ints = all(n.dtype != F64 for n in operands)
    a, b = (_as_float(e, n, exactly=both_ints) for n in operands)
    if name in ("divide", "floor_divide", "remainder"):
        if operands[1].known is None:
            e.check(e.op("ne", b, e.constant(0.0, F64)), "division by zero", "DivisionByZero")
        elif not operands[1].known:
            raise CutProblem("this raises ZeroDivisionError")
    ours = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div"}.get(name)
    if ours is not None:
        return Number(FLOAT, e.op(ours, a, b))
    if name in ("floor_divide", "remainder"):
        return Number(FLOAT, e.op(name, a, b))
    if name == "power":
        return _float_power(e, a, b, operands[1])
    raise CutProblem(f"this raises TypeError: '{name}' of floats")


def _float_power(e: NestEmitter, a: Value, b: Value, exponent: Number) -> Number:
    """Compute `a ** b`. Python gives a complex number for a negative base, and raises for 0 ** -1 and overflow."""
    if exponent.known is None or float(exponent.known) != int(exponent.known):  # type: ignore[arg-type]
        e.check(e.op("ge", a, e.constant(0.0, F64)), "a negative number to a power", "ValueProblem")
    if exponent.known is None or exponent.known < 0:  # type: ignore[operator]
        e.check(e.op("ne", a, e.constant(0.0, F64)), "0.0 to a negative power", "DivisionByZero")
    made = numpy_call(e, "power", [Number(NumpyScalar(F64), a), Number(NumpyScalar(F64), b) if exponent.known is None
                                   else exponent])  # fmt: skip
    value = value_of(e, made)
    finite = [e.op("isfinite", x) for x in (value, a, b)]
    fine = e.op("logical_or", finite[0], e.op("logical_not", e.op("logical_and", finite[1], finite[2])))
    e.check(fine, "the result of a power is too large", "OverflowProblem")
    return Number(FLOAT, value)


def _ints(e: NestEmitter, name: str, a: Number, b: Number) -> Number:
    if a.known is not None and b.known is not None:
        return _python(e, name, (a, b))
    size: dims.Size | None = None
    if a.size is not None and b.size is not None:
        if name in ("add", "subtract", "multiply"):
            size = OPERATORS[name](a.size, b.size)
        elif name in ("floor_divide", "remainder") and isinstance(b.size, int) and 0 < b.size < 2**31:
            quotient = dims.floordiv(a.size, b.size)
            size = quotient if name == "floor_divide" else a.size - quotient * b.size
    if size is not None:
        return Number(INT, size=size, parts=(name, a, b)) if not isinstance(size, int) else constant(size)
    return Number(INT, _checked(e, name, value_of(e, a), value_of(e, b), b.known))


def _checked(e: NestEmitter, name: str, a: Value, b: Value, known: Any = None) -> Value:
    """Apply an operation on i64 that fails the piece if Python's result would not fit, or Python would raise."""
    zero = e.constant(0, I64)
    if name == "add" or name == "subtract":
        made = e.op("add" if name == "add" else "sub", a, b)
        other = b if name == "add" else e.op("invert", b)
        wrong = e.op("bitwise_and", e.op("bitwise_xor", a, made), e.op("bitwise_xor", other, made))
        _fits(e, e.op("ge", wrong, zero))
        return made
    if name == "multiply":
        estimate = e.op("abs", e.op("mul", e.cast(a, F64), e.cast(b, F64)))
        _fits(e, e.op("lt", estimate, e.constant(NEAR_OVERFLOW, F64)))
        return e.op("mul", a, b)
    if name in ("floor_divide", "remainder"):
        if known == 0:
            raise CutProblem("this raises ZeroDivisionError")
        if known is None:
            e.check(e.op("ne", b, zero), "division by zero", "DivisionByZero")
        if known is None or known == -1:
            smallest = e.op("eq", a, e.constant(-(2**63), I64))
            _fits(e, e.op("logical_not", e.op("logical_and", smallest, e.op("eq", b, e.constant(-1, I64)))))
        return e.op(name, a, b)
    if name in ON_BITS:
        return e.op(name, a, b)
    if name in ("left_shift", "right_shift"):
        limit = e.constant(63, I64)
        e.check(e.op("ge", b, zero), "negative shift count", "ValueProblem")
        if name == "right_shift":
            return e.op("right_shift", a, e.op("minimum", b, limit))
        _fits(e, e.op("lt", b, limit))
        made = e.op("left_shift", a, b)
        _fits(e, e.op("eq", e.op("right_shift", made, b), a))
        return made
    if name == "power":
        return _int_power(e, a, known)
    raise CutProblem(f"'{name}' of ints is not supported in loops")


def _int_power(e: NestEmitter, a: Value, exponent: Any) -> Value:
    if exponent is None or not 0 <= exponent <= 8:
        raise CutProblem("the power of an int is only supported with a small constant exponent")
    made = e.constant(1, I64) if exponent == 0 else a
    for _ in range(exponent - 1):
        made = _checked(e, "multiply", made, a)
    return made


def _fits(e: NestEmitter, condition: Value) -> None:
    e.check(condition, "a Python int does not fit 64 bits", "OverflowProblem")


# -- NumPy's numbers


def numpy_call(e: NestEmitter, name: str, operands: Sequence[Number]) -> Number:
    """Call a NumPy function on numbers, by its own rules for dtypes."""
    try:
        builder, made = _draft(name, operands)
    except OverflowProblem as error:
        raise CutProblem(f"this raises OverflowError: {error.message}") from error
    except WeftError as error:
        raise CutProblem(error.message) from error
    values = dict(zip(builder.inputs, (n for n in operands if n.known is None), strict=True))
    for node in builder.nodes:
        dtype = node.result.type.dtype
        kind = PythonNumber(dtype.kind) if dtype.weak else NumpyScalar(dtype)
        values[node.result] = Number(kind, inline_node(e, node, values))
    return Number(NumpyScalar(made.type.dtype.strong), value_of(e, values[made]))


def inline_node(e: NestEmitter, node: Any, values: Mapping[Value, Number]) -> Value:
    """Emit a node of a graph of numbers, with its operands in the dtypes that it computes in."""
    if node.op is CONSTANT:
        return e.constant(node.attrs["value"], node.result.type.dtype.strong)
    if node.op is SIZE:
        return e.size_number(node.attrs["size"][0])
    if node.op is RESHAPE:
        return value_of(e, values[node.operands[0]])
    if Trait.ELEMENTWISE not in node.op.traits or node.body is not None:
        raise CutProblem(f"'{node.op.name}' of numbers is not supported in loops")
    have = tuple(v.type.dtype for v in node.operands)
    if node.op is CAST:
        return e.cast(value_of(e, values[node.operands[0]]), node.attrs["to"])
    want, _ = node.op.dtypes(have, node.attrs)
    given = [_converted(e, v, d.strong, values) for v, d in zip(node.operands, want, strict=True)]
    _, gives = node.op.dtypes(tuple(v.type.dtype for v in given), node.attrs)
    return e.node(node.op, given, (TensorType(gives[0]),), **node.attrs).result


def _converted(e: NestEmitter, operand: Value, want: DType, values: Mapping[Value, Number]) -> Value:
    """Convert an operand to the dtype of an operation; a Python int must fit it."""
    weak = operand.type.dtype.weak
    if operand.node is not None and operand.node.op is CONSTANT and weak:
        number = operand.node.attrs["value"]
        assert isinstance(number, (bool, int, float, complex))
        return e.constant(_as(number, want), want)
    value = value_of(e, values[operand])
    if weak and value.type.dtype == I64:
        return fitted_int(e, value, want)
    return e.cast(value, want)


def fitted_int(e: NestEmitter, value: Value, want: DType) -> Value:
    """Convert a Python int as NumPy does: it must fit an integer dtype, and for floats becomes a double first."""
    if want.kind in ("float", "complex"):
        return e.cast(e.cast(value, F64), want)
    made = e.cast(value, want)
    if want.is_integer and want != I64:
        same = e.op("eq", e.cast(made, I64), value)
        if want.kind == "uint" and want.bits == 64:
            same = e.op("ge", value, e.constant(0, I64))
        e.check(same, f"a Python int is out of bounds for {want.numpy.name}", "OverflowProblem")
    return made

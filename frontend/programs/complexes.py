"""Compute with Python's complex numbers as pairs of floats, with the formulas that Python itself has.

NumPy's complex numbers are pairs as well, but array expressions compute with those (`drafts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.dtypes import C64, F32, F64, DType
from ...ir.graph import Value
from .emit import NestEmitter
from .kinds import PythonNumber
from .values import CutProblem, Number, NumberKind

Pair = tuple[Value, Value]
Real = Callable[[Number, DType], Value]
"""Converts a real number to a dtype."""
COMPLEX = PythonNumber("complex")
MOST_POWER = 8


def is_complex(x: object) -> bool:
    """Whether a value is a single complex number."""
    return isinstance(x, Number) and x.dtype.kind == "complex"


def part_dtype(dtype: DType) -> DType:
    """The dtype of the parts of a complex number."""
    return F32 if dtype == C64 else F64


def width(dtype: DType) -> int:
    """Return how many values of a nest make up a number."""
    return 2 if dtype.kind == "complex" else 1


def parts_of(e: NestEmitter, number: Number, dtype: DType, real: Real) -> tuple[Value, ...]:
    """Return the values of a nest that make up a number of this dtype: one, or both parts of a complex number."""
    if dtype.kind != "complex":
        return (real(number, dtype),)
    own = part_dtype(dtype)
    if number.pair is not None:
        return e.cast(number.pair[0], own), e.cast(number.pair[1], own)
    if number.known is not None:
        known = complex(number.known)
        return e.constant(known.real, own), e.constant(known.imag, own)
    return real(number, own), e.constant(0.0, own)


def of_parts(kind: NumberKind, parts: Sequence[Value], other: NumberKind | None = None) -> Number:
    """The number that values of a nest make."""
    if len(parts) == 2:
        return Number(kind, pair=(parts[0], parts[1]), other=other)
    return Number(kind, parts[0], other=other)


def zeros(e: NestEmitter, dtype: DType) -> tuple[Value, ...]:
    """Return zero, as the values that make a number."""
    if dtype.kind == "complex":
        return (e.constant(0.0, part_dtype(dtype)),) * 2
    return (e.constant({"bool": False, "float": 0.0}.get(dtype.kind, 0), dtype),)


def python_complex(
    e: NestEmitter, name: str, pairs: Sequence[Pair], exponent: object = None
) -> Number | tuple[Value, str]:
    """Apply an operator to Python's complex numbers.

    If the result has another kind, it is `(value, "float")` or `(value, "bool")`.
    """
    a = pairs[0]
    if name == "negative":
        return _made((e.op("neg", a[0]), e.op("neg", a[1])))
    if name == "positive":
        return _made(a)
    if name == "absolute":
        made = e.op("hypot", *a)
        _demand_finite(e, (made,), pairs)
        return made, "float"
    if name in ("equal", "not_equal"):
        same = e.op("logical_and", *(e.op("eq", x, y) for x, y in zip(a, pairs[1], strict=True)))
        return (same if name == "equal" else e.op("logical_not", same)), "bool"
    if name in ("add", "subtract"):
        op = "add" if name == "add" else "sub"
        return _made((e.op(op, a[0], pairs[1][0]), e.op(op, a[1], pairs[1][1])))
    if name == "multiply":
        return _made(_product(e, a, pairs[1]))
    if name == "divide":
        return _made(_quotient(e, a, pairs[1]))
    if name == "power" and type(exponent) is int and 0 <= exponent <= MOST_POWER:
        return _made(_power(e, a, exponent))
    raise CutProblem(f"'{name}' of Python's complex numbers is not supported in loops, or raises")


def _made(pair: Pair) -> Number:
    return Number(COMPLEX, pair=pair)


def _product(e: NestEmitter, a: Pair, b: Pair) -> Pair:
    real = e.op("sub", e.op("mul", a[0], b[0]), e.op("mul", a[1], b[1]))
    return real, e.op("add", e.op("mul", a[0], b[1]), e.op("mul", a[1], b[0]))


def _quotient(e: NestEmitter, a: Pair, b: Pair) -> Pair:
    """Divide by the larger part first, as Python does; it raises an error for zero."""
    sizes = [e.op("abs", part) for part in b]
    for size in sizes:  # Python has a rule of its own for NaN
        e.check(e.op("eq", size, size), "division by a complex NaN")
    e.check(e.op("ne", e.op("maximum", *sizes), e.constant(0.0, F64)), "division by zero", "DivisionByZero")
    is_flat = e.op("ge", *sizes)
    large, small = e.select(is_flat, b[0], b[1]), e.select(is_flat, b[1], b[0])
    ratio = e.op("div", small, large)
    below = e.op("add", large, e.op("mul", small, ratio))
    first, second = e.select(is_flat, a[0], a[1]), e.select(is_flat, a[1], a[0])
    scaled = e.op("mul", second, ratio)
    real = e.op("div", e.op("add", first, scaled), below)
    turned = e.op("mul", first, ratio)
    imag = e.select(is_flat, e.op("sub", second, turned), e.op("sub", turned, second))
    return real, e.op("div", imag, below)


def _power(e: NestEmitter, a: Pair, exponent: int) -> Pair:
    """Multiply repeatedly, in Python's order."""
    made: Pair = (e.constant(1.0, F64), e.constant(0.0, F64))
    factor, mask = a, 1
    while mask <= exponent:
        if exponent & mask:
            made = _product(e, made, factor)
        mask <<= 1
        factor = _product(e, factor, factor)
    _demand_finite(e, made, (a,))
    return made


def _demand_finite(e: NestEmitter, made: Sequence[Value], given: Sequence[Pair]) -> None:
    """Fail the piece where Python raises OverflowError."""
    for value in (*made, *(part for pair in given for part in pair)):
        e.check(e.op("isfinite", value), "the result is too large", "OverflowProblem")

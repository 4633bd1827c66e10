"""Fold operators on numbers and sizes while a kernel is built, as Python computes them but within bounds.

Integers stay within 64 bits and sizes small, so that no text can make the compiler compute for long; a size that would
grow too large is left to the graph.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Union

from ...ir import dims
from ...ir.dims import Size
from ...ir.errors import DivisionByZero, OverflowProblem, Span, TypeProblem, ValueProblem

Number = Union[bool, int, float, complex]

UNARY: Mapping[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_LOGIC = ("&", "|", "^")


def unary(op: str, x: Number, span: Span) -> Number:
    """Compute `-x`, `+x` or `~x` of a number."""
    if isinstance(x, bool):
        if op == "~":
            return not x
        raise TypeProblem(f"'{op}' is not defined for bool", span, "convert it first, as in i32(x)")
    try:
        result: Number = UNARY[op](x)
    except TypeError as error:
        raise TypeProblem(f"'{op}' is not defined for a {_kind(x)}", span) from error
    return _bounded(result, span)


def binary(op: str, a: Number, b: Number, span: Span) -> Number:
    """Apply an operator to two numbers."""
    if op in ("**", "<<") and isinstance(a, int) and isinstance(b, int):
        _refuse_huge(op, a, b, span)
    if op == "**" and isinstance(a, (int, float)) and isinstance(b, float) and a < 0 and not b.is_integer():
        raise ValueProblem("a negative number can't be raised to a fractional power", span)
    try:
        result = BINARY[op](a, b)
    except ZeroDivisionError as error:
        raise DivisionByZero("division by zero", span, "write 'inf' or 'nan' if you mean infinity or NaN") from error
    except OverflowError as error:
        raise OverflowProblem("the result does not fit f64", span) from error
    except ValueError as error:
        raise ValueProblem("the shift count must not be negative", span) from error
    except TypeError as error:
        raise TypeProblem(f"'{op}' is not defined for a {_kind(a)} and a {_kind(b)}", span) from error
    if isinstance(a, bool) and isinstance(b, bool) and op in _LOGIC:
        return bool(result)
    return _bounded(result, span)


def size(op: str, a: Size, b: Size) -> Size | None:
    """Apply an operator to sizes; None if the result is not a size or its formula is too large."""
    if op in ("+", "-", "*"):
        result: Size = BINARY[op](a, b)
    elif op == "//" and isinstance(b, int) and b > 0:
        result = dims.floordiv(a, b)
    else:
        return None
    return result if _small(result) else None


def _small(found: Size) -> bool:
    """Tell whether a formula is short as text, which bounds its terms and depth, and has a low degree.

    A product of many sizes would not fit 64 bits; the graph's integers wrap around as NumPy's do.
    """
    if isinstance(found, int):
        return abs(found) < 1 << 63
    return all(len(m) <= 6 and abs(c) < 1 << 62 for m, c in found.terms) and len(str(found)) <= 200


def _refuse_huge(op: str, a: int, b: int, span: Span) -> None:
    bits = abs(a).bit_length()
    grown = bits * b if op == "**" else bits + b
    if b > 0 and bits > (op == "**") and grown > 256:
        raise OverflowProblem("the integer does not fit 64 bits", span, "use a float, as in 2.0**100")


def _bounded(result: Number, span: Span) -> Number:
    if isinstance(result, int) and not -(1 << 63) <= result < 1 << 64:
        raise OverflowProblem("the integer does not fit 64 bits", span, "use a float, as in 2.0**100")
    return result


def _kind(x: Number) -> str:
    return type(x).__name__

"""Make the nodes of one call from operands that are graph values or Python constants.

A Python integer must fit the integer dtype that it is combined with, as in NumPy. Comparisons take any integer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Union

import numpy as np

from ..ir.builder import Builder
from ..ir.dims import Dim, Size
from ..ir.dtypes import BOOL, WEAK, WEAK_INT, DType, from_numpy, parse
from ..ir.errors import OverflowProblem, Span, TypeProblem, Unsupported, WeftError, quantity, type_of
from ..ir.graph import Value
from ..ir.ops import CAST, CONSTANT, TABLE, OpDef
from ..ir.records import record
from ..ir.types import Attr

Number = Union[bool, int, float, complex]
Operand = Union[Value, Number, Dim, np.generic]
Make = Callable[
    ..., "Value | tuple[Value, ...]"
]  # takes a maker and the arguments of a function, and returns the function's results


class NumberNeeded(TypeProblem):
    """Raised when the graph can't be built without the number behind a value or a size."""

    def __init__(self, value: Value | Dim, message: str, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message, span, hint)
        self.value = value


ABSENT: object = object()  # the default of an argument for which None has a meaning
COMPARISONS = frozenset(TABLE[name] for name in ("eq", "ne", "lt", "le", "gt", "ge"))
EQ, NE = TABLE["eq"], TABLE["ne"]


@record
class Maker:
    """A builder and the place in the source that its nodes come from."""

    builder: Builder
    span: Span | None

    def lift(self, x: Operand) -> Value:
        """Turn an operand into a value of the graph; Python numbers become weak literals."""
        if isinstance(x, Value):
            return x
        if isinstance(x, Dim):
            return self.builder.size(x, self.span)
        if isinstance(x, np.generic):
            return self.builder.constant(x.item(), from_numpy(x.dtype), self.span)
        if not isinstance(x, (bool, int, float, complex)):
            raise self._no_operand(x)
        if type(x) is int and not _is_long(x):
            raise OverflowProblem(f"the integer {x} does not fit i64", self.span)
        return self.builder.constant(x, span=self.span)

    def op(self, op: OpDef, *operands: Operand, **attrs: Attr) -> Value:
        """Add an op on values and constants, and return its result."""
        numbers = [literal(x) for x in operands]
        if all(n is None for n in numbers):
            return self.builder.op(op, *map(self.lift, operands), span=self.span, **attrs)
        compute = self._compute(op, operands, attrs)
        if op in COMPARISONS and (settled := self._settled(op, operands, numbers, compute)) is not None:
            return settled
        fitted = (x if n is None else self._fitted(x, n, d) for x, n, d in zip(operands, numbers, compute, strict=True))
        return self.builder.op(op, *map(self.lift, fitted), span=self.span, **attrs)

    def cast(self, x: Operand, dtype: DType) -> Value:
        """Cast a value to this dtype, unless it already has it."""
        if type(x) is int and not _is_long(x):
            x = self._fitted(x, x, dtype)
        value = self.lift(x)
        return value if value.type.dtype == dtype else self.builder.op(CAST, value, span=self.span, to=dtype)

    def refuse(self, what: str) -> Unsupported:
        """Make the error for an argument that NumPy has and Weft does not support."""
        return Unsupported(f"{what} is not supported", self.span, "leave it out, or call NumPy outside of the kernel")

    def _compute(self, op: OpDef, operands: tuple[Operand, ...], attrs: Mapping[str, Attr]) -> tuple[DType, ...]:
        dtypes = tuple(self.dtype_of(x) for x in operands)
        if len(dtypes) != op.arity:
            raise TypeProblem(f"{op.name} takes {quantity(op.arity, 'operand')}, not {len(dtypes)}", self.span)
        try:
            return op.dtypes(dtypes, attrs)[0]
        except WeftError as error:
            error.span = error.span or self.span
            raise

    def dtype_of(self, x: Operand) -> DType:
        """Return the dtype of an operand; a Python integer of any size is weak."""
        if isinstance(x, (Value, np.generic)):
            return x.type.dtype if isinstance(x, Value) else from_numpy(x.dtype)
        if isinstance(x, Dim):
            return WEAK_INT
        if not isinstance(x, (bool, int, float, complex)):
            raise self._no_operand(x)
        return BOOL if isinstance(x, bool) else WEAK[type(x).__name__]

    def _no_operand(self, x: object) -> TypeProblem:
        return TypeProblem(f"a number or an array is needed here, not {_shown(x)}", self.span)

    def _fitted(self, x: Operand, number: int, dtype: DType) -> Operand:
        if dtype.is_integer and not fits(number, dtype):
            raise OverflowProblem(
                f"Python integer {number} out of bounds for {dtype.numpy}",
                self.span,
                f"convert the array with .astype(...) or keep the number within {_range(dtype)}",
            )
        if _is_long(number):
            return x
        if dtype.kind == "bool":
            return True
        if dtype.is_integer:
            return np.uint64(number)
        try:
            return float(number)
        except OverflowError as error:
            raise OverflowProblem(f"the integer {number} does not fit {dtype}", self.span) from error

    def _settled(
        self, op: OpDef, operands: tuple[Operand, ...], numbers: list[int | None], compute: tuple[DType, ...]
    ) -> Value | None:
        """Return the constant result of comparing with an integer outside the other operand's range."""
        (left, right), dtype = numbers, compute[0]
        number = left if left is not None else right
        if not dtype.is_integer or number is None or fits(number, dtype) or (left is not None and right is not None):
            return None
        assert op.numpy is not None
        answer = bool(op.numpy(*(0 if n is None else 1 if n > 0 else -1 for n in numbers)))
        array = operands[1 if left is not None else 0]
        return self.op(EQ if answer else NE, array, array) if self.dtype_of(array) != BOOL else None


def literal(x: object) -> int | None:
    """Return the number if an operand is a weak integer literal."""
    if type(x) is int:
        return x
    if isinstance(x, Value) and x.node is not None and x.node.op is CONSTANT and x.type.dtype.weak:
        number = x.node.attrs["value"]
        return number if type(number) is int else None
    return None


def number_of(x: object) -> Number | None:
    """Return the number if an operand is a constant of any dtype."""
    if isinstance(x, np.generic):
        return x.item()  # type: ignore[no-any-return]
    if isinstance(x, (bool, int, float, complex)):
        return x
    if isinstance(x, Value) and x.node is not None and x.node.op is CONSTANT:
        number = x.node.attrs["value"]
        assert isinstance(number, (bool, int, float, complex))
        return number
    return None


def _is_long(number: int) -> bool:
    """Tell whether an integer fits the dtype that graphs use for weak integers."""
    return -(2**63) <= number < 2**63


def fits(number: int, dtype: DType) -> bool:
    """Tell whether an integer fits an integer dtype."""
    limits = np.iinfo(dtype.numpy)
    return bool(limits.min <= number <= limits.max)


def as_dtype(dtype: object, span: Span | None) -> DType:
    """Resolve NumPy's `dtype` argument: a dtype of Weft or NumPy, a Python type, or a string."""
    if isinstance(dtype, DType):
        return dtype
    if dtype is bool:
        return BOOL
    try:
        if isinstance(dtype, str):
            try:
                return parse(dtype)
            except TypeProblem:
                return _native(np.dtype(dtype), span)
        return _native(np.dtype(dtype), span)  # type: ignore[call-overload]
    except TypeProblem as error:
        error.span = error.span or span
        raise
    except TypeError as error:
        raise TypeProblem(
            f"{_shown(dtype)} is not a dtype", span, "use f32, np.float32, 'float32' and the like"
        ) from error


def _native(dtype: np.dtype, span: Span | None) -> DType:
    """Convert a NumPy dtype in native byte order; other byte orders are left to NumPy."""
    found = from_numpy(dtype)
    if not dtype.isnative:
        raise Unsupported(f"the byte order of {dtype.str!r} is not supported", span, "convert the result")
    return found


def static_int(x: object, what: str, span: Span | None) -> int:
    """Return an argument that must be an integer known at compile time."""
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return int(x)
    if (number := literal(x)) is not None:
        return number
    if isinstance(x, (Value, Dim)):
        raise NumberNeeded(
            x,
            f"'{what}' must be known at compile time",
            span,
            f"write a number here; in a traced function name the argument: jit(static=('{what}',))",
        )
    raise TypeProblem(f"'{what}' must be a whole number, not {_shown(x)}", span)


def static_size(x: object, what: str, span: Span | None) -> Size:
    """Return an argument that must be a size: a number or a symbol."""
    return x if isinstance(x, Dim) else static_int(x, what, span)


def _range(dtype: DType) -> str:
    limits = np.iinfo(dtype.numpy)
    return f"{limits.min}..{limits.max}"


def _shown(x: object) -> str:
    return f"'{x}'" if isinstance(x, str) else f"{x!r}" if x is None else type_of(x)

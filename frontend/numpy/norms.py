"""Define NumPy's norms of vectors and matrices.

Integers and bf16 are converted to f64; f16 is computed in f32 and rounded once. Norms that need singular values
(matrices with the orders 2, -2 and 'nuc') are left to NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...ir.dtypes import BF16, F16, F32, F64
from ...ir.errors import TypeProblem, ValueProblem, type_of
from ...ir.graph import Value
from ...ir.ops import IMAG, REAL, TABLE
from ..maker import ABSENT, Maker, Number, NumberNeeded, Operand, number_of
from ..memory import converted
from .arrays import array_of
from .axes import axis_of, flag
from .elementwise import Make, power
from .reductions import ADD, LEAST, MOST, PLUS, reduced
from .shapes import reshaped

ABS, NOT_EQUAL, SQRT, SQUARE = (TABLE[name] for name in ("abs", "ne", "sqrt", "square"))
FROBENIUS = (None, "fro", "f")


def norm(m: Maker, x: Operand, ord: object = None, axis: object = None, keepdims: object = False) -> Value:
    value = array_of(m, x)
    rank, order = value.type.rank, _order(m, ord)
    axes = tuple(range(rank)) if axis is None else _named(m, axis, rank)
    if axis is None and (order is None or (order in ("fro", "f") and rank == 2)):
        return _finished(m, value, _euclidean(m, _wide(m, value), axes, keepdims))
    if len(axes) == 1:
        return _finished(m, value, _of_vectors(m, _wide(m, value), order, axes, keepdims))
    if len(axes) == 2:
        return _finished(m, value, _of_matrices(m, _wide(m, value), order, axes, keepdims))
    raise ValueProblem("Improper number of dimensions to norm.", m.span, "name one axis for vectors, two for matrices")


def vector_norm(m: Maker, x: Operand, /, *, axis: object = None, keepdims: object = False, ord: object = 2) -> Value:
    value = array_of(m, x)
    axes = tuple(range(value.type.rank)) if axis is None else _named(m, axis, value.type.rank)
    return _finished(m, value, _of_vectors(m, _wide(m, value), _order(m, ord), axes, keepdims))


def matrix_norm(m: Maker, x: Operand, /, *, keepdims: object = False, ord: object = "fro") -> Value:
    return norm(m, x, ord, (-2, -1), keepdims)


def _order(m: Maker, ord: object) -> Number | str | None:
    if ord is None or isinstance(ord, str):
        return ord
    number = number_of(ord)
    if number is None:
        hint = "write a number or a string here"
        if isinstance(ord, Value):
            raise NumberNeeded(ord, "'ord' must be known at compile time", m.span, hint)
        raise TypeProblem(f"'ord' must be a number or a string, not {type_of(ord)}", m.span, hint)
    return number


def _named(m: Maker, axis: object, rank: int) -> tuple[int, ...]:
    """Return the axes in the order given: the rows of a matrix come first."""
    axes = tuple(axis_of(m, one, rank) for one in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueProblem("Duplicate axes given.", m.span, "name each axis once")
    return axes


def _wide(m: Maker, x: Value) -> Value:
    if x.type.dtype.kind not in ("float", "complex") or x.type.dtype == BF16:
        return converted(m, x, F64)
    return m.cast(x, F32) if x.type.dtype == F16 else x


def _finished(m: Maker, x: Value, found: Value) -> Value:
    return m.cast(found, F16) if x.type.dtype == F16 else found


def _euclidean(m: Maker, x: Value, axes: Sequence[int], keepdims: object) -> Value:
    if x.type.dtype.kind == "complex":
        squares = m.op(ADD, *(m.op(SQUARE, m.op(part, x)) for part in (REAL, IMAG)))
    else:
        squares = m.op(SQUARE, x)
    return m.op(SQRT, reduced(m, PLUS, squares, tuple(sorted(axes)), None, keepdims))


def _of_vectors(m: Maker, x: Value, order: Number | str | None, axes: Sequence[int], keepdims: object) -> Value:
    """Compute the vector norm of all elements over the axes."""
    if isinstance(order, (str, complex)):
        raise ValueProblem(f"Invalid norm order '{order}' for vectors", m.span, "use a number, inf or -inf")
    if order is None or order == 2:
        return _euclidean(m, x, axes, keepdims)
    over = tuple(sorted(axes))
    if order == 0:
        real = m.op(REAL, x) if x.type.dtype.kind == "complex" else x
        return reduced(m, PLUS, m.cast(m.op(NOT_EQUAL, x, 0), real.type.dtype.strong), over, None, keepdims)
    size = m.op(ABS, x)
    if order == math.inf:
        return reduced(m, MOST, size, over, None, keepdims, 0)
    if order == -math.inf:
        return reduced(m, LEAST, size, over, None, keepdims)
    if order == 1:
        return reduced(m, PLUS, size, over, None, keepdims)
    total = reduced(m, PLUS, power(m, size, order), over, None, keepdims)
    return power(m, total, 1 / order)


def _of_matrices(m: Maker, x: Value, order: Number | str | None, axes: Sequence[int], keepdims: object) -> Value:
    """Compute the norm of the matrices along two axes."""
    if order in FROBENIUS:
        return _euclidean(m, x, axes, keepdims)
    if order in (2, -2, "nuc"):
        raise m.refuse(f"the matrix norm of order {order!r}, which needs singular values,")
    if isinstance(order, str) or order not in (1, -1, math.inf, -math.inf):
        hint = "use 'fro', 1, -1, inf or -inf"
        raise ValueProblem("Invalid norm order for matrices.", m.span, hint)
    inner, outer = axes if abs(order) == 1 else axes[::-1]
    sums = reduced(m, PLUS, m.op(ABS, x), inner)
    algebra, initial = (MOST, 0) if order in (1, math.inf) else (LEAST, ABSENT)
    found = reduced(m, algebra, sums, outer - (outer > inner), initial=initial)
    if not flag(m, keepdims, "keepdims"):
        return found
    return reshaped(m, found, [1 if k in axes else size for k, size in enumerate(x.type.shape)])


NORMS: Mapping[str, Make] = {"norm": norm, "vector_norm": vector_norm, "matrix_norm": matrix_norm}

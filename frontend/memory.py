"""Record the memory order that NumPy's `order` argument asks for.

Values have no memory, so nothing is computed here. The recorded order decides how results are stored (see
`ir/orders.py`). An operation that reads elements in memory order can't be expressed on values.
"""

from __future__ import annotations

from ..ir.dtypes import DType
from ..ir.errors import TypeProblem, Unsupported, ValueProblem, type_of
from ..ir.graph import Value
from ..ir.ops import RESHAPE, TRANSPOSE, WHERE
from ..ir.rules import promote
from ..ir.types import Sizes
from .maker import Maker, Operand


def order_of(m: Maker, order: object) -> str:
    """Resolve NumPy's `order` argument to C, F, A or K."""
    if order is None:
        return "K"
    if isinstance(order, str) and order.upper() in ("C", "F", "A", "K"):
        return order.upper()
    shown = f"'{order}'" if isinstance(order, str) else type_of(order)
    raise ValueProblem(f"order must be one of 'C', 'F', 'A', or 'K', not {shown}", m.span)


def laid_out(m: Maker, x: Value, order: object) -> Value:
    """Return the value, marked to be stored in this order if it becomes a result."""
    wanted, rank = order_of(m, order), x.type.rank
    if wanted == "K" or rank < 2:
        return x
    if wanted == "F":
        return turned(m, laid_out(m, turned(m, x), "C"))
    note: dict[str, int | str] = {"order": "C"} if wanted == "C" else {"follows": 0}
    return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(x.type.shape), **note)


def with_core(m: Maker, x: Value, count: int) -> Value:
    """Return the value, marked to be stored as gufuncs do: the last axes innermost in C order, the others unchanged."""
    if x.type.rank < 2 or count == 0:
        return x
    return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(x.type.shape), core=count)


def lying_as(m: Maker, x: Value, prototype: Value) -> Value:
    """Return the value, marked to be stored as the result of a ufunc on the prototype would be."""
    if x.type.rank < 2:
        return x
    fits = promote((x.type.dtype, prototype.type.dtype)) == x.type.dtype
    other = prototype if fits else m.cast(prototype, x.type.dtype)
    return m.op(WHERE, m.builder.constant(True, span=m.span), x, other, like=2)


def together(m: Maker, first: Value, *others: Value) -> Value:
    """Return a prototype that is stored as the result of a ufunc on these values would be."""
    for other in others:
        first = m.op(WHERE, m.builder.constant(True, span=m.span), first, other)
    return first


def copied(m: Maker, x: Value) -> Value:
    """Return the value, marked to be stored as NumPy's copy of it would be."""
    return m.builder.op(RESHAPE, x, span=m.span, shape=Sizes(x.type.shape), order="K") if x.type.rank > 1 else x


def converted(m: Maker, x: Operand, dtype: DType) -> Value:
    """Convert a value as `astype` does, memory order included; `m.cast` only converts the elements."""
    value = m.lift(x)
    return value if value.type.dtype == dtype else m.cast(copied(m, value), dtype)


def reading_order(m: Maker, x: Value, order: object) -> str:
    """Return C or F for a reading order; an order that depends on the array's memory is left to NumPy."""
    wanted = order_of(m, order)
    if wanted in ("C", "F"):
        return wanted
    if x.type.rank < 2:
        return "C"
    if x.node is None:
        raise Unsupported(f"order='{wanted}' is not supported", m.span, "use order='C' or order='F'")
    raise TypeProblem(
        f"order='{wanted}' keeps the memory order of an array, but a computed value has none",
        m.span,
        "use order='C' or order='F'",
    )


def turned(m: Maker, x: Value) -> Value:
    """Reverse the axes."""
    return m.builder.op(TRANSPOSE, x, span=m.span, order=tuple(range(x.type.rank))[::-1])

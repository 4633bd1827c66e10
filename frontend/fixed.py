"""Read arguments that decide the shape of a result, which must be known at compile time.

An argument that is only known at run time is unsupported; in a traced function, NumPy then runs the call.
"""

from __future__ import annotations

from ..ir.dims import Dim, Size
from ..ir.errors import OverflowProblem, Unsupported, ValueProblem
from ..ir.graph import Value
from .maker import Maker, literal, static_size


def fixed_size(m: Maker, x: object, what: str) -> Size:
    """Return a number or a size."""
    if isinstance(x, Value) and literal(x) is None:
        raise Unsupported(
            f"'{what}' must be known at compile time: the shape of the result depends on it",
            m.span,
            "write a number, a dimension or a formula of them",
        )
    return static_size(x, what, m.span)


def fixed_int(m: Maker, x: object, what: str) -> int:
    """Return a number. A size becomes its value in the current call, and the graph is specialised on it."""
    size = fixed_size(m, x, what)
    return known(m, size, what) if isinstance(size, Dim) else size


def known(m: Maker, size: Size, what: str) -> int:
    """Return the number behind a size that the graph can't be built without."""
    number = m.builder.facts.specialize(size)
    if number is None:
        raise m.refuse(f"'{what}' = '{size}', which is only known at run time,")
    return number


def countable(m: Maker, size: Size, what: str) -> Size:
    """Return a size if it fits a signed 64-bit integer, as NumPy demands."""
    if isinstance(size, Dim) or -(1 << 63) <= size < 1 << 63:
        return size
    if what == "shape":
        raise ValueProblem("Maximum allowed dimension exceeded", m.span, f"it is {size}")
    raise OverflowProblem(f"'{what}' is too large to convert to a C long", m.span, f"it is {size}")


def count_of(m: Maker, x: object, what: str) -> Size:
    """Return a count: a size that is not negative."""
    count = countable(m, fixed_size(m, x, what), what)
    number = m.builder.facts.number(count)
    if number is not None and number < 0:
        what = "negative dimensions are not allowed" if what == "shape" else f"'{what}' may not contain negative values"
        raise ValueProblem(what, m.span, f"it is {number}")
    return count

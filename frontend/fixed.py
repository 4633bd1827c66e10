"""Read numbers that the shape of a result depends on; they must be known when compiling.

What only a call knows is refused as unsupported, which leaves the function to NumPy in a traced function.
"""

from __future__ import annotations

from ..ir.dims import Dim, Size
from ..ir.errors import OverflowProblem, Unsupported, ValueProblem
from ..ir.graph import Value
from .maker import Maker, literal, static_size


def fixed_size(m: Maker, x: object, what: str) -> Size:
    """A number or a size."""
    if isinstance(x, Value) and literal(x) is None:
        raise Unsupported(
            f"'{what}' must be known at compile time: the shape of the result depends on it",
            m.span,
            "write a number, a dimension or a formula of them",
        )
    return static_size(x, what, m.span)


def fixed_int(m: Maker, x: object, what: str) -> int:
    """A number; the graph is made for the one that a size has in the call at hand."""
    size = fixed_size(m, x, what)
    return known(m, size, what) if isinstance(size, Dim) else size


def known(m: Maker, size: Size, what: str) -> int:
    """The number that a size is, where not even the graph can be made without it."""
    number = m.builder.facts.specialize(size)
    if number is None:
        raise m.refuse(f"'{what}' for '{size}', a number known only at a call,")
    return number


def countable(m: Maker, size: Size, what: str) -> Size:
    """A size that a signed word can hold, as NumPy asks of every size and count."""
    if isinstance(size, Dim) or -(1 << 63) <= size < 1 << 63:
        return size
    if what == "shape":
        raise ValueProblem("Maximum allowed dimension exceeded", m.span, f"it is {size}")
    raise OverflowProblem(f"'{what}' is too large to convert to a C long", m.span, f"it is {size}")


def count_of(m: Maker, x: object, what: str) -> Size:
    """How often, or how much: a size that is not negative."""
    count = countable(m, fixed_size(m, x, what), what)
    number = m.builder.facts.number(count)
    if number is not None and number < 0:
        what = "negative dimensions are not allowed" if what == "shape" else f"'{what}' may not contain negative values"
        raise ValueProblem(what, m.span, f"it is {number}")
    return count

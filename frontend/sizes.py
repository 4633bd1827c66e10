"""Decide questions about symbolic sizes, and record as a guard what the answer relies on.

An answer is proved from the form of the size, or taken from the current call and guarded. A guard is an equality, so
"at least" is written as `max(bound, size) == size`.
"""

from __future__ import annotations

from ..ir import dims
from ..ir.dims import Size, never_negative
from ..ir.facts import Facts


def guard_at_least(facts: Facts, size: Size, bound: Size) -> bool:
    """Tell whether `size >= bound`; without a call to look at, assume it and check later calls."""
    size, bound = facts.canonical(size), facts.canonical(bound)
    if never_negative(facts.canonical(size - bound)):
        return True
    number = facts.number(size - bound)
    if number is not None and number < 0:
        return False
    facts.assume_equal(dims.maximum(bound, size), size)
    return True


def guard_reaches(facts: Facts, size: Size, bound: Size) -> bool:
    """Tell whether `size >= bound`, and guard the answer, so that the graph serves calls on the same side."""
    if guard_at_least(facts, size, bound):
        return True
    facts.assume_equal(dims.minimum(bound - 1, size), size)
    return False


def guard_negative(facts: Facts, size: Size) -> bool:
    """Tell whether a size is below 0, like a slice bound that counts from the end."""
    return not guard_reaches(facts, size, 0)


def guard_equal(facts: Facts, a: Size, b: Size) -> bool:
    """Tell whether two sizes are equal, and guard it if so; a negative answer is not guarded."""
    if facts.same(a, b):
        return True
    left, right = facts.number(a), facts.number(b)
    if facts.strict or (isinstance(a, int) and isinstance(b, int)) or (None not in (left, right) and left != right):
        return False
    facts.assume_equal(a, b)
    return True


def guard_divides(facts: Facts, number: int, size: Size) -> bool:
    """Tell whether a number divides a size, and guard it if so; a negative answer is not guarded."""
    rest = facts.canonical(size - dims.floordiv(size, number) * number)
    if facts.number(rest) not in (0, None):
        return False
    facts.assume_equal(rest, 0)
    return True


def guard_one(facts: Facts, size: Size) -> bool:
    """Tell whether a size is 1. A lone symbol is not: types show a dimension of 1 as the number."""
    size = facts.canonical(size)
    if isinstance(size, int):
        return size == 1
    if dims.is_symbol(size):
        return False
    number = facts.number(size)
    if number is not None and number <= 1:
        facts.assume_equal(size, number)
        return number == 1
    facts.assume_equal(dims.maximum(2, size), size)
    return False

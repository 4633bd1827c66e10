"""Check loop-carried dependences: in which iterations two accesses touch the same element, and whether it is allowed.

Two accesses never meet, meet at a constant distance in steps of the loop, or nothing is known. The distance of a
load and a store is how many steps after the load the element is stored; a negative one means that it was stored before.

| loop | allowed |
| --- | --- |
| serial, unrolled | anything |
| vector, with no loop inside | load before the store: distance >= 0; after it: <= 0; two stores: 0 |
| vector around a loop, flat, jammed, shared | distance 0, or memory that is allocated inside |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from .. import dims
from ..dims import LOOP, Atom, Size
from ..graph import Graph, Node
from ..limits import limiter
from ..proofs import follows
from .ops import PRODUCT
from .scopes import LoopVariable, MemoryAccess, bound_before, has_loop_inside, inside, is_private, variables

NEXT = "'"  # suffix of a variable's name in the second of two steps


class Meeting(Enum):
    """How two accesses relate if their distance is not constant."""

    NEVER = auto()
    UNKNOWN = auto()


def meeting(
    nest: Graph, loop: Node, variable: str, load: MemoryAccess, store: MemoryAccess, facts: Sequence[Size]
) -> int | Meeting:
    """The dependence distance: how many steps of the loop over `variable` the second access comes after the first.

    A distance of 0 is returned as soon as it is found, even if the accesses may never meet: every loop allows it.
    """
    if load.collapsed != store.collapsed:
        return Meeting.UNKNOWN
    changing = _changing(loop, variable)
    renamed = {LOOP + name: dims.symbol(LOOP + name + NEXT) for name in changing}
    other = [dims.substitute(part, renamed) for part in store.at]
    distance: int | Meeting = Meeting.UNKNOWN
    for here, there in zip(load.at, other, strict=True):
        found = _distance(here, there, variable, changing)
        if found is Meeting.NEVER or (isinstance(distance, int) and isinstance(found, int) and found != distance):
            return Meeting.NEVER
        distance = found if isinstance(found, int) else distance
    if distance == 0:
        return 0
    known = [*_ranges(nest, load), *(dims.substitute(fact, renamed) for fact in _ranges(nest, store)), *facts]
    if _are_apart(load.at, other, known):
        return Meeting.NEVER
    if distance is Meeting.UNKNOWN:  # apart in any two steps: as where each step has its own block of rows
        gap = dims.symbol(LOOP + variable + NEXT) - dims.symbol(LOOP + variable) - 1
        if _are_apart(load.at, other, [*known, gap]) and _are_apart(load.at, other, [*known, -gap - 2]):
            return 0
    return distance


def _are_apart(at: Sequence[Size], other: Sequence[Size], known: Sequence[Size]) -> bool:
    """Whether some coordinate of two indices differs."""
    gaps = [here - there for here, there in zip(at, other, strict=True)]
    return any(follows(gap - 1, known) or follows(-gap - 1, known) for gap in gaps)


def _changing(loop: Node, variable: str) -> frozenset[str]:
    """The variables that may differ between two steps: the loop's own, later ones of the same op, and inner ones."""
    names = [v.name for v in variables(loop)]
    own = names[names.index(variable) :]
    return frozenset((*own, *(v.name for n in inside(loop) for v in variables(n))))


def _ranges(nest: Graph, access: MemoryAccess) -> Iterator[Size]:
    found: list[LoopVariable] = [v for n in access.place.around for v in variables(n)]
    for variable in (*found, *bound_before(access.place, nest)):
        yield from variable.facts


def _distance(here: Size, there: Size, variable: str, changing: frozenset[str]) -> int | Meeting:
    """Find the distance from one coordinate: `k*v + e` equals `k*v' + e'` where `v' - v` is `(e - e') / k`."""
    first, second = dims.symbol(LOOP + variable), dims.symbol(LOOP + variable + NEXT)
    factor = _factor(here, LOOP + variable)
    if factor == 0 or factor != _factor(there, LOOP + variable + NEXT):
        return Meeting.UNKNOWN
    rest = here - there - factor * first + factor * second  # in this order, so that equal `max` of both sides cancel
    if not isinstance(rest, int):
        return Meeting.UNKNOWN
    return rest // factor if rest % factor == 0 else Meeting.NEVER


def _factor(size: Size, name: str) -> int:
    """The coefficient of a symbol that occurs linearly in a size, or 0 if it does not."""
    factor = dict(dims.terms_of(size)).get((Atom(name),), 0)
    return factor if name not in dims.symbols(size - factor * dims.symbol(name)) else 0


def dependence_problem(nest: Graph, loop: Node, found: Sequence[MemoryAccess], facts: Sequence[Size]) -> str | None:
    """Explain why a loop can't be of its kind, or return None. `found` are the accesses inside it, in order."""
    kind, is_shared = loop.attrs.get("kind"), bool(loop.attrs.get("shared"))
    names = [v.name for v in variables(loop)]
    if loop.op is PRODUCT:
        names.pop()  # a reduced axis is not a loop around the results
    is_product = loop.op is PRODUCT  # whose sums are made in any order
    is_woven = kind == "jammed" or bool(loop.attrs.get("flat")) or (kind == "vector" and has_loop_inside(loop))
    is_strict = is_shared or is_product or is_woven
    if not names or not (is_strict or kind == "vector"):
        return None
    for variable in names if is_shared or is_product else names[-1:]:
        for a, b in _pairs(found):
            if is_private(a.buffer, loop):
                continue
            limiter.check_time(loop.span)
            first, second = (b, a) if a.is_store and not b.is_store else (a, b)  # a load comes first
            distance = meeting(nest, loop, variable, first, second, facts)
            if not _is_allowed(distance, first, second, is_strict):
                what = "shared between threads" if is_shared else "one of a product" if is_product else f"a {kind} loop"
                return f"the loop over @{variable} can't be {what}: {first} and {second} {_told(distance)}"
    return None


def _pairs(found: Sequence[MemoryAccess]) -> Iterator[tuple[MemoryAccess, MemoryAccess]]:
    """Pairs of accesses to one buffer of which at least one is a store; a store is also paired with itself."""
    for k, a in enumerate(found):
        for b in found[k:]:
            if a.buffer is b.buffer and (a.is_store or b.is_store):
                yield a, b


def _is_allowed(distance: int | Meeting, first: MemoryAccess, second: MemoryAccess, is_strict: bool) -> bool:
    if isinstance(distance, Meeting):
        return distance is Meeting.NEVER
    if is_strict or first.is_store:
        return distance == 0
    return distance >= 0 if first.place.order < second.place.order else distance <= 0


def _told(distance: int | Meeting) -> str:
    if isinstance(distance, Meeting):
        return "may access the same element in any two iterations"
    return (
        f"access the same element {abs(distance)} iteration{'s' if abs(distance) != 1 else ''} apart"
        if distance
        else "access the same element in one iteration"
    )

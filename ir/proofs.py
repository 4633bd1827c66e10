"""Prove that a size is not negative from others that are known not to be.

The symbols of sizes are at least 0 in every call. The proof writes the size as a sum of known sizes and symbols, each
times a factor that is not negative; a linear program finds the factors. The definition of each `min`, `max` or quotient
adds known sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd

from . import dims
from .dims import Atom, Dim, Monomial, Size, never_negative

MOST_CASES = 64  # cases that the `min` and `max` of a size may multiply to
MOST_KNOWN = 24
MOST_PIVOTS = 200

Terms = dict[Monomial, int]


def follows(size: Size, known: Sequence[Size] = (), cases: int = MOST_CASES) -> bool:
    """Tell whether `size >= 0` if all known sizes are at least 0; in an empty range everything follows."""
    if never_negative(size) or any(isinstance(fact, int) and fact < 0 for fact in known):
        return True
    if any(never_negative(size - fact) for fact in known):
        return True
    known = _simple(known)
    choice = next(_choices(size, *known), None)
    if choice is not None:
        plain = [fact for fact in known if next(_choices(fact), None) is None]
        if cases == MOST_CASES and next(_choices(size), None) is None and follows(size, plain):
            return True  # without the cases of facts that it may not need
        left = cases // len(choice.args)
        return left > 0 and all(_in_case(size, known, choice, k, left) for k in range(len(choice.args)))
    facts = [*known, *_quotients((size, *known))]
    if isinstance(size, Dim) and any(len(monomial) > 1 for monomial, _ in size.terms):
        facts += [fact * dims.symbol(name) for fact in known for name in sorted(size.symbols)]
    tight = [_tight(fact) for fact in _nearest(size, facts)[:MOST_KNOWN]]
    if _is_combined(_tight(size), tight):
        return True
    return cases < MOST_CASES and _is_combined({(): -1}, tight)  # a case that can't be, as of an empty range


def _choices(*sizes: Size) -> Iterator[Atom]:
    """List each `min` and `max` in some sizes."""
    return (a for s in sizes for a in _atoms(s) if a.name in ("min", "max"))


def _nearest(size: Size, facts: list[Size]) -> list[Size]:
    """Order the facts by the symbols that connect them with a size, if there are many."""
    if len(facts) <= MOST_KNOWN:
        return facts
    found: list[Size] = []
    reached, left = set(dims.symbols(size)), facts
    while left:
        near = [fact for fact in left if not reached.isdisjoint(dims.symbols(fact))]
        if not near:
            break
        found += near
        left = [fact for fact in left if reached.isdisjoint(dims.symbols(fact))]
        reached.update(*map(dims.symbols, near))
    return found


def _simple(known: Sequence[Size]) -> list[Size]:
    """Drop the facts that always hold. `x + min(a, b)` is at least 0 where `x + a` and `x + b` are."""
    found: dict[Size, None] = {}
    for fact in known:
        for monomial, factor in fact.terms if isinstance(fact, Dim) else ():
            if len(monomial) == 1 and monomial[0].name == ("min" if factor > 0 else "max") and monomial[0].args:
                rest = fact - factor * dims.of_atom(monomial[0])
                found.update(dict.fromkeys(_simple([rest + factor * arg for arg in monomial[0].args])))
                break
        else:
            if not never_negative(fact):
                found[fact] = None
    return list(found)


def _in_case(size: Size, known: Sequence[Size], choice: Atom, k: int, cases: int) -> bool:
    """Whether the goal follows if a `min` or `max` equals its k-th argument."""
    chosen, sign = choice.args[k], 1 if choice.name == "max" else -1
    others = [(chosen - other) * sign for other in choice.args if other != chosen]
    env = {choice: chosen}
    return follows(dims.replace_atoms(size, env), [*others, *(dims.replace_atoms(s, env) for s in known)], cases)


def _atoms(size: Size) -> Iterator[Atom]:
    """The atoms of a size other than symbols, arguments first."""
    for monomial, _ in size.terms if isinstance(size, Dim) else ():
        for atom in monomial:
            for arg in atom.args:
                yield from _atoms(arg)
            if atom.args:
                yield atom


def _quotients(sizes: Sequence[Size]) -> Iterator[Size]:
    """The facts about `q = a // b`: `b*q <= a < b*q + b`."""
    for atom in dict.fromkeys(a for size in sizes for a in _atoms(size)):
        whole, by = atom.args
        rest = whole - by * dims.of_atom(atom)
        yield from (rest, by - 1 - rest)


def _tight(size: Size) -> Terms:
    """Divide terms by their common factor and round the constant down, which keeps a bound of at least 0."""
    terms: Terms = dict(size.terms) if isinstance(size, Dim) else {(): size}
    common = gcd(*(c for monomial, c in terms.items() if monomial))
    return {monomial: c // common for monomial, c in terms.items()} if common > 1 else terms


def _is_combined(goal: Terms, facts: Sequence[Terms]) -> bool:
    """Whether some sum of the facts, times factors of at least 0, never exceeds the goal."""
    rows: list[list[int]] = []
    for monomial in dict.fromkeys(m for terms in (goal, *facts) for m in terms):
        row = [terms.get(monomial, 0) for terms in (*facts, goal)]
        rows.append(row)
        if any(atom.args and not never_negative(dims.of_atom(atom)) for atom in monomial):
            rows.append([-x for x in row])  # an unknown that may be negative must cancel exactly
    return _has_solution(rows)


def _has_solution(rows: Sequence[Sequence[int]]) -> bool:
    """Whether numbers of at least 0 satisfy every row: the entries times the numbers add up to at most the last entry.

    This is the first phase of the simplex method, in exact numbers, with Bland's rule so that it ends. The entries are
    whole numbers over one common denominator, the last pivot.
    """
    if all(row[-1] >= 0 for row in rows):
        return True
    count = len(rows)
    # Columns: the numbers, a slack for each row, the amount by which all rows are missed (to be made 0), the right
    # side.
    table = [[*row[:-1], *(int(k == i) for i in range(count)), -1, row[-1]] for k, row in enumerate(rows)]
    width = len(table[0])
    cost = [0] * width
    cost[-2] = 1
    basis = [width - 2 - count + k for k in range(count)]
    leaving, entering, common = min(range(count), key=lambda k: table[k][-1]), width - 2, 1
    for _ in range(MOST_PIVOTS):
        common = _pivot(table, cost, leaving, entering, common)
        basis[leaving] = entering
        if cost[-1] == 0 or (found := next((j for j in range(width - 1) if cost[j] < 0), None)) is None:
            return cost[-1] == 0
        entering = found
        rising = [k for k in range(count) if table[k][entering] > 0]
        leaving = min(rising, key=lambda k: (Fraction(table[k][-1], table[k][entering]), basis[k]))
    return False


def _pivot(table: list[list[int]], cost: list[int], leaving: int, entering: int, common: int) -> int:
    """Pivots: the column replaces the row's basis column. Returns the new common denominator."""
    if table[leaving][entering] < 0:
        table[leaving] = [-x for x in table[leaving]]
    chosen = table[leaving]
    scale = chosen[entering]
    for row in (*table[:leaving], *table[leaving + 1 :], cost):
        factor = row[entering]
        if factor:
            row[:] = [(x * scale - factor * y) // common for x, y in zip(row, chosen, strict=True)]
        elif scale != common:
            row[:] = [x * scale // common for x in row]
    return scale

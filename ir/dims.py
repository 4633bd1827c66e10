"""Represent sizes as numbers or symbolic expressions in a normal form, so that equal sizes compare equal.

A `Dim` is a polynomial with integer coefficients over atoms. An atom is a symbol, or `min`, `max` or `floordiv` of
other sizes. A polynomial without symbols is a plain `int`, so a size is an `int | Dim`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Union

from .lazy import cached_property
from .tuples import NamedTuple


class Atom(NamedTuple):
    """A symbol (no arguments) or a function of sizes that is not polynomial."""

    name: str
    args: tuple[Size, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})" if self.args else self.name


Monomial = tuple[Atom, ...]


class Dim:
    """A polynomial: sorted monomials with their coefficients, none of them zero."""

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms: Final = terms

    def __repr__(self) -> str:
        return f"Dim({self.terms!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __add__(self, other: Size) -> Size:
        if isinstance(other, int) and self._is_plain:
            return self._plus(other)
        return _combine(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        if isinstance(other, int) and self._is_plain:
            return self._plus(-other)
        return _combine(self, other, -1)

    def __rsub__(self, other: Size) -> Size:
        return _combine(other, self, -1)

    def __neg__(self) -> Size:
        return self * -1

    def __mul__(self, other: Size) -> Size:
        if isinstance(other, int) and other > 0:
            return self if other == 1 else Dim(tuple((m, c * other) for m, c in self.terms))
        product: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in terms_of(other):
                key = tuple(sorted(left + right, key=str))
                product[key] = product.get(key, 0) + a * b
        return from_terms(product)

    __rmul__ = __mul__

    def __lt__(self, other: Size) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Size) -> bool:
        return str(self) > str(other)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _is_plain(self) -> bool:
        """Whether all atoms are symbols."""
        for monomial, _ in self.terms:
            for atom in monomial:
                if atom.args:
                    return False
        return True

    def _plus(self, number: int) -> Dim:
        """Adds a number, as the last term, to a plain polynomial."""
        *_, (last, constant) = self.terms
        others, total = (self.terms, number) if last else (self.terms[:-1], constant + number)
        return Dim((*others, ((), total)) if total else others)

    @cached_property
    def _text(self) -> str:
        out = ""
        for monomial, coefficient in self.terms:
            sign = ("-" if coefficient < 0 else "") if not out else (" - " if coefficient < 0 else " + ")
            factors = [str(a) for a in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            out += sign + "*".join(factors)
        return out

    @cached_property
    def symbols(self) -> frozenset[str]:
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                found |= {atom.name} if not atom.args else set().union(*(symbols(a) for a in atom.args))
        return frozenset(found)


Size = Union[int, Dim]
LOOP = "@"  # the names of loop variables begin with this, those of sizes never do
DATA = "?"  # the names of sizes that a NumPy call decides at run time begin with this


def symbol(name: str) -> Dim:
    """The size called `name`."""
    return Dim((((Atom(name),), 1),))


def symbols(size: Size) -> frozenset[str]:
    """The names that a size depends on."""
    return frozenset() if isinstance(size, int) else size.symbols


def is_symbol(size: Size) -> bool:
    """Whether a size is a single symbol."""
    return isinstance(size, Dim) and len(size.terms) == 1 and size.terms[0][1] == 1 and size.symbols == {str(size)}


def data_name(call: int, label: str) -> str:
    """Return the name of a size that is known only after the NumPy call with this number: `?3_unique`."""
    return f"{DATA}{call}_{label}"


def age(name: str) -> int:
    """Tell when a symbol becomes known: -1 with the arguments, otherwise after the NumPy call with this number."""
    return int(name[1:].partition("_")[0]) if name.startswith(DATA) else -1


def known_after(size: Size) -> int:
    """When the last symbol of a size becomes known, as an `age`."""
    return max(map(age, symbols(size)), default=-1)


def minimum(a: Size, b: Size) -> Size:
    """The smaller size."""
    return _choose("min", a, b)


def maximum(a: Size, b: Size) -> Size:
    """The larger size."""
    return _choose("max", a, b)


def floordiv(a: Size, b: Size) -> Size:
    """`a // b` for a positive size `b`; exact divisions stay polynomials."""
    if b == 1:
        return a
    if isinstance(b, Dim):
        exact = divide(a, b)
        return _build({(Atom("floordiv", (a, b)),): 1}) if exact is None else exact
    if isinstance(a, int):
        return a // b
    if all(c % b == 0 for _, c in a.terms):
        return from_terms({m: c // b for m, c in a.terms})
    return _build({(Atom("floordiv", (a, b)),): 1})


def divide(a: Size, b: Size) -> Size | None:
    """`a / b` if that is exact for every value of the symbols, otherwise None."""
    if a == b:
        return 1
    if isinstance(b, int):
        if b == 0 or any(c % b for _, c in terms_of(a)):
            return None
        return from_terms({m: c // b for m, c in terms_of(a)})
    if len(b.terms) != 1:
        return None
    (divisor, scale), quotient = b.terms[0], {}
    for monomial, coefficient in terms_of(a):
        rest = list(monomial)
        for atom in divisor:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % scale:
            return None
        quotient[tuple(rest)] = coefficient // scale
    return from_terms(quotient)


def product(sizes: Iterable[Size]) -> Size:
    """All sizes multiplied."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def evaluate(size: Size, env: Mapping[str, int]) -> int:
    """Computes a size from the numbers of its symbols."""
    if isinstance(size, int):
        return size
    total = 0
    for monomial, coefficient in size.terms:
        for atom in monomial:
            coefficient *= _evaluate_atom(atom, env)
        total += coefficient
    return total


def substitute(size: Size, env: Mapping[str, Size]) -> Size:
    """The size with symbols replaced."""
    if isinstance(size, int) or size.symbols.isdisjoint(env):
        return size
    total: dict[Monomial, int] = {}
    for monomial, coefficient in size.terms:
        replaced = [a for a in monomial if a.args or a.name in env]
        others = tuple([a for a in monomial if not (a.args or a.name in env)])
        term: Size = Dim(((others, coefficient),)) if others else coefficient
        for atom in replaced:
            term = _substitute_atom(atom, env) * term
        for key, factor in terms_of(term):
            total[key] = total.get(key, 0) + factor
    return from_terms(total)


def replace_atoms(size: Size, env: Mapping[Atom, Size]) -> Size:
    """Replace atoms in a size, also those inside other atoms. A size without them keeps its form."""
    if isinstance(size, int) or not env or not _has_atoms(size, env):
        return size
    total: Size = 0
    for monomial, coefficient in size.terms:
        term: Size = coefficient
        for atom in monomial:
            whole = applied(atom.name, [replace_atoms(a, env) for a in atom.args]) if atom.args else of_atom(atom)
            term = term * env.get(atom, whole)
        total = total + term
    return total


def _has_atoms(size: Size, env: Mapping[Atom, Size]) -> bool:
    return any(
        atom in env or any(_has_atoms(arg, env) for arg in atom.args)
        for monomial, _ in terms_of(size)
        for atom in monomial
    )


def _evaluate_atom(atom: Atom, env: Mapping[str, int]) -> int:
    if not atom.args:
        return env[atom.name]
    values = [evaluate(a, env) for a in atom.args]
    if atom.name == "floordiv":
        return values[0] // values[1]
    return min(values) if atom.name == "min" else max(values)


def _substitute_atom(atom: Atom, env: Mapping[str, Size]) -> Size:
    if not atom.args:
        return env[atom.name]
    return applied(atom.name, [substitute(a, env) for a in atom.args])


def of_atom(atom: Atom) -> Size:
    """A size that consists of one atom."""
    return Dim((((atom,), 1),))


def applied(name: str, args: list[Size]) -> Size:
    """Applies the function with an atom's name to other sizes."""
    if name == "floordiv":
        return floordiv(args[0], args[1])
    total = args[0]
    for arg in args[1:]:
        total = _choose(name, total, arg)
    return total


def terms_of(size: Size) -> tuple[tuple[Monomial, int], ...]:
    """Monomials and their coefficients."""
    if isinstance(size, int):
        return (((), size),) if size else ()
    return size.terms


def _build(terms: Mapping[Monomial, int]) -> Size:
    kept = {m: c for m, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1:
        return kept[()] if () in kept else Dim(tuple(kept.items()))
    order = sorted(kept.items(), key=lambda item: (not item[0], [str(a) for a in item[0]]))
    return Dim(tuple(order))


def _combine(a: Size, b: Size, sign: int) -> Size:
    """`a + sign*b`."""
    total = dict(terms_of(a))
    for monomial, coefficient in terms_of(b):
        total[monomial] = total.get(monomial, 0) + sign * coefficient
    return from_terms(total)


def from_terms(terms: Mapping[Monomial, int]) -> Size:
    """Make a sum. A single `min` or `max` absorbs the other terms, so that slices compare equal."""
    result = _build(terms)
    if isinstance(result, int) or result._is_plain or (len(result.terms) == 1 and result.terms[0][1] > 0):
        return result
    choices = [(m[0], c) for m, c in result.terms if len(m) == 1 and m[0].name in ("min", "max") and m[0].args]
    others = [m for m, _ in result.terms if any(a.args and a.name in ("min", "max") for a in m)]
    if len(choices) != 1 or len(others) != 1 or abs(choices[0][1]) != 1:
        return result
    if any(name.startswith(LOOP) for name in result.symbols):
        return result  # the change from one step of a loop to the next must stay visible
    atom, coefficient = choices[0]
    rest = _build({m: c for m, c in result.terms if m != (atom,)})
    name = atom.name if coefficient == 1 else {"min": "max", "max": "min"}[atom.name]
    first, *more = ((rest + arg if coefficient == 1 else rest - arg) for arg in atom.args)
    for arg in more:
        first = _choose(name, first, arg)
    return first


def _choose(name: str, a: Size, b: Size) -> Size:
    args: dict[Size, None] = {}
    for size in (a, b):
        lone = size.terms[0] if isinstance(size, Dim) and len(size.terms) == 1 else None
        if lone and lone[1] == 1 and len(lone[0]) == 1 and lone[0][0].name == name and lone[0][0].args:
            args.update(dict.fromkeys(lone[0][0].args))
        else:
            args[size] = None
    kept: list[Size] = []
    for size in args:
        if not any(_is_beyond(name, other, size) for other in kept):
            kept = [*(other for other in kept if not _is_beyond(name, size, other)), size]
    if len(kept) == 1:
        return kept[0]
    return _build({(Atom(name, tuple(sorted(kept, key=str))),): 1})


def _is_beyond(name: str, size: Size, other: Size) -> bool:
    """Whether a `min` or `max` of two sizes always equals the first one, whatever the symbols are."""
    return never_negative(size - other if name == "max" else other - size)


def never_negative(size: Size) -> bool:
    """Tell whether a size is at least 0 if all symbols are."""
    return all(c >= 0 and all(_atom_never_negative(a) for a in m) for m, c in terms_of(size))


def _atom_never_negative(atom: Atom) -> bool:
    if not atom.args:
        return True
    test = any if atom.name == "max" else all
    return test(never_negative(a) for a in atom.args)

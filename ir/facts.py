"""Keep track of which symbolic sizes are equal while a graph is built, and record the guards that this relies on.

A compiled graph serves every size for which its guards hold. A guard says that two sizes are equal; it is
recorded whenever building needs an answer that the types do not give: whether two dimensions that
meet are the same, whether a computed one is 1, or what number a size is.

If two sizes are equal, the one that is known first replaces the other. The size of an argument replaces one that a
NumPy call decides (`dims.DATA`), and the size of an earlier call replaces that of a later one. So no type mentions a
size before it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import dims
from .dims import Atom, Dim, Size
from .errors import ShapeProblem, Span


class Facts:
    """Equalities between sizes. `sizes` are the numbers of the current call, if there is one.

    With `strict`, dimensions with different names are never unified: the rule of the language.
    """

    def __init__(self, sizes: Mapping[str, int] | None = None, strict: bool = False) -> None:
        self.sizes, self.strict = sizes, strict
        self.guards: list[tuple[Size, Size]] = []
        self._known: dict[str, Size] = {}
        self._pairs: dict[Dim, Size] = {}
        self._atoms: dict[Atom, Size] = {}

    def state(self) -> tuple[Any, ...]:
        """Save what is known now, so that `restore` can come back to it."""
        return list(self.guards), dict(self._known), dict(self._pairs), dict(self._atoms)

    def restore(self, state: tuple[Any, ...], keep_guards: bool = False) -> None:
        """Forget what was learned since a saved state. With `keep_guards`, what a guard states is kept."""
        guards, known, pairs, atoms = state
        self._known, self._pairs, self._atoms = dict(known), dict(pairs), dict(atoms)
        if not keep_guards:
            self.guards = list(guards)
            return
        for a, b in self.guards[len(guards) :]:
            self._join(self.canonical(a), self.canonical(b))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known to be equal."""
        return not (self._known or self._pairs or self._atoms)

    def canonical(self, size: Size) -> Size:
        """The form that all sizes known to be equal share."""
        if isinstance(size, int) or self.is_empty:
            return size
        size = dims.replace_atoms(dims.substitute(size, self._known), self._atoms)
        while isinstance(size, Dim) and size in self._pairs:
            size = dims.replace_atoms(self._pairs[size], self._atoms)
        return size

    def number(self, size: Size) -> int | None:
        """The number that a size has in the current call."""
        size = self.canonical(size)
        if isinstance(size, int):
            return size
        if self.sizes is None or not size.symbols <= self.sizes.keys():
            return None
        return dims.evaluate(size, self.sizes)

    def specialize(self, size: Size) -> int | None:
        """The number that a size has in the current call. A guard records that the graph relies on it."""
        number = self.number(size)
        if number is not None:
            self.assume_equal(size, number)
        return number

    def assume_equal(self, a: Size, b: Size) -> None:
        """Makes `a` and `b` equal from here on, and records a guard that every later call checks."""
        a, b = self.canonical(a), self.canonical(b)
        if a == b:
            return
        self.guards.append((a, b))
        self._join(a, b)

    def replace(self, sizes: Sequence[Size], by: Size) -> None:
        """Replace these sizes by others; the caller has made sure that they are equal."""
        for size in sizes:
            if dims.is_symbol(size):
                self._known[str(size)] = by
        for size in sizes:
            changed = dims.substitute(size, self._known)
            if isinstance(changed, Dim) and changed != by:
                self._pairs[changed] = by

    @property
    def live_guards(self) -> list[tuple[Size, Size]]:
        """Return the guards, written with the sizes that types still mention.

        Guards that unify two sizes stay as they are.
        """
        found = []
        for guard in self.guards:
            a, b = (dims.substitute(size, self._known) for size in guard)
            found.append((a, b) if a != b else guard)
        return list(dict.fromkeys(found))

    def _join(self, a: Size, b: Size) -> None:
        """Unify two canonical sizes. Pairs that mention a symbol are updated when the symbol gets a value."""
        inner = _unwrapped(a, b)
        a, b = _solved(a, b)
        target, replaced = (a, b) if _may_replace(a, b) else (b, a)
        if isinstance(replaced, Dim) and _may_replace(target, replaced):
            name = str(replaced)
            if dims.age(name) >= 0:
                self._demand_size(target)
            self._known = {k: dims.substitute(v, {name: target}) for k, v in self._known.items()}
            self._known[name] = target
            atoms, self._atoms = self._atoms, {}
            self._join_again((dims.of_atom(atom), size) for atom, size in atoms.items())
        elif isinstance(a, Dim) and not dims.is_symbol(a) and not _is_first(a, b):
            self._pair(a, b)
        elif isinstance(b, Dim):
            self._pair(b, a)
        if inner is not None and (size := self.canonical(inner[0])) != inner[1]:
            self._join(size, inner[1])

    def _join_again(self, more: Iterable[tuple[Size, Size]] = ()) -> None:
        """Unify some pairs again, and others too, because parts of them now have values."""
        pairs, self._pairs = [*self._pairs.items(), *more], {}
        for pair in pairs:
            left, right = map(self.canonical, pair)
            if left != right:
                self._join(left, right)

    def _demand_size(self, size: Size) -> None:
        """Require that the size of a result is not negative."""
        guard = dims.maximum(0, size), size
        if guard[0] != size and guard not in self.guards:
            self.guards.append(guard)

    def _pair(self, size: Dim, other: Size) -> None:
        """Replace a single `min`, `max` or quotient everywhere, also inside products."""
        (monomial, factor), *more = size.terms
        if isinstance(other, int) and not more and factor == 1 and len(monomial) == 1:
            self._atoms[monomial[0]] = other
            self._join_again()
        else:
            self._pairs[size] = other

    def same(self, a: Size, b: Size) -> bool:
        """Whether two sizes are known to be equal."""
        return self.canonical(a) == self.canonical(b)

    def agree(self, left: Sequence[Size], right: Sequence[Size]) -> bool:
        """Whether two shapes are known to be equal."""
        return len(left) == len(right) and all(map(self.same, left, right))

    def broadcast(self, shapes: list[tuple[Size, ...]], span: Span | None = None) -> tuple[Size, ...]:
        """The shape that NumPy's broadcasting gives."""
        rank = max((len(s) for s in shapes), default=0)
        result: list[Size] = []
        for axis in range(-rank, 0):
            size: Size = 1
            for shape in shapes:
                if len(shape) < -axis:
                    continue
                met = self._meet(size, shape[axis])
                if met is None:
                    raise self._mismatch(shapes, size, shape[axis], span)
                size = met
            result.append(size)
        return tuple(result)

    def _meet(self, a: Size, b: Size) -> Size | None:
        a, b = self.canonical(a), self.canonical(b)
        if a == b or b == 1:
            return a
        if a == 1:
            return b
        if self.strict or (isinstance(a, int) and isinstance(b, int)):
            return None
        left, right = self.number(a), self.number(b)
        if left == right or left is None or right is None:
            self.assume_equal(a, b)
            return self.canonical(a)
        if left == 1:
            self.assume_equal(a, 1)
            return b
        if right == 1:
            self.assume_equal(b, 1)
            return a
        return None

    def _mismatch(self, shapes: list[tuple[Size, ...]], a: Size, b: Size, span: Span | None) -> ShapeProblem:
        shown = " ".join("(" + ", ".join(map(str, s)) + ("," if len(s) == 1 else "") + ")" for s in self._shown(shapes))
        hint = "sizes must be equal or 1"
        if self.strict:
            hint = f"give both dimensions one name, or insert a 1 with None ('{a}' and '{b}' are different names)"
        return ShapeProblem(f"operands could not be broadcast together with shapes {shown}", span, hint)

    def _shown(self, shapes: list[tuple[Size, ...]]) -> list[tuple[Size, ...]]:
        numbers = [tuple(self.number(s) for s in shape) for shape in shapes]
        if self.strict or any(n is None for shape in numbers for n in shape):
            return shapes
        return [tuple(n for n in shape if n is not None) for shape in numbers]


def _solved(a: Size, b: Size) -> tuple[Size, Size]:
    """Solves an equation for its only symbol, or for one that a NumPy call decides: `2*n` and 16 become `n` and 8."""
    difference = a - b
    if not isinstance(difference, Dim):
        return a, b
    name = max(difference.symbols, key=dims.age)
    if len(difference.symbols) > 1 and dims.age(name) < 0:
        return a, b
    symbol = dims.symbol(name)
    factor = dict(difference.terms).get((dims.Atom(name),), 0)
    rest = difference - symbol * factor
    value = dims.divide(-rest, factor) if factor and name not in dims.symbols(rest) else None
    return (a, b) if value is None else (symbol, value)


def _unwrapped(a: Size, b: Size) -> tuple[Size, int] | None:
    """Solve an equation with a number for the size inside a `min` or `max`: `max(0, q + 1)` and 2 become `q` and 1."""
    size, number = (b, a) if isinstance(a, int) else (a, b)
    if not isinstance(size, Dim) or not isinstance(number, int):
        return None
    (monomial, factor), *more = size.terms
    if more and not more[-1][0]:
        return size - more[-1][1], number - more[-1][1]
    if more or factor != 1 or len(monomial) != 1 or monomial[0].name not in ("min", "max"):
        return None
    limits = [arg for arg in monomial[0].args if isinstance(arg, int)]
    others = [arg for arg in monomial[0].args if isinstance(arg, Dim)]
    is_inside = all(limit < number if monomial[0].name == "max" else limit > number for limit in limits)
    return (others[0], number) if is_inside and len(others) == 1 else None


def _may_replace(target: Size, replaced: Size) -> bool:
    """Tell whether `target` may replace the other size everywhere: it must be a symbol that is not known earlier."""
    if not dims.is_symbol(replaced) or dims.symbols(replaced) <= dims.symbols(target):
        return False
    return dims.known_after(target) <= dims.known_after(replaced)


def _is_first(a: Size, b: Size) -> bool:
    """Whether the first size is known before the second, and so replaces it."""
    return isinstance(b, Dim) and not dims.is_symbol(b) and dims.known_after(a) < dims.known_after(b)

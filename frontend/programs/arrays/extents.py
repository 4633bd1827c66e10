"""Bound sizes that depend on loops and data by sizes that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....ir import dims
from ....ir.dims import LOOP, Atom, Size

Ranges = Mapping[str, tuple[Size, Size]]
"""The first value of each variable of a loop, and the end of its values, by name."""
Choose = Callable[[Size, Size], Size]


def largest(size: Size, ranges: Ranges) -> Size | None:
    """Return a size without loop variables that is at least as large, or None if none can be found."""
    return _bound(size, ranges, True)


def _bound(size: Size, ranges: Ranges, upper: bool) -> Size | None:
    if not _changes(size):
        return size
    total: Size = 0
    for monomial, factor in dims.terms_of(size):
        if not any(map(_changes, map(dims.of_atom, monomial))):
            total = total + dims.from_terms({monomial: factor})
            continue
        if len(monomial) > 1:
            return None
        found = _bound_atom(monomial[0], ranges, upper is (factor > 0))
        if found is None:
            return None
        total = total + found * factor
    return total


def _bound_atom(atom: Atom, ranges: Ranges, upper: bool) -> Size | None:
    if not atom.args:
        first, end = ranges.get(atom.name, (None, None))
        if first is None or end is None:
            return None
        return _bound(end - 1, ranges, True) if upper else _bound(first, ranges, False)
    parts = [_bound(arg, ranges, upper) for arg in atom.args]
    known = [part for part in parts if part is not None]
    is_one_enough = atom.name == ("min" if upper else "max")
    if atom.name in ("min", "max") and (len(known) == len(parts) or (known and is_one_enough)):
        choose: Choose = dims.minimum if atom.name == "min" else dims.maximum
        found = known[0]
        for part in known[1:]:
            found = choose(found, part)
        return found
    if atom.name == "floordiv" and parts[0] is not None and isinstance(atom.args[1], int):
        return dims.floordiv(parts[0], atom.args[1])
    return None


def _changes(size: Size) -> bool:
    return any(name.startswith(LOOP) for name in dims.symbols(size))

"""Find sizes for which code has to be compiled: those that break the guards of the code so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from ...ir import dims
from ...ir.dims import Size

Numbers = Mapping[str, int]
Pairs = Sequence[tuple[Size, Size]]


def holds(guards: Pairs, numbers: Numbers) -> bool:
    """Tell whether all guards hold for these sizes."""
    return all(dims.evaluate(left, numbers) == dims.evaluate(right, numbers) for left, right in guards)


def outside(guards: Pairs, numbers: Numbers, held: Set[str]) -> Iterator[dict[str, int]]:
    """Yield sizes that each break one guard, and as few others as possible; those in `held` stay as they are."""
    for guard in guards:
        others = [g for g in guards if g != guard]
        broken = [
            moved
            for moved in _moved(guard, numbers, held)
            if dims.evaluate(guard[0], moved) != dims.evaluate(guard[1], moved)
        ]
        broken.sort(key=lambda m: sum(dims.evaluate(a, m) != dims.evaluate(b, m) for a, b in others))
        yield from broken[:1]


def _moved(guard: tuple[Size, Size], numbers: Numbers, held: Set[str]) -> Iterator[dict[str, int]]:
    """Yield the sizes with one of them changed to values near the guard's constants."""
    names = sorted((dims.symbols(guard[0]) | dims.symbols(guard[1])) - held)
    for name in names:
        rest = max(1, dims.evaluate(dims.product(dims.symbol(n) for n in names if n != name), numbers))
        for constant in sorted({0, 3, *_constants(guard[0]), *_constants(guard[1])}):
            for value in (constant // rest + step for step in (-1, 0, 1, 2)):
                if value >= 0 and value != 1:
                    yield {**numbers, name: value}


def _constants(size: Size) -> Iterator[int]:
    if isinstance(size, int):
        yield abs(size)
        return
    for monomial, factor in size.terms:
        yield abs(factor)
        for atom in monomial:
            for arg in atom.args:
                yield from _constants(arg)

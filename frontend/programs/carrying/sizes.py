"""Carry the sizes of arrays from step to step of a loop that changes them: `v = v[1:] + v[:-1]`, `x = np.append(x, y)`.

Such an array has a place in memory that is large enough for every step. Its sizes are numbers that the loop carries,
and each step sees the part of the place that has these sizes.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ir import dims
from ....ir.dims import Size
from ....ir.records import replace
from ..arithmetic import INT, value_of
from ..context import Lowering
from ..reading.names import Names
from ..values import Environment, Number, View

Growth = tuple["int | None", ...]
"""For each axis by how much it grows in a step at most; None if its size stays the same."""


class CarriedSizes:
    """The sizes that a loop carries, by the variables of their arrays. `steps` is the largest number of steps."""

    def __init__(self, p: Lowering, growth: Mapping[str, Growth], steps: Size | None) -> None:
        self.p, self.growth = p, growth
        self._most: dict[str, tuple[Size, ...]] = {}
        for name, axes in growth.items():
            shape = p.env[name].shape
            self._most[name] = tuple(_most(n, by, steps) for n, by in zip(shape, axes, strict=True))
            self.note(p.env, name)

    @property
    def numbers(self) -> Names:
        """The names of the numbers."""
        return frozenset(key for name in self.growth for key, _ in self._keys(name))

    def room(self, name: str, shape: tuple[Size, ...]) -> tuple[Size, ...]:
        """The shape of the memory for an array."""
        return self._most.get(name, shape)

    def note(self, env: Environment, name: str) -> None:
        """Bind the numbers to the sizes that an array has now."""
        view = env.get(name)
        if isinstance(view, View):
            env.update((key, Number(INT, size=view.shape[axis])) for key, axis in self._keys(name))

    def part(self, place: View, env: Environment, name: str) -> View:
        """Return the part of a place that an array fills, by its numbers."""
        e, shape = self.p.e, list(place.shape)
        for key, axis in self._keys(name):
            shape[axis] = e.bind_between(value_of(e, env[key]), 0, self._most[name][axis] + 1)
        return replace(place, shape=tuple(shape))

    def target(self, place: View, name: str, shape: tuple[Size, ...]) -> View:
        """Return the part of a place that an array of this shape will fill. The piece fails if there is no room."""
        e, found = self.p.e, list(place.shape)
        for _, axis in self._keys(name):
            size, most = shape[axis], self._most[name][axis]
            if not e.proves(most - size):
                fits = e.bind_between(e.plain_size(size), 0, dims.minimum(size, most) + 1)
                e.facts.replace((size,), fits)
                size = fits
            found[axis] = size
        return replace(place, shape=tuple(found))

    def drop(self, env: Environment) -> None:
        """Forget the numbers."""
        for key in self.numbers:
            env.pop(key, None)

    def _keys(self, name: str) -> list[tuple[str, int]]:
        return [(f"%{name}.{axis}", axis) for axis, by in enumerate(self.growth[name]) if by is not None]


def _most(size: Size, by: int | None, steps: Size | None) -> Size:
    return size if not by or steps is None else size + dims.maximum(0, steps) * by


def growth_of(p: Lowering, first: View, last: View, before: Growth | None, is_counted: bool) -> Growth | None:
    """Guess by how much the axes of an array grow in a step; None if it can't be carried in one place."""
    if first.rank != last.rank:
        return None
    found: list[int | None] = []
    for axis, (a, b) in enumerate(zip(first.shape, last.shape, strict=True)):
        old = before[axis] if before is not None else None
        if p.e.facts.same(a, b):
            found.append(old)
            continue
        by = b - a
        if isinstance(by, int) and by > 0:
            if not is_counted:
                return None
            found.append(max(by, old or 0))
            continue
        number = p.e.facts.number(by)
        if number is not None and number > 0 and old is None:
            return None  # then the first step may be another one
        found.append(old or 0)
    return tuple(found)

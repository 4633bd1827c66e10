"""Carry arrays from step to step of a loop.

If a step binds a variable to another array, that array is copied to a place.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ir.dims import Size
from ....ir.records import record, replace
from ....ir.tuples import NamedTuple
from ..context import Lowering, sees
from ..reading.names import Names
from ..values import BufferValue, CutProblem, Environment, KindChanges, View
from .sizes import CarriedSizes, Growth, growth_of


@record
class ArrayGuess:
    """The variables that have places in memory, and those among them that refer to other memory after a step.

    `aliases` has that memory by variable. Their places hold copies of it. `growth` has the arrays whose sizes change.
    """

    places: Names
    aliases: Mapping[str, BufferValue]
    growth: Mapping[str, Growth] = {}


@record
class Started:
    """The place of a variable, how often it had been stored to, and whether only this variable had its array.

    `source` is the memory of that array, and `source_version` how often that had been stored to.
    """

    name: str
    version: int
    is_own: bool
    source: BufferValue
    source_version: int


class Replaced(NamedTuple):
    """A variable that refers to another array after a step than before it."""

    name: str
    first: View
    last: View


class CarriedArrays:
    """The arrays that a loop is assumed to carry, and what a step shows about them: `found` is the next assumption."""

    def __init__(self, p: Lowering, guess: ArrayGuess, steps: Size | None) -> None:
        self.p, self.guess = p, guess
        self.places, self.aliases, self.growth = set(guess.places), dict(guess.aliases), dict(guess.growth)
        self.sizes, self._is_counted = CarriedSizes(p, guess.growth, steps), steps is not None
        self._own: dict[str, View] = {}  # the places of this loop
        self.made: dict[str, View] = {}  # arrays of variables that have no value before the loop
        self.started: list[Started] = []
        self.replaced: list[Replaced] = []
        self.allowed: dict[BufferValue, int] = {}  # stores to places that replace the array

    def found(self) -> ArrayGuess:
        return ArrayGuess(frozenset(self.places), dict(self.aliases), dict(self.growth))

    def shared(self) -> Names:
        """List the variables that are the array itself, not its place, if the loop runs no step."""
        return frozenset(start.name for start in self.started if not start.is_own)

    def start(self) -> None:
        """Give separate memory to the arrays that the loop replaces."""
        p = self.p
        for name in sorted(self.guess.places):
            view = p.env[name]
            is_own = p.is_only_name(name, view)
            room = self.sizes.room(name, view.shape)
            place = p.e.allocate(view.dtype, room, None, p.e.order_like(view))
            p.copy(replace(place, shape=view.shape), view)
            if name in self.guess.aliases:
                target = self.guess.aliases[name]
                place.buffer.shadow = target, target.version
            p.env[name] = p.places[name] = self._own[name] = place
            source = view.buffer
            self.started.append(Started(name, place.buffer.version, is_own, source, source.version))

    def take(self, env: Environment, before: Environment) -> None:
        """Bind the arrays whose sizes change to the parts of their places that they have now."""
        for name in self.guess.growth:
            env[name] = before[name] = self.p.places[name] = self.sizes.part(self._own[name], env, name)

    def note_sizes(self) -> None:
        """Bind the carried sizes to the sizes that the arrays have after a step."""
        for name in self.guess.growth:
            self.sizes.note(self.p.env, name)

    def finish(self, before: Environment, living: Names) -> None:
        """Copy or rebind the arrays that a step has replaced; `living` are the variables that are live afterwards."""
        self._find_aliases(before, living)
        self._check_kinds()
        self._replace()
        self._check_places()

    def _find_aliases(self, before: Environment, living: Names) -> None:
        """Find variables that refer to memory of the caller, or of another variable that is live afterwards."""
        env, places = self.p.env, {self._own[name].buffer for name in self.guess.places}
        for name, _, last in self.replaced:
            buffer = last.buffer
            others = [key for key, value in env.items() if key != name and key in living and sees(value, last)]
            if buffer.origin is None and not others:
                continue
            is_new = not any(sees(value, last) for value in before.values())
            if buffer in places or (is_new and buffer.origin is None) or self.aliases.get(name, buffer) is not buffer:
                raise CutProblem(
                    f"'{name}' and '{others[0] if others else name}' refer to the same array after a step of a loop"
                )
            self.aliases[name] = buffer

    def _check_kinds(self) -> None:
        e = self.p.e
        for name, first, last in self.replaced:
            is_other = first.buffer.shadow is not None and name not in self.guess.aliases
            if is_other or (last.buffer.shadow is not None and last.buffer is not first.buffer):
                raise CutProblem(f"the array '{name}' may be a view of another one in each step of a loop")
            if last.dtype != first.dtype or not self._carry_sizes(name, first, last):
                raise KindChanges(f"the array '{name}' has another shape or dtype in each step of a loop")
            if e.order_like(last) != e.order_like(first):
                raise KindChanges(f"the memory order of the array '{name}' changes from step to step of a loop")

    def _carry_sizes(self, name: str, first: View, last: View) -> bool:
        """Carry the sizes of an array if they change in a step; tell whether its place has room for it."""
        if self.p.e.facts.agree(last.shape, first.shape):
            return True
        growth = growth_of(self.p, first, last, self.growth.get(name), self._is_counted)
        if growth is not None:
            self.growth[name] = growth
        return growth is not None

    def _replace(self) -> None:
        """Copy arrays that variables refer to after a step to the places that the loop carries for them."""
        if self.growth != self.guess.growth:  # the loop is lowered again
            self.places.update(name for name, _, _ in self.replaced)
            return
        mine = [one for one in self.replaced if one.name in self.places]
        owned = [first.buffer for _, first, _ in mine]
        values = [self._apart(last) if last.buffer in owned else last for _, _, last in mine]
        for (name, first, _), value in zip(mine, values, strict=True):
            shadow, first.buffer.shadow = first.buffer.shadow, None
            target = self.sizes.target(first, name, value.shape) if name in self.growth else first
            self.p.copy(target, value)
            first.buffer.shadow = shadow
            self.allowed[first.buffer] = self.allowed.get(first.buffer, 0) + 1
        self.places.update(name for name, _, _ in self.replaced)

    def _apart(self, view: View) -> View:
        made = self.p.e.allocate(view.dtype, view.shape)
        self.p.copy(made, view)
        return made

    def _check_places(self) -> None:
        """Refuse loops in which one can see that a place is not a new array for each step.

        A store into the array would also have to change the array from before the loop, and another name of the array
        would have to keep the old one.
        """
        for start in self.started:
            buffer = self._own[start.name].buffer
            if not start.is_own and start.source.version != start.source_version:
                raise KindChanges(f"the array '{start.name}' belongs to another variable, and a loop changes it")
            writes = self.allowed.get(buffer, 0) + self.p.place_writes.get(buffer, 0)
            if buffer.version - start.version != writes and not start.is_own:
                raise CutProblem(f"the array '{start.name}' is changed in place and replaced in a loop")
            if any(view.buffer is buffer for view in self.made.values()):
                raise CutProblem(f"the array '{start.name}' still has another name after a loop that replaces it")

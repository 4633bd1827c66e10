"""Carry variables from step to step of a loop: numbers as values of the nest, arrays as places in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ....ir.dims import Size
from ....ir.graph import Value
from ....ir.records import record, replace
from ..context import RETURN, RETURNED, Lowering, is_stale
from ..kinds import Known
from ..reading.names import Names
from ..values import Abstract, CutProblem, Environment, Number, Unset, View
from .arrays import ArrayGuess, CarriedArrays, Replaced
from .numbers import CarriedNumbers, KindsMeet, NumberGuess
from .tuples import CarriedTuples, Returned

NONE: Names = frozenset()
JUMPED = (RETURN, RETURNED)


@record
class Guess:
    """What a loop carries: numbers, arrays, and arrays from before the loop that are returned inside it."""

    numbers: NumberGuess = NumberGuess({}, NONE, NONE)
    arrays: ArrayGuess = ArrayGuess(NONE, {})
    returned: Mapping[str, Abstract] = {}


class Counted(Protocol):
    """The steps of a loop, if their number is known before it."""

    def demand(self) -> None:
        """Leave the piece if there is none."""

    def had_step(self) -> Value | None:
        """Whether the loop had a step; None if that is certain."""

    def most(self) -> Size:
        """How many there are at most."""


class Carry:
    """One attempt to lower a loop, with what it carries. `better` is a better guess if this one was wrong.

    `names` are the variables that it may have to carry, `bound` are all that it binds, and `live` those needed after
    it.
    """

    def __init__(
        self, p: Lowering, names: Names, bound: Names, live: Names, guess: Guess, counted: Counted | None
    ) -> None:
        self.p, self.counted = p, counted
        self.bound, self.live = bound, live
        self.returned = Returned(p.env, names, guess.returned)
        self.tuples = CarriedTuples(p.env, names | self.returned.items)
        self.arrays = CarriedArrays(p, guess.arrays, None if counted is None else counted.most())
        self.names = names | self.returned.items | self.tuples.items | self.arrays.sizes.numbers
        self.numbers = CarriedNumbers(p.e, p.env, self.names, guess.numbers)
        self.before: Environment = p.env
        self.better: Guess | None = None

    def start(self) -> list[Value]:
        """Return the values before the loop. Arrays that it replaces get separate memory."""
        self.arrays.start()
        self.before = dict(self.p.env)
        return self.numbers.first(self.before)

    def begin(self, inputs: Sequence[Value]) -> None:
        """Start a step, in which the variables have the carried values."""
        self.p.env = {**self.before, **self.numbers.take(inputs)}
        self.arrays.take(self.p.env, self.before)
        self._join()

    def _join(self) -> None:
        self.returned.join(self.p.env, self.numbers)
        self.tuples.join(self.p.env)

    def finish(self) -> list[Value]:
        """End a step, with the new values of the carried numbers."""
        env, numbers, arrays = self.p.env, self.numbers, self.arrays
        self.tuples.take_apart(env)
        arrays.note_sizes()
        self.returned.take_apart(env, numbers)
        outputs = numbers.last(self.before, env)
        if any(map(is_stale, self.before.values())):
            raise CutProblem(
                "a loop changes an array that a mask has selected from, or that another array is a view of"
            )
        for name in sorted(self.names - numbers.all.keys() - self.tuples.all.keys()):
            first, last = self.before.get(name), env.get(name)
            if first is not last:
                self._find(name, first, last)
        arrays.finish(self.before, self.names | self.live | (self.before.keys() - self.bound))
        found = Guess(numbers.found(), arrays.found(), dict(self.returned.fixed))
        if found != Guess(numbers.guess, arrays.guess, self.returned.guess):
            self.better = found
        return outputs

    def _find(self, name: str, first: Abstract | None, last: Abstract | None) -> None:
        """Find how to carry a variable that is not a carried number and has another value after a step."""
        arrays, is_new = self.arrays, first is None or isinstance(first, Unset)
        if name == RETURNED and not isinstance(last, Number):
            self.returned.find(last, self.before, self.numbers)
        elif is_new and isinstance(last, Number) and (name in self.live or name in JUMPED):
            self.numbers.add(name, last, name not in JUMPED and (last.bound is not None or self.counted is None))
        elif is_new and isinstance(last, View):
            arrays.made[name] = last
        elif isinstance(first, View) and isinstance(last, View):
            if first != last:
                arrays.replaced.append(Replaced(name, first, last))
        elif isinstance(first, View) and name not in arrays.places and isinstance(last, Unset):
            arrays.places.add(name)  # then both sides of a branch store to one place
        elif not is_new and not (isinstance(first, Known) and first == last):
            raise CutProblem(f"'{name}' is not a number or an array before and after each step of a loop")

    def widened(self, met: KindsMeet) -> Guess | None:
        """Guess kinds for a number that is known before the loop, and has another kind after a branch of a step."""
        numbers = self.numbers.widened(met, self.before)
        return None if numbers is None else Guess(numbers, self.arrays.guess, self.returned.guess)

    def _settle(self, name: str) -> Callable[[], None] | None:
        """Ask to peel a step of this loop, and of the loops inside it that give a number its kind."""
        inner, counted = self.numbers.settles.get(name), self.counted
        if inner is None or counted is None:
            return None

        def settle() -> None:
            counted.demand()
            inner()

        return settle

    def end(self, results: Sequence[Value]) -> None:
        """End the loop and bind the variables to their values after it."""
        env = self.p.env = dict(self.before)
        numbers, arrays, counted = self.numbers, self.arrays, self.counted
        for name in self.bound - numbers.all.keys() - arrays.guess.places:
            if name not in self.names or name not in self.before or isinstance(self.before[name], Unset):
                env[name] = Unset(f"'{name}' gets its value in a loop")
        late = {n for n in numbers.guess.late - numbers.guess.unsure if not n.startswith(RETURNED)}
        had_step: Value | None = None
        flagged = late if counted is not None and any(scope.is_loop for scope in self.p.e.scopes) else set()
        if flagged and counted is not None:  # another step of the loop around it may bind them
            had_step = counted.had_step()
        for name, number in numbers.take(results).items():
            bound = had_step if name in flagged and had_step is not None else number.bound
            env[name] = replace(number, settle=self._settle(name), bound=bound)
        arrays.take(env, env)
        arrays.sizes.drop(env)
        self._join()
        given = {name for name, old in self.tuples.all.items() if old.path is not None}
        new = ((late - flagged) | arrays.made.keys() | arrays.shared() | given) & self.live
        if new and counted is not None:
            counted.demand()
            for name, view in arrays.made.items():
                if self.p.e.is_visible(*view.shape, *view.starts):
                    env[name] = view
        elif new:
            for name in new:
                env[name] = Unset(f"'{name}' gets its value in a loop that may have no step")

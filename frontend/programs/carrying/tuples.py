"""Carry tuples through a loop as variables for their items: tuples that it changes, and the one that it returns."""

from __future__ import annotations

from collections.abc import Mapping

from ..context import RETURNED
from ..reading.names import Names
from ..values import Abstract, CutProblem, Environment, KindChanges, Number, TupleValue, View
from .numbers import CarriedNumbers


class CarriedTuples:
    """The tuples and lists of numbers and arrays that a loop changes.

    Variables for their items replace them in `env`.
    """

    def __init__(self, env: Environment, names: Names) -> None:
        self.all: dict[str, TupleValue] = {}
        for name in sorted(names - {RETURNED}):
            value = env.get(name)
            if isinstance(value, TupleValue) and all(isinstance(item, (Number, View)) for item in value.items):
                self.all[name] = value
                del env[name]
                env.update(_items(name, value))
        self.items = frozenset(item for name, value in self.all.items() for item in _items(name, value))

    def join(self, env: Environment) -> None:
        """Make the tuples of their items."""
        for name, old in self.all.items():
            env[name] = TupleValue(tuple(env[item] for item in _items(name, old)), old.is_list)

    def take_apart(self, env: Environment) -> None:
        """Carry the contents of each tuple after a step."""
        for name, old in self.all.items():
            last = env.pop(name, None)
            if not isinstance(last, TupleValue) or (len(last.items), last.is_list) != (len(old.items), old.is_list):
                raise KindChanges(f"'{name}' is another kind of tuple after a step of a loop")
            env.update(_items(name, last))


class Returned:
    """What is returned inside a loop: numbers, also in a tuple, and arrays that were there before the loop.

    The numbers are carried. `fixed` are the arrays, by the name of the returned value or of an item of it.
    """

    def __init__(self, env: Environment, names: Names, fixed: Mapping[str, Abstract]) -> None:
        value = env.get(RETURNED)
        items = _items(RETURNED, value) if RETURNED in names and isinstance(value, TupleValue) else {}
        env.update(items)
        self.items = frozenset(items)
        self.guess, self.fixed = fixed, dict(fixed)

    def join(self, env: Environment, numbers: CarriedNumbers) -> None:
        """Make the returned tuple of its items."""
        env.update(self.guess)
        parts = {name for name in (*numbers.all, *self.guess) if name.startswith(f"{RETURNED}.")}
        if parts:
            env[RETURNED] = TupleValue(tuple(env[f"{RETURNED}.{k}"] for k in range(len(parts))))

    def take_apart(self, env: Environment, numbers: CarriedNumbers) -> None:
        """Carry the numbers of the returned tuple after a step."""
        last = env.get(RETURNED)
        if isinstance(last, TupleValue):
            env.update((name, item) for name, item in _items(RETURNED, last).items() if name in numbers.all)

    def find(self, last: Abstract | None, before: Environment, numbers: CarriedNumbers) -> None:
        """Find what has to be carried for a value that is returned in a step."""
        items: Mapping[str, Abstract | None] = {RETURNED: last}
        if isinstance(last, TupleValue) and not last.is_list:
            items = _items(RETURNED, last)
        for name, item in items.items():
            if isinstance(item, Number) and name not in self.fixed:
                if name not in numbers.all:
                    numbers.add(name, item)
            elif isinstance(item, View) and self.fixed.get(name, item) == item and item in before.values():
                self.fixed[name] = item
            else:
                raise CutProblem("an array, or another value that is not a number, is returned from inside a loop")


def _items(name: str, value: TupleValue) -> dict[str, Abstract]:
    """The items of a tuple, by the variables that stand for them."""
    return {f"{name}.{k}": item for k, item in enumerate(value.items)}

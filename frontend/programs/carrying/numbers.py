"""Carry numbers from step to step of a loop: their parts, whether they have a value, and which kind they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from ....ir.dtypes import BOOL
from ....ir.graph import Value
from ....ir.records import record, replace
from ..arithmetic import is_of, join, number_parts
from ..complexes import of_parts, width, zeros
from ..emit import NestEmitter
from ..reading.names import Names
from ..values import (
    Abstract,
    BecomesArray,
    CutProblem,
    Environment,
    KindChanges,
    Number,
    NumberKind,
    TwoKindsResult,
    Unset,
    View,
    dtype_of,
    plain,
)

Kinds = tuple[NumberKind, "NumberKind | None"]


class KindsMeet(CutProblem):
    """Raised when a variable has two kinds after a branch, and neither fits both."""

    def __init__(self, name: str, unset: Unset) -> None:
        super().__init__(unset.name)
        self.name, self.kinds = name, unset.kinds


@record
class NumberGuess:
    """The numbers that a loop carries, by variable, with their kinds.

    Numbers in `late` have no value before the loop. Each number in `unsure` has a flag that tells whether it has a
    value.
    """

    kinds: Mapping[str, Kinds]
    late: Names
    unsure: Names


@record
class CarriedNumber:
    """A number that a loop carries: its parts, and one flag each if it `is_unsure` or `is_twofold`.

    The flags tell whether it has a value, and whether it has the first of its two kinds.
    """

    name: str
    kinds: Kinds
    is_late: bool
    is_unsure: bool
    is_twofold: bool

    def first(self, e: NestEmitter, before: Environment) -> Sequence[Value]:
        """Return the values that are carried into the first step."""
        dtype = dtype_of(self.kinds[0])
        return zeros(e, dtype) if self.is_late else number_parts(e, before[self.name], dtype)

    def flags(self, e: NestEmitter, number: Abstract | None) -> list[Value]:
        """Return the flags that are carried beside the parts of a number."""
        made = [_has_value(e, number)] if self.is_unsure else []
        if not self.is_twofold:
            return made
        is_first = is_of(e, number, self.kinds[0]) if isinstance(number, Number) else e.constant(True, BOOL)
        if is_first is None:
            raise TwoKindsResult("a result may have either of two kinds")
        return [*made, is_first]

    def take(self, values: Iterator[Value]) -> Number:
        """Make the number from the next of the values that a loop carries."""
        kind, other = self.kinds
        number = of_parts(kind, list(islice(values, width(dtype_of(kind)))), other)
        bound = next(values) if self.is_unsure else None
        return replace(number, bound=bound, is_first=next(values) if self.is_twofold else None)


def _has_value(e: NestEmitter, number: Abstract | None) -> Value:
    if isinstance(number, Number) and number.bound is not None:
        return number.bound
    return e.constant(isinstance(number, Number), BOOL)


class CarriedNumbers:
    """The numbers that a loop is assumed to carry, and what a step shows about them: `found` is the next assumption."""

    def __init__(self, e: NestEmitter, env: Environment, names: Names, guess: NumberGuess) -> None:
        early = {n: env[n] for n in sorted(names) if isinstance(env.get(n), Number)}
        unsure = guess.unsure | {n for n, number in early.items() if number.bound is not None}
        self.e, self.all = e, {}
        for name in (*early, *sorted(guess.late)):
            kinds = guess.kinds.get(name) or (plain(env[name].kind), env[name].other)
            is_twofold = kinds[1] is not None and e.tracks_kinds
            self.all[name] = CarriedNumber(name, kinds, name in guess.late, name in unsure, is_twofold)
        self.kinds = {name: number.kinds for name, number in self.all.items()}
        self.late, self.unsure = set(guess.late), {name for name, number in self.all.items() if number.is_unsure}
        self.guess = self.found()
        self.settles: dict[str, Callable[[], None]] = {}  # what makes numbers be of their first kind, after any step

    def found(self) -> NumberGuess:
        return NumberGuess(dict(self.kinds), frozenset(self.late), frozenset(self.unsure))

    def first(self, before: Environment) -> list[Value]:
        """Return the values before the loop."""
        made: list[Value] = []
        for name, number in self.all.items():
            made += [*number.first(self.e, before), *number.flags(self.e, before.get(name))]
        return made

    def take(self, values: Sequence[Value]) -> dict[str, Number]:
        """Make the numbers of the values that a loop carries."""
        rest = iter(values)
        return {name: number.take(rest) for name, number in self.all.items()}

    def last(self, before: Environment, env: Environment) -> list[Value]:
        """Return the values after a step, and learn from them about the numbers."""
        made: list[Value] = []
        for name, carried in self.all.items():
            number = _number(name, env.get(name))
            made += [*self._parts(carried, before, number), *carried.flags(self.e, number)]
            if number.bound is not None:
                self.unsure.add(name)
        return made

    def _parts(self, carried: CarriedNumber, before: Environment, number: Number) -> Sequence[Value]:
        name, (kind, other) = carried.name, carried.kinds
        first = Number(kind, other=other) if carried.is_late else before[name]
        try:
            self.kinds[name] = join(first, number)
        except CutProblem as problem:
            raise KindChanges(f"'{name}': {problem.reason}") from problem
        if self.kinds[name] != carried.kinds:
            return zeros(self.e, dtype_of(kind))  # the loop is lowered again
        if plain(number.kind) == kind and (number.other is None or number.settle is not None):
            self.settles[name] = number.settle or _nothing
        return number_parts(self.e, number, dtype_of(kind))

    def add(self, name: str, number: Number, is_unsure: bool = False) -> None:
        """Carry a number that gets its first value in a step."""
        self.late.add(name)
        self.kinds[name] = plain(number.kind), number.other
        if is_unsure:
            self.unsure.add(name)

    def widened(self, met: KindsMeet, before: Environment) -> NumberGuess | None:
        """Guess kinds for a number that is known before the loop, and has another kind after a branch of a step."""
        carried, first = self.all.get(met.name), before.get(met.name)
        if carried is None or carried.is_late or not isinstance(first, Number) or first.known is None:
            return None
        for kind in met.kinds:
            with suppress(CutProblem):
                if kind != plain(first.kind) and (found := join(first, Number(kind))) != carried.kinds:
                    return replace(self.guess, kinds={**self.guess.kinds, met.name: found})
        return None


def _number(name: str, last: Abstract | None) -> Number:
    """Return the number that a carried variable holds after a step."""
    if isinstance(last, Number):
        return last
    if isinstance(last, View):
        raise BecomesArray(name, last)
    if not isinstance(last, Unset):
        raise CutProblem(f"'{name}' is not a number at the end of a step")
    if last.kinds:
        raise KindsMeet(name, last)
    raise CutProblem(last.name)


def _nothing() -> None:
    pass

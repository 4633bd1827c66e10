"""Carry variables from step to step of a loop: numbers as values of the nest, arrays as places in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from ...ir.dtypes import BOOL
from ...ir.graph import Value
from ...ir.records import record, replace
from .arithmetic import is_of, join, number_parts
from .complexes import of_parts, width, zeros
from .kinds import Known
from .lowering import RETURN, RETURNED, Lowering, is_stale, sees
from .names import Names
from .values import (
    Abstract,
    BufferValue,
    CutProblem,
    Environment,
    Number,
    NumberKind,
    TupleValue,
    TwoKindsResult,
    Unset,
    View,
    dtype_of,
    plain,
)

NONE: Names = frozenset()
JUMPED = (RETURN, RETURNED)


class KindsMeet(CutProblem):
    """Raised when a variable is of different kinds after a branch, none of which fits both."""

    def __init__(self, name: str, unset: Unset) -> None:
        super().__init__(unset.name)
        self.name, self.kinds = name, unset.kinds


class KindChanges(Exception):
    """Raised when a variable has another kind at the end of a step than at its start, and no kind fits both."""


def _nothing() -> None:
    pass


@record
class Guess:
    """What a loop carries: numbers with their kinds, those of them that have no value before it, and arrays.

    Each of the numbers in `unsure` comes with a flag that tells whether it has a value. `fixed` are arrays from before
    the loop that are returned inside it, by the name of the returned value or of an item of it. `aliases` are arrays
    that refer to other memory behind a step, by variable: their places hold copies of it.
    """

    kinds: Mapping[str, tuple[NumberKind, NumberKind | None]]
    late: Names
    places: Names
    unsure: Names = frozenset()
    fixed: Mapping[str, Abstract] = {}
    aliases: Mapping[str, BufferValue] = {}


class Counted(Protocol):
    """The steps of a loop, if their number is known before it."""

    def demand(self) -> None:
        """Leave the piece if there is none."""

    def had_step(self) -> Value | None:
        """Whether there was one; None if that is certain."""


class Carry:
    """What one attempt to lower a loop carries. `better` is a better guess, if this one was wrong.

    `names` are the variables that it may have to carry, `bound` all that it binds, and `live` are live behind it.
    """

    def __init__(
        self, p: Lowering, names: Names, bound: Names, live: Names, guess: Guess, counted: Counted | None
    ) -> None:
        returned = p.env.get(RETURNED)
        if RETURNED in names and isinstance(returned, TupleValue):
            p.env.update((f"{RETURNED}.{k}", item) for k, item in enumerate(returned.items))
            names |= {f"{RETURNED}.{k}" for k in range(len(returned.items))}
        self.tuples = _split_tuples(p.env, names)
        names |= {item for items, _ in self.tuples.values() for item in items}
        self.p, self.guess, self.counted = p, guess, counted
        self.names, self.bound, self.live = names, bound, live
        self.better: Guess | None = None
        self.before: Environment = p.env
        self.made: dict[str, View] = {}
        self.settles: dict[str, Callable[[], None]] = {}  # what makes numbers be of their first kind, after any step
        self.started: list[tuple[str, int, bool]] = []  # places, and how often they had been stored to
        self.allowed: dict[BufferValue, int] = {}  # stores to places that replace the array
        early = [n for n in sorted(names) if isinstance(p.env.get(n), Number)]
        self.numbers = (*early, *sorted(guess.late))
        self.unsure = tuple(n for n in self.numbers if n in guess.unsure or (n in early and p.env[n].bound is not None))
        self.kinds = {n: guess.kinds.get(n) or (plain(p.env[n].kind), p.env[n].other) for n in self.numbers}
        self.twofold = tuple(n for n in self.numbers if self.kinds[n][1] is not None and p.e.tracks_kinds)

    def start(self) -> list[Value]:
        """Return the values before the loop; arrays that it replaces get separate memory."""
        p = self.p
        for name in sorted(self.guess.places):
            view = p.env[name]
            is_own = p.is_only_name(name, view)
            place = p.e.allocate(view.dtype, view.shape, None, p.e.order_like(view))
            p.copy(place, view)
            if name in self.guess.aliases:
                target = self.guess.aliases[name]
                place.buffer.shadow = target, target.version
            p.env[name] = p.places[name] = place
            self.started.append((name, place.buffer.version, is_own))
        self.before = dict(p.env)
        return [value for name in self.numbers for value in self._first(name)] + self._flags(self.before)

    def _flags(self, env: Environment) -> list[Value]:
        """Return what is carried beside numbers: whether they have values, and which of two kinds they are."""
        return [self._is_bound(name, env) for name in self.unsure] + [self._kind_flag(n, env) for n in self.twofold]

    def _kind_flag(self, name: str, env: Environment) -> Value:
        number = env.get(name)
        found = is_of(self.p.e, number, self.kinds[name][0]) if isinstance(number, Number) else None
        if isinstance(number, Number) and found is None:
            raise TwoKindsResult("a result is of one kind or another")
        return self.p.e.constant(True, BOOL) if found is None else found

    def _of_flags(self, values: Sequence[Value]) -> tuple[dict[str, Value], dict[str, Value]]:
        count = len(self.unsure)
        return (
            dict(zip(self.unsure, values[:count], strict=True)),
            dict(zip(self.twofold, values[count:], strict=True)),
        )

    def _is_bound(self, name: str, env: Environment) -> Value:
        """Whether a number has a value."""
        number = env.get(name)
        if isinstance(number, Number) and number.bound is not None:
            return number.bound
        return self.p.e.constant(isinstance(number, Number), BOOL)

    def _first(self, name: str) -> tuple[Value, ...]:
        dtype = dtype_of(self.kinds[name][0])
        if name in self.guess.late:
            return zeros(self.p.e, dtype)
        return number_parts(self.p.e, self.before[name], dtype)

    def _of_values(self, values: Sequence[Value]) -> list[tuple[str, Number]]:
        """The carried numbers, with their flags, of the values that a loop carries."""
        made: list[tuple[str, Number]] = []
        rest = list(values)
        for name in self.numbers:
            (kind, other), count = self.kinds[name], width(dtype_of(self.kinds[name][0]))
            made.append((name, of_parts(kind, rest[:count], other)))
            del rest[:count]
        flags, firsts = self._of_flags(rest)
        return [(n, replace(number, bound=flags.get(n), is_first=firsts.get(n))) for n, number in made]

    def begin(self, inputs: Sequence[Value]) -> None:
        """Starts a step, in which the variables have the carried values."""
        self.p.env = dict(self.before)
        self.p.env.update(self._of_values(inputs))
        self._join_returned()
        self._join_tuples()

    def _join_returned(self) -> None:
        """Makes the returned tuple of its items, which are carried one by one."""
        env, fixed = self.p.env, self.guess.fixed
        parts = {name for name in (*self.numbers, *fixed) if name.startswith(f"{RETURNED}.")}
        env.update(fixed)
        if parts:
            env[RETURNED] = TupleValue(tuple(env[f"{RETURNED}.{k}"] for k in range(len(parts))))

    def _join_tuples(self) -> None:
        """Makes the carried tuples of their items."""
        for name, (items, old) in self.tuples.items():
            self.p.env[name] = TupleValue(tuple(self.p.env[item] for item in items), old.is_list)

    def _take_tuples_apart(self) -> None:
        """Carries what is in each tuple behind a step."""
        env = self.p.env
        for name, (items, old) in self.tuples.items():
            last = env.pop(name, None)
            if not isinstance(last, TupleValue) or (len(last.items), last.is_list) != (len(items), old.is_list):
                raise KindChanges(f"'{name}' is another kind of tuple behind a step of a loop")
            env.update(zip(items, last.items, strict=True))

    def finish(self) -> list[Value]:
        """End a step, with the new values of the carried numbers."""
        self._take_tuples_apart()
        aliases = dict(self.guess.aliases)
        kinds, late, places, fixed = (
            dict(self.kinds),
            set(self.guess.late),
            set(self.guess.places),
            {**self.guess.fixed},
        )
        unsure = {n for n in self.numbers if getattr(self.p.env.get(n), "bound", None) is not None}
        unsure |= set(self.unsure)
        outputs = [value for name in self.numbers for value in self._last(name, kinds)]
        env = self.p.env
        outputs += self._flags(env)
        replaced: list[tuple[str, View, View]] = []
        if any(map(is_stale, self.before.values())):
            raise CutProblem(
                "a loop changes an array that a mask has selected from, or that another array is a view of"
            )
        for name in sorted(self.names - set(self.numbers) - self.tuples.keys()):
            first, last = self.before.get(name), env.get(name)
            if first is last:
                continue
            is_new = first is None or isinstance(first, Unset)
            if name == RETURNED and not isinstance(last, Number):
                self._return(last, kinds, late, fixed)
            elif is_new and isinstance(last, Number) and (name in self.live or name in JUMPED):
                late.add(name)
                kinds[name] = plain(last.kind), last.other
                if name not in JUMPED and (last.bound is not None or self.counted is None):
                    unsure.add(name)
            elif is_new and isinstance(last, View):
                self.made[name] = last
            elif isinstance(first, View) and isinstance(last, View):
                if first != last:
                    replaced.append((name, first, last))
            elif isinstance(first, View) and name not in places and isinstance(last, Unset):
                places.add(name)  # then both sides of a branch store to one place
            elif not is_new and not (isinstance(first, Known) and first == last):
                raise CutProblem(f"'{name}' is not a number or an array before and behind each step of a loop")
        self._find_aliases(replaced, aliases)
        self._replace(replaced, places)
        self._check_places()
        found = Guess(kinds, frozenset(late), frozenset(places), frozenset(unsure), fixed, aliases)
        if found != replace(self.guess, kinds=self.kinds, unsure=frozenset(self.unsure)):
            self.better = found
        return outputs

    def _return(self, last: Abstract | None, kinds: dict[str, Any], late: set[str], fixed: dict[str, Abstract]) -> None:
        """Carries what is returned from inside a loop: numbers, also in a tuple, and arrays that were there before."""
        items = {RETURNED: last}
        if isinstance(last, TupleValue) and not last.is_list:
            items = {f"{RETURNED}.{k}": item for k, item in enumerate(last.items)}
        for name, item in items.items():
            if isinstance(item, Number) and name not in fixed:
                if name not in self.numbers:
                    late.add(name)
                    kinds[name] = plain(item.kind), item.other
            elif isinstance(item, View) and fixed.get(name, item) == item and item in self.before.values():
                fixed[name] = item
            else:
                raise CutProblem("an array, or another value that is no number, is returned from inside a loop")

    def _find_aliases(self, replaced: Sequence[tuple[str, View, View]], aliases: dict[str, BufferValue]) -> None:
        """Find variables that refer to memory of the caller, or of another variable that lives on."""
        env, places = self.p.env, {self.p.places[name].buffer for name in self.guess.places}
        lives_on = (self.before.keys() - self.bound) | self.names | self.live
        for name, _, last in replaced:
            buffer = last.buffer
            others = [key for key, value in env.items() if key != name and key in lives_on and sees(value, last)]
            if buffer.origin is None and not others:
                continue
            is_new = not any(sees(value, last) for value in self.before.values())
            if buffer in places or (is_new and buffer.origin is None) or aliases.get(name, buffer) is not buffer:
                raise CutProblem(
                    f"'{name}' and '{others[0] if others else name}' refer to one array behind a step of a loop"
                )
            aliases[name] = buffer

    def _replace(self, replaced: Sequence[tuple[str, View, View]], places: set[str]) -> None:
        """Copies arrays that variables refer to after a step to the places that the loop carries for them."""
        p = self.p
        for name, first, last in replaced:
            is_other = first.buffer.shadow is not None and name not in self.guess.aliases
            if is_other or last.buffer.shadow is not None:
                raise CutProblem(f"the array '{name}' may be a view of another one in each step of a loop")
            if last.dtype != first.dtype or not p.e.facts.agree(last.shape, first.shape):
                raise KindChanges(f"the array '{name}' has another shape or dtype in each step of a loop")
            if p.e.order_like(last) != p.e.order_like(first):
                raise KindChanges(f"the memory order of the array '{name}' changes from step to step of a loop")
        mine = [(first, last) for name, first, last in replaced if name in places]
        owned = [first.buffer for first, _ in mine]
        values = [self._apart(last) if last.buffer in owned else last for _, last in mine]
        for (first, _), value in zip(mine, values, strict=True):
            shadow, first.buffer.shadow = first.buffer.shadow, None
            p.copy(first, value)
            first.buffer.shadow = shadow
            self.allowed[first.buffer] = self.allowed.get(first.buffer, 0) + 1
        places.update(name for name, _, _ in replaced)

    def _apart(self, view: View) -> View:
        made = self.p.e.allocate(view.dtype, view.shape)
        self.p.copy(made, view)
        return made

    def _check_places(self) -> None:
        """Cuts loops in which a place shows that it is no new array for each step.

        A store into the array itself would have to reach what the variable was before the loop, and another name of
        the array would have to keep it.
        """
        for name, version, is_own in self.started:
            buffer = self.p.places[name].buffer
            writes = self.allowed.get(buffer, 0) + self.p.place_writes.get(buffer, 0)
            if buffer.version - version != writes and not is_own:
                raise CutProblem(f"the array '{name}' is changed in place and replaced in a loop")
            if any(view.buffer is buffer for view in self.made.values()):
                raise CutProblem(f"the array '{name}' has another name behind a loop that replaces it")

    def _last(self, name: str, kinds: dict[str, tuple[NumberKind, NumberKind | None]]) -> tuple[Value, ...]:
        number, (kind, other) = self.p.env.get(name), self.kinds[name]
        returned = self.p.env.get(RETURNED)
        if name.startswith(f"{RETURNED}.") and isinstance(returned, TupleValue):
            number = returned.items[int(name.rpartition(".")[2])]
        if isinstance(number, View):
            raise KindChanges(f"'{name}' is a number before a step of a loop and an array after it")
        if isinstance(number, Unset) and number.kinds:
            raise KindsMeet(name, number)
        if not isinstance(number, Number):
            reason = number.name if isinstance(number, Unset) else f"'{name}' is no number at the end of a step"
            raise CutProblem(reason)
        first = Number(kind, other=other) if name in self.guess.late else self.before[name]
        try:
            kinds[name] = join(first, number)
        except CutProblem as problem:
            raise KindChanges(f"'{name}': {problem.reason}") from problem
        if kinds[name] != (kind, other):
            return zeros(self.p.e, dtype_of(kind))  # the loop is lowered again
        if plain(number.kind) == kind and (number.other is None or number.settle is not None):
            self.settles[name] = number.settle or _nothing
        return number_parts(self.p.e, number, dtype_of(kind))

    def widened(self, met: KindsMeet) -> Guess | None:
        """Guess kinds for a number that is known before the loop, and of another kind after a branch of a step."""
        name, first, guess = met.name, self.before.get(met.name), self.guess
        if name not in self.numbers or name in guess.late or not isinstance(first, Number) or first.known is None:
            return None
        for kind in met.kinds:
            with suppress(CutProblem):
                if kind != plain(first.kind) and (found := join(first, Number(kind))) != self.kinds[name]:
                    kinds = {**self.kinds, name: found}
                    return replace(guess, kinds=kinds, unsure=frozenset(self.unsure))
        return None

    def _settle(self, name: str) -> Callable[[], None] | None:
        """Demands a step of this loop, and of those inside it that give a number its kind."""
        inner, counted = self.settles.get(name), self.counted
        if inner is None or counted is None:
            return None

        def settle() -> None:
            counted.demand()
            inner()

        return settle

    def end(self, results: Sequence[Value]) -> None:
        """End the loop and bind the variables to their values after it."""
        env = self.p.env = dict(self.before)
        for name in self.bound - set(self.numbers) - self.guess.places:
            if name not in self.names or name not in self.before or isinstance(self.before[name], Unset):
                env[name] = Unset(f"'{name}' gets its value in a loop")
        flags: dict[str, Value] = {}
        counted = self.counted
        late = frozenset(n for n in self.guess.late if n not in self.unsure and not n.startswith(RETURNED))
        is_inside = any(scope.is_loop for scope in self.p.e.scopes)
        if late and is_inside and counted is not None:  # another step of the loop around it may bind them
            had_step = counted.had_step()
            flags.update((name, had_step) for name in late if had_step is not None)
            late = NONE
        for name, number in self._of_values(results):
            env[name] = replace(number, settle=self._settle(name), bound=flags.get(name, number.bound))
        self._join_returned()
        self._join_tuples()
        shared = {name for name, _, is_own in self.started if not is_own}  # without a step they are the array itself
        given = {name for name, (_, old) in self.tuples.items() if old.path is not None}
        new = (late | self.made.keys() | shared | given) & self.live
        if new and counted is not None:
            counted.demand()
            for name, view in self.made.items():
                if self.p.e.is_visible(*view.shape, *view.starts):
                    env[name] = view
        elif new:
            for name in new:
                env[name] = Unset(f"'{name}' gets its value in a loop that may have no step")


def _split_tuples(env: Environment, names: Names) -> dict[str, tuple[list[str], TupleValue]]:
    """Replace the tuples that a loop changes by variables for their items."""
    found = {}
    for name in sorted(names - {RETURNED}):
        value = env.get(name)
        if isinstance(value, TupleValue) and all(isinstance(item, (Number, View)) for item in value.items):
            items = [f"{name}.{k}" for k in range(len(value.items))]
            found[name] = items, value
            del env[name]
            env.update(zip(items, value.items, strict=True))
    return found

"""Lower `for` and `while`: numbers that change are carried from step to step, arrays are places in memory.

The kinds of carried variables are guessed from what they are before the loop. If the body ends with another kind, the
loop is lowered again with a kind that fits both, or its first step is peeled, twice at most. A loop with `break` or
`return` becomes a `nest.while`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from ...ir import dims
from ...ir.dims import LOOP, Size
from ...ir.dtypes import I64
from ...ir.graph import Value
from ...ir.nest import ops
from ...ir.records import record
from ...ir.types import Sizes
from .arithmetic import INT, TRUTH, apply, as_int, cast_number, join, negation, truth, value_of
from .indexing import count_of
from .kinds import Known
from .lowering import BREAK, CONTINUE, NEVER, RETURN, RETURNED, Lowering, types_of
from .names import Names, bound_names, exposed
from .values import (
    Abstract,
    Buffer,
    CutProblem,
    Environment,
    Iteration,
    Number,
    NumberKind,
    RangeValue,
    Selected,
    TupleValue,
    Unset,
    View,
    constant,
    dtype_of,
    plain,
)

MOST_PEELED = 2
MOST_TRIES = 8
MOST_UNROLLED = 64
NONE: Names = frozenset()
JUMPED = (RETURN, RETURNED)
ZEROS = {"bool": False, "int": 0, "uint": 0, "float": 0.0, "complex": 0j}
Loop = Union[ast.For, ast.While]
Body = Callable[[], None]
Assign = Callable[[ast.expr, Abstract], None]


@record(eq=False)
class Steps:
    """The range that a `for` iterates over: numbers from `first` to `end`, and the variable's value for each."""

    first: Size
    end: Size
    item: Callable[[Size], Abstract]

    def from_zero(self) -> Steps:
        if self.first == 0:
            return self
        return Steps(0, self.end - self.first, lambda k: self.item(k + self.first))


class KindChanges(Exception):
    """Raised when a variable has another kind at the end of a step than at its start, and no kind fits both."""


def steps_of(p: Lowering, over: Abstract) -> Steps:
    """The steps of something that can be iterated over."""
    e = p.e
    if isinstance(over, RangeValue):
        return _range_steps(p, over)
    if isinstance(over, View):
        if not over.rank:
            raise CutProblem("this raises TypeError: iteration over an array without dimensions")
        return Steps(0, over.shape[0], lambda k: element(p, over, k))
    if isinstance(over, Iteration) and over.name == "enumerate":
        inner, start = steps_of(p, over.over[0]).from_zero(), over.start or constant(0)
        if start.size is None:
            raise CutProblem("the start of enumerate must be a size")
        begin = start.size
        return Steps(0, inner.end, lambda k: TupleValue((Number(INT, size=k + begin), inner.item(k))))
    if isinstance(over, Iteration) and over.name == "zip":
        parts = [steps_of(p, x).from_zero() for x in over.over]
        end = parts[0].end
        for part in parts[1:]:
            end = end if e.proves(part.end - end) else part.end if e.proves(end - part.end) else _smaller(end, part.end)
        return Steps(0, end, lambda k: TupleValue(tuple(part.item(k) for part in parts)))
    if isinstance(over, Iteration) and over.name == "reversed":
        inner = steps_of(p, over.over[0]).from_zero()
        return Steps(0, inner.end, lambda k: inner.item(inner.end - 1 - k))
    raise CutProblem("this can't be iterated over in native code")


def _smaller(a: Size, b: Size) -> Size:
    return dims.minimum(a, b)


def _range_steps(p: Lowering, over: RangeValue) -> Steps:
    e = p.e
    if over.step.known is None or not isinstance(over.step.known, int) or over.step.known == 0:
        raise CutProblem("the step of a range must be a constant other than 0")
    step = over.step.known
    start, stop = e.size_of(as_int(e, over.start)), e.size_of(as_int(e, over.stop))
    e.need(start, stop)
    if step == 1 and e.proves(start):
        return Steps(start, stop, lambda k: Number(INT, size=k))
    count = count_of(e, stop - start, step) if step > 0 else count_of(e, start - stop, -step)
    return Steps(0, count, lambda k: Number(INT, size=start + k * step))


def element(p: Lowering, view: View, k: Size) -> Abstract:
    """`view[k]` for an index that is known to be in range."""
    item = View(
        view.buffer, view.shape[1:],
        tuple(s + k * row[0] if row[0] else s for s, row in zip(view.starts, view.steps, strict=True)),
        tuple(row[1:] for row in view.steps),
    )  # fmt: skip
    return item if item.rank else p.load(item)


# -- for


def lower_for(p: Lowering, node: ast.For, assign: Assign, over: Abstract) -> None:
    """A `for` statement over something that is evaluated."""
    if isinstance(over, TupleValue):
        _unrolled(p, node, assign, over.items)
        return
    if isinstance(over, RangeValue) and over.step.known is None:
        _counted(p, node, assign, over)
        return
    steps = steps_of(p, over)
    for _ in range(MOST_PEELED + 1):
        mark = p.mark()
        try:
            _for(p, node, assign, steps)
            return
        except KindChanges as problem:
            p.reset(mark)
            if _ends_early(node):
                raise CutProblem(str(problem)) from problem
        _demand_step(p, steps)
        _step(p, node, assign, steps.item(steps.first))
        steps = Steps(steps.first + 1, steps.end, steps.item)
    raise CutProblem("a variable changes its kind in each step of a loop")


def _step(p: Lowering, node: ast.For, assign: Assign, item: Abstract) -> None:
    assign(node.target, item)
    p.block(node.body)
    p.env.pop(CONTINUE, None)


def _nothing() -> None:
    pass


def _demand_step(p: Lowering, steps: Steps) -> None:
    """Leave the piece if a loop runs no step."""
    if not p.e.is_visible(steps.first, steps.end):
        raise CutProblem("whether a loop has a step, and a variable its kind, depends on a loop around it")
    if not p.e.holds(steps.end - steps.first - 1):
        more = p.e.op("gt", p.e.size_number(steps.end - steps.first), p.e.constant(0, I64))
        p.e.check(more, "a loop has no step")


def _unrolled(p: Lowering, node: ast.For, assign: Assign, items: Sequence[Abstract]) -> None:
    """A `for` over the items of a tuple."""
    if len(items) > MOST_UNROLLED or _ends_early(node):
        raise CutProblem("a loop over a tuple is only supported for few items, without break or return")
    for item in items:
        _step(p, node, assign, item)
    p.block(node.orelse)


def _for(p: Lowering, node: ast.For, assign: Assign, steps: Steps) -> None:
    name = node.target.id if isinstance(node.target, ast.Name) else "k"
    variable = p.e.fresh(name if name.isascii() else "k")
    if _ends_early(node):
        _stepped(p, node, assign, variable, steps.from_zero())
        return
    body = lambda: _step(p, node, assign, steps.item(dims.symbol(LOOP + variable)))  # noqa: E731
    _carried(p, node, NONE, lambda c: _emit_for(p, c, variable, steps, body), lambda: _demand_step(p, steps))
    p.block(node.orelse)


def _emit_for(p: Lowering, carry: Carry, variable: str, steps: Steps, body: Body) -> Sequence[Value]:
    e, start = p.e, carry.start()
    e.enter(is_loop=True)
    e.variable(variable, steps.first, steps.end)
    carry.begin([e.builder.input("carried", v.type) for v in start])
    body()
    graph = e.leave(carry.finish())
    bounds = Sizes((steps.first, steps.end))
    return e.node(ops.FOR, start, types_of(start), graph, var=variable, range=bounds, kind="serial").results


def _stepped(p: Lowering, node: ast.For, assign: Assign, variable: str, steps: Steps) -> None:
    """A `for` that may end early, as a `while` over a counter."""
    e, counter = p.e, f"%{variable}"
    outer = p.env.get(BREAK, NEVER)
    p.env[BREAK] = NEVER
    p.env[counter] = Number(INT, e.constant(0, I64))

    def body() -> None:
        value = value_of(e, p.env[counter])
        e.node(ops.BIND, (value,), (), var=variable, range=Sizes((0, steps.end)))
        e.variable(variable, 0, steps.end)
        _step(p, node, assign, steps.item(dims.symbol(LOOP + variable)))
        p.env[counter] = Number(INT, e.op("add", value, e.constant(1, I64)))

    def test() -> Number:
        return Number(TRUTH, e.op("lt", value_of(e, p.env[counter]), e.size_number(steps.end)))

    _carried(
        p, node, frozenset((counter,)), lambda c: _emit_while(p, c, test, body), lambda: _demand_step(p, steps)
    )  # fmt: skip
    p.env.pop(counter)
    _otherwise(p, node, outer)


def _counted(p: Lowering, node: ast.For, assign: Assign, over: RangeValue) -> None:
    """A `for` over a range whose step is not known when compiling, but must be positive, as a `while`."""
    e, counter = p.e, p.e.fresh("%count")
    outer = p.env.get(BREAK, NEVER)
    p.env[BREAK] = NEVER
    step, stop = (value_of(e, as_int(e, x)) for x in (over.step, over.stop))
    e.check(e.op("gt", step, e.constant(0, I64)), "the step of a range is not positive")
    p.env[counter] = Number(INT, value_of(e, as_int(e, over.start)))

    def body() -> None:
        current = p.env[counter]
        _step(p, node, assign, Number(INT, current.value))
        p.env[counter] = apply(e, "add", (Number(INT, current.value), Number(INT, step)))

    def test() -> Number:
        return Number(TRUTH, e.op("lt", value_of(e, p.env[counter]), stop))

    try:
        _carried(p, node, frozenset((counter,)), lambda c: _emit_while(p, c, test, body), None)
    except KindChanges as problem:
        raise CutProblem(str(problem)) from problem
    p.env.pop(counter)
    _otherwise(p, node, outer)


def _otherwise(p: Lowering, node: Loop, outer: Number) -> None:
    """Run the `else` of a loop that has not met `break`, and clear its own `break`."""
    broken = p.env.get(BREAK, NEVER)
    p.env[BREAK] = outer
    if node.orelse:
        returned = p.env.get(RETURN, NEVER)
        p.branch(negation(p.e, p.either(broken, returned)), lambda: p.block(node.orelse))


# -- while


def lower_while(p: Lowering, node: ast.While, evaluate: Callable[[ast.expr], Number]) -> None:
    """A `while` statement."""
    outer = p.env.get(BREAK, NEVER)
    p.env[BREAK] = NEVER

    def body() -> None:
        p.block(node.body)
        p.env.pop(CONTINUE, None)

    try:
        _carried(p, node, NONE, lambda c: _emit_while(p, c, lambda: evaluate(node.test), body), None)
    except KindChanges as problem:
        raise CutProblem(str(problem)) from problem
    _otherwise(p, node, outer)


def _emit_while(p: Lowering, carry: Carry, test: Callable[[], Number], body: Body) -> Sequence[Value]:
    e, start = p.e, carry.start()
    e.enter(is_loop=True)
    carry.begin([e.builder.input("carried", v.type) for v in start])
    condition = truth(e, test())
    for flag in (BREAK, RETURN):
        number = p.env.get(flag, NEVER)
        if number.known is None:
            both = e.op("logical_and", value_of(e, condition), value_of(e, negation(e, number)))
            condition = Number(TRUTH, both)
        if flag in p.env:
            p.env[flag] = NEVER
    go = value_of(e, condition)
    e.enter()
    body()
    outputs = carry.finish()
    inside = e.leave(outputs)
    results = e.node(ops.WHEN, (go,), types_of(outputs), inside).results
    e.node(ops.ASK, (), ())
    return e.node(ops.WHILE, start, types_of(start), e.leave([go, *results])).results


# -- carried variables


def _carried(
    p: Lowering, node: Loop, own: Names, emit: Callable[[Carry], Sequence[Value]], demand: Callable[[], None] | None
) -> None:
    """Lower a loop repeatedly until it is known what it carries."""
    guess = Guess({}, frozenset(), frozenset())
    names = _names(p, node) | own
    for _ in range(MOST_TRIES):
        mark = p.mark()
        carry = Carry(p, names, p.live_behind(node), guess)
        results = emit(carry)
        if carry.better is None:
            carry.end(results, bound_names([node]), demand)
            return
        guess = carry.better
        p.reset(mark)
    raise CutProblem("the kinds of the variables that a loop carries can't be found")


def _names(p: Lowering, node: Loop) -> Names:
    """Return the variables that a loop may have to carry: those that it binds and that it, or later code, reads."""
    read = exposed(node.body) | p.live_behind(node)
    if isinstance(node, ast.While):
        read |= exposed([ast.Expr(node.test)])
    found = bound_names([node]) & read
    inside = list(ast.walk(node))
    if any(isinstance(n, ast.Return) for n in inside):
        found |= {RETURN, RETURNED}
    return found | {BREAK} if any(isinstance(n, ast.Break) for n in inside) else found


def _ends_early(node: Loop) -> bool:
    """Whether a loop has a `return`, or a `break` of its own."""
    todo: list[ast.AST] = list(node.body)
    while todo:
        part = todo.pop()
        if isinstance(part, (ast.Break, ast.Return)):
            return True
        if isinstance(part, (ast.For, ast.While)):
            if any(isinstance(n, ast.Return) for n in ast.walk(part)):
                return True
            todo += part.orelse
        elif isinstance(part, ast.stmt):
            todo += ast.iter_child_nodes(part)
    return False


@record
class Guess:
    """What a loop carries: numbers with their kinds, those of them that have no value before it, and arrays."""

    kinds: Mapping[str, tuple[NumberKind, NumberKind | None]]
    late: Names
    places: Names


class Carry:
    """What one attempt to lower a loop carries. `better` is a better guess, if this one was wrong."""

    def __init__(self, p: Lowering, names: Names, live: Names, guess: Guess) -> None:
        returned = p.env.get(RETURNED)
        if RETURNED in names and isinstance(returned, TupleValue):
            p.env.update((f"{RETURNED}.{k}", item) for k, item in enumerate(returned.items))
            names |= {f"{RETURNED}.{k}" for k in range(len(returned.items))}
        self.p, self.names, self.live, self.guess = p, names, live, guess
        self.better: Guess | None = None
        self.before: Environment = p.env
        self.made: dict[str, View] = {}
        self.settles: dict[str, Callable[[], None]] = {}  # what makes numbers be of their first kind, after any step
        self.started: list[tuple[str, int, bool]] = []  # places, and how often they had been stored to
        self.allowed: dict[Buffer, int] = {}  # stores to places that replace the array
        early = [n for n in sorted(names) if isinstance(p.env.get(n), Number)]
        self.numbers = (*early, *sorted(guess.late))
        self.kinds = {n: guess.kinds.get(n) or (plain(p.env[n].kind), p.env[n].other) for n in self.numbers}

    def start(self) -> list[Value]:
        """Return the values before the loop; arrays that it replaces get separate memory."""
        p = self.p
        for name in sorted(self.guess.places):
            view = p.env[name]
            is_own = p.is_only_name(name, view)
            place = p.e.allocate(view.dtype, view.shape)
            p.copy(place, view)
            p.env[name] = p.places[name] = place
            self.started.append((name, place.buffer.version, is_own))
        self.before = dict(p.env)
        return [self._first(name) for name in self.numbers]

    def _first(self, name: str) -> Value:
        dtype = dtype_of(self.kinds[name][0])
        if name in self.guess.late:
            return self.p.e.constant(ZEROS[dtype.kind], dtype)
        return cast_number(self.p.e, self.before[name], dtype)

    def begin(self, inputs: Sequence[Value]) -> None:
        """Starts a step, in which the variables have the carried values."""
        self.p.env = dict(self.before)
        for name, value in zip(self.numbers, inputs, strict=True):
            kind, other = self.kinds[name]
            self.p.env[name] = Number(kind, value, other=other)
        self._join_returned()

    def _join_returned(self) -> None:
        """Makes the returned tuple of its items, which are carried one by one."""
        parts = [name for name in self.numbers if name.startswith(f"{RETURNED}.")]
        if parts:
            self.p.env[RETURNED] = TupleValue(tuple(self.p.env[f"{RETURNED}.{k}"] for k in range(len(parts))))

    def finish(self) -> list[Value]:
        """End a step, with the new values of the carried numbers."""
        kinds, late, places = dict(self.kinds), set(self.guess.late), set(self.guess.places)
        outputs = [self._last(name, kinds) for name in self.numbers]
        env = self.p.env
        replaced: list[tuple[str, View, View]] = []
        if any(isinstance(value, Selected) and value.is_stale for value in self.before.values()):
            raise CutProblem("a loop changes an array from which a mask has selected")
        for name in sorted(self.names - set(self.numbers)):
            first, last = self.before.get(name), env.get(name)
            if first is last:
                continue
            is_new = first is None or isinstance(first, Unset)
            if name == RETURNED and not isinstance(last, Number):
                self._return_tuple(last, kinds, late)
            elif is_new and isinstance(last, Number) and (name in self.live or name in JUMPED):
                late.add(name)
                kinds[name] = plain(last.kind), last.other
            elif is_new and isinstance(last, View):
                self.made[name] = last
            elif isinstance(first, View) and isinstance(last, View):
                if first != last:
                    replaced.append((name, first, last))
            elif isinstance(first, View) and name not in places and isinstance(last, Unset):
                places.add(name)  # then both sides of a branch store to one place
            elif not is_new and not (isinstance(first, Known) and first == last):
                raise CutProblem(f"'{name}' is not a number or an array before and behind each step of a loop")
        self._replace(replaced, places)
        self._check_places()
        if kinds != self.kinds or late != self.guess.late or places != self.guess.places:
            self.better = Guess(kinds, frozenset(late), frozenset(places))
        return outputs

    def _return_tuple(self, last: Abstract | None, kinds: dict[str, Any], late: set[str]) -> None:
        """Carries the items of a tuple that is returned from inside a loop."""
        if not isinstance(last, TupleValue) or not all(isinstance(item, Number) for item in last.items):
            raise CutProblem("an array, or another value that is no number, is returned from inside a loop")
        for k, item in enumerate(last.items):
            name = f"{RETURNED}.{k}"
            if isinstance(item, Number) and name not in self.numbers:
                late.add(name)
                kinds[name] = plain(item.kind), item.other

    def _replace(self, replaced: Sequence[tuple[str, View, View]], places: set[str]) -> None:
        """Copies arrays that variables refer to after a step to the places that the loop carries for them."""
        p = self.p
        for name, first, last in replaced:
            if last.dtype != first.dtype or not p.e.facts.agree(last.shape, first.shape):
                raise CutProblem(f"the array '{name}' has another shape or dtype in each step of a loop")
        mine = [(first, last) for name, first, last in replaced if name in places]
        owned = [first.buffer for first, _ in mine]
        values = [self._apart(last) if last.buffer in owned else last for _, last in mine]
        for (first, _), value in zip(mine, values, strict=True):
            p.copy(first, value)
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

    def _last(self, name: str, kinds: dict[str, tuple[NumberKind, NumberKind | None]]) -> Value:
        number, (kind, other) = self.p.env.get(name), self.kinds[name]
        returned = self.p.env.get(RETURNED)
        if name.startswith(f"{RETURNED}.") and isinstance(returned, TupleValue):
            number = returned.items[int(name.rpartition(".")[2])]
        if not isinstance(number, Number):
            reason = number.name if isinstance(number, Unset) else f"'{name}' is no number at the end of a step"
            raise CutProblem(reason)
        first = Number(kind, other=other) if name in self.guess.late else self.before[name]
        try:
            kinds[name] = join(first, number)
        except CutProblem as problem:
            raise KindChanges(f"'{name}': {problem.reason}") from problem
        if kinds[name] != (kind, other):
            return self.p.e.constant(ZEROS[dtype_of(kind).kind], dtype_of(kind))  # the loop is lowered again
        if plain(number.kind) == kind and (number.other is None or number.settle is not None):
            self.settles[name] = number.settle or _nothing
        return cast_number(self.p.e, number, dtype_of(kind))

    def _settle(self, name: str, demand: Callable[[], None] | None) -> Callable[[], None] | None:
        """Demands a step of this loop, and of those inside it that give a number its kind."""
        inner = self.settles.get(name)
        if inner is None or demand is None:
            return None

        def settle() -> None:
            demand()
            inner()

        return settle

    def end(self, results: Sequence[Value], bound: Names, demand: Callable[[], None] | None) -> None:
        """End the loop and bind the variables to their values after it."""
        env = self.p.env = dict(self.before)
        for name in bound - set(self.numbers) - self.guess.places:
            if name not in self.names or name not in self.before or isinstance(self.before[name], Unset):
                env[name] = Unset(f"'{name}' gets its value in a loop")
        for name, value in zip(self.numbers, results, strict=True):
            kind, other = self.kinds[name]
            env[name] = Number(kind, value, other=other, settle=self._settle(name, demand))
        self._join_returned()
        shared = {name for name, _, is_own in self.started if not is_own}  # without a step they are the array itself
        new = (self.guess.late | self.made.keys() | shared) & self.live
        if new and demand is not None:
            demand()
            for name, view in self.made.items():
                if self.p.e.is_visible(*view.shape, *view.starts):
                    env[name] = view
        elif new:
            for name in new:
                env[name] = Unset(f"'{name}' gets its value in a loop that may have no step")

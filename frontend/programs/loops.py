"""Lower `for` and `while`: numbers that change are carried from step to step, arrays are places in memory.

The kinds of carried variables are guessed from their values before the loop. If the body ends with another kind, the
loop is lowered again with a kind that fits both, or its first step is peeled, twice at most. A loop with `break` or
`return` becomes a `nest.while`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Union

from ...ir import dims
from ...ir.dims import LOOP, Size
from ...ir.dtypes import I64
from ...ir.graph import Value
from ...ir.nest import ops
from ...ir.records import record
from ...ir.types import Sizes
from .arithmetic import INT, TRUTH, apply, as_int, negation, truth, value_of
from .arrays.indexing import count_of
from .carrying.merging import types_of
from .carrying.numbers import KindsMeet
from .carrying.variables import Carry, Guess
from .carrying.zeros import begin_with_zeros
from .context import BREAK, CONTINUE, NEVER, RETURN, RETURNED, Lowering
from .reading.names import Names, bound_names, exposed, walk_own
from .values import (
    Abstract,
    BecomesArray,
    CutProblem,
    Iteration,
    KindChanges,
    Number,
    RangeValue,
    TupleValue,
    TwoKinds,
    View,
    constant,
)

MOST_PEELED = 2
MOST_TRIES = 8
MOST_UNROLLED = 64
NONE: Names = frozenset()
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


def steps_of(p: Lowering, over: Abstract) -> Steps:
    """Find the steps of something that can be iterated over."""
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
    """Return `view[k]` for an index that is known to be in range."""
    item = View(
        view.buffer, view.shape[1:],
        tuple(s + k * row[0] if row[0] else s for s, row in zip(view.starts, view.steps, strict=True)),
        tuple(row[1:] for row in view.steps),
        view.is_part,
        True,
    )  # fmt: skip
    return item if item.rank else p.load(item)


# -- for


def lower_for(p: Lowering, node: ast.For, assign: Assign, over: Abstract) -> None:
    """Lower a `for` statement over something that is already evaluated."""
    if isinstance(over, TupleValue):
        _unrolled(p, node, assign, over.items)
        return
    if isinstance(over, RangeValue) and over.step.known is None:
        _counted(p, node, assign, over)
        return
    steps = steps_of(p, over)
    found, array = CutProblem(""), None
    for _ in range(MOST_PEELED + 1):
        mark = p.mark()
        try:
            _for(p, node, assign, steps)
            return
        except (KindChanges, TwoKinds) as problem:
            p.reset(mark)
            found = problem if isinstance(problem, TwoKinds) else CutProblem(str(problem))
            array = problem if isinstance(problem, BecomesArray) else None
            if _ends_early(node):
                raise found from problem
        _Count(p, steps).demand()
        if array is not None and begin_with_zeros(p, node, array.name, array.last):
            continue
        _lone_step(p, node, assign, steps.item(steps.first))
        steps = Steps(steps.first + 1, steps.end, steps.item)
    raise found


def _step(p: Lowering, node: ast.For, assign: Assign, item: Abstract) -> None:
    assign(node.target, item)
    p.block(node.body)
    p.env.pop(CONTINUE, None)


def _lone_step(p: Lowering, node: ast.For, assign: Assign, item: Abstract) -> None:
    """Lower one step outside the nest's loop.

    What it binds before `continue` is seen by later steps and after the loop.
    """
    around, p.carried = p.carried, _names(p, node)
    try:
        _step(p, node, assign, item)
    finally:
        p.carried = around


@record(eq=False)
class _Count:
    """How many steps a loop has."""

    p: Lowering
    steps: Steps

    def demand(self) -> None:
        """Leave the piece if a loop runs no step."""
        if not self.p.e.is_visible(self.steps.first, self.steps.end):
            raise CutProblem(
                "whether a loop has a step, which decides the kind of a variable, depends on a loop around it"
            )
        if not self.p.e.holds(self.steps.end - self.steps.first - 1):
            more = self.had_step()
            assert more is not None
            self.p.e.check(more, "a loop has no step")

    def most(self) -> Size:
        return self.steps.end - self.steps.first

    def had_step(self) -> Value | None:
        e, count = self.p.e, self.steps.end - self.steps.first
        return None if e.proves(count - 1) else e.op("gt", e.size_number(count), e.constant(0, I64))


def _unrolled(p: Lowering, node: ast.For, assign: Assign, items: Sequence[Abstract]) -> None:
    """A `for` over the items of a tuple."""
    if len(items) > MOST_UNROLLED or _ends_early(node):
        raise CutProblem("a loop over a tuple is only supported for few items, without break or return")
    for item in items:
        _lone_step(p, node, assign, item)
    p.block(node.orelse)


def _for(p: Lowering, node: ast.For, assign: Assign, steps: Steps) -> None:
    name = node.target.id if isinstance(node.target, ast.Name) else "k"
    variable = p.e.fresh(name if name.isascii() else "k")
    if _ends_early(node):
        _stepped(p, node, assign, variable, steps.from_zero())
        return
    body = lambda: _step(p, node, assign, steps.item(dims.symbol(LOOP + variable)))  # noqa: E731
    _carried(p, node, NONE, lambda c: _emit_for(p, c, variable, steps, body), _Count(p, steps))
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
    """Lower a `for` that may end early, as a `while` over a counter."""
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

    _carried(p, node, frozenset((counter,)), lambda c: _emit_while(p, c, test, body), _Count(p, steps))
    p.env.pop(counter)
    _otherwise(p, node, outer)


def _counted(p: Lowering, node: ast.For, assign: Assign, over: RangeValue) -> None:
    """Lower a `for` over a range whose step is not known at compile time, but must be positive, as a `while`."""
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
    p: Lowering, node: Loop, own: Names, emit: Callable[[Carry], Sequence[Value]], counted: _Count | None
) -> None:
    """Lower a loop repeatedly until it is known what the loop carries."""
    guess = Guess()
    names, bound = _names(p, node) | own, bound_names([node])
    for _ in range(MOST_TRIES):
        mark, around = p.mark(), p.carried
        carry = Carry(p, names, bound, p.live_behind(node), guess, counted)
        p.carried = names
        try:
            results = emit(carry)
        except KindsMeet as met:
            carry.better, results = carry.widened(met), ()
            if carry.better is None:
                raise
        finally:
            p.carried = around
        if carry.better is None:
            carry.end(results)
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
    inside = list(walk_own(node))
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
            if any(isinstance(n, ast.Return) for n in walk_own(part)):
                return True
            todo += part.orelse
        elif isinstance(part, ast.stmt) and not isinstance(part, ast.FunctionDef):
            todo += ast.iter_child_nodes(part)
    return False

"""Hold the state of a lowering: variables, the emitter, the current expression, and branches that merge variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dims import LOOP
from ...ir.dtypes import F64, DType
from ...ir.graph import Value
from ...ir.records import replace
from .arithmetic import cast_number, fitted_int, negation, value_of
from .arrays.drafts import Draft, materialized
from .arrays.waiting import count_uses, is_function_of_elements, is_simple
from .carrying.merging import Merged, Merger
from .emit import NestEmitter, NestScope
from .kinds import NumpyScalar, PythonNumber
from .reading.meanings import Meanings
from .reading.names import Names
from .values import (
    Abstract,
    BufferValue,
    CutProblem,
    Environment,
    Expression,
    FunctionFrame,
    Number,
    Selected,
    TupleValue,
    Unset,
    View,
    constant,
)

BREAK, CONTINUE, RETURN, RETURNED = "%break", "%continue", "%return", "%returned"
FLAGS = (BREAK, CONTINUE, RETURN)
NEVER = constant(False)
ALWAYS = constant(True)
Resolver = Callable[[str], "Abstract | None"]
Sources = Callable[[FunctionType], Sequence[ast.stmt] | str]
"""Finds the statements of a function, or says why they are not known."""
Run = Callable[["Lowering", ast.stmt], None]
Call = Callable[["Lowering", ast.Call], "Abstract"]
Inline = Callable[["Lowering", Any, Sequence["Abstract"], Mapping[str, "Abstract"]], "Abstract"]


class Lowering:
    """One piece that is being lowered. `names` finds what is not a variable: globals, closures and builtins."""

    def __init__(
        self,
        e: NestEmitter,
        run: Run,
        call: Call,
        inline: Inline,
        env: Environment,
        names: Resolver,
        live: Mapping[int, Names],
        after: Names,
        sources: Sources,
        paths: Mapping[int, str],
    ) -> None:
        self.e = e
        self.run, self.call, self.inline = run, call, inline  # lower a statement, evaluate a call, and inline one
        self.env = env
        self.names = names
        self.frame = FunctionFrame(names)  # of the function whose statements are lowered
        self.live = live  # variables that are live behind a statement, by its identity
        self.after = after  # variables that are live behind all statements
        self.sources = sources
        self.paths = paths  # the variable for each attribute or item that is an input
        self.draft = Draft(e)
        self.drafts: list[Draft] = []  # of statements that call an inlined function
        self.inlined: list[Any] = []
        self.called: list[tuple[Any, Abstract]] = []  # calls of inlined functions whose results may be used again
        self.meanings = Meanings()  # of the names in functions that are inlined, and attributes of modules
        self.place_writes: dict[BufferValue, int] = {}  # stores that replace such an array
        self.carried: Names = frozenset()  # variables that the loop around here may have to carry
        self.places: dict[str, View] = {}  # arrays that a loop carries, by variable
        self.node: ast.AST | None = None
        self.following: Sequence[ast.stmt] = ()
        self.waiting: dict[
            str, int
        ] = {}  # variables of this function that are expressions: how often they are used yet
        e.before_store = self.compute_waiting

    def live_behind(self, node: ast.stmt) -> Names:
        return self.live.get(id(node), frozenset()) | self.after

    # -- expressions

    def computed(self, value: Abstract, node: ast.AST | None = None) -> Abstract:
        """Return the value after computing array expressions."""
        if isinstance(value, Expression):
            return materialized(self.draft, value, node)
        if isinstance(value, Selected):
            parts = [self.computed(x, node) for x in (value.value, value.mask)]
            array, mask = (x for x in parts if isinstance(x, View))
            return Selected(array, mask, tuple((x.buffer, x.buffer.version) for x in (array, mask)))
        if isinstance(value, TupleValue):
            items = tuple(self.computed(i, node) for i in value.items)
            is_done = all(a is b for a, b in zip(items, value.items, strict=True))  # then it is the same object
            return value if is_done else TupleValue(items, value.is_list, value.path)
        return value

    # -- expressions that wait for their use

    def wait(self, name: str, value: Expression) -> bool:
        """Bind a variable to an expression that is computed where it is used, if it is used in one place."""
        uses = count_uses(name, self.following, self.live, self.after)
        if not uses or not value.value.type.shape or not is_function_of_elements(value.value):
            return False
        self.env[name] = value
        self.waiting[name] = uses
        return True

    def compute_waiting(self, buffer: BufferValue | None = None) -> None:
        """Compute the expressions that wait, or only those that read a buffer."""
        for name in sorted(self.waiting):
            value = self.env.get(name)
            if not isinstance(value, Expression):
                del self.waiting[name]  # of a branch that was left
            elif buffer is None or self.draft.reads(value.value, buffer):
                del self.waiting[name]
                self.env[name] = self.computed(value)

    def used(self, name: str) -> None:
        """Note that a variable is read. An expression that waited for this use is not needed any more."""
        if name not in self.waiting:
            return
        self.waiting[name] -= 1
        if not self.waiting[name]:
            del self.waiting[name]
            self.env[name] = Unset(f"'{name}' was used")

    def stores(self) -> None:
        """Note a store. Pending expressions of an enclosing statement might read the stored memory."""
        if any(not draft.is_empty for draft in self.drafts):
            raise CutProblem("a function that changes arrays is called inside an expression", self.node)

    def is_only_name(self, name: str, view: View) -> bool:
        """Whether nothing else refers to the memory of an array that a variable refers to."""
        if view.buffer.origin is not None or (self.inlined and self.places.get(name) != view):
            return False  # the caller of an inlined function may have a name for it
        return not any(sees(value, view) for key, value in self.env.items() if key != name)

    def bound(self, number: Number) -> Number:
        """Return a number, after a check that its variable has a value."""
        if number.bound is not None:
            self.e.check(number.bound, "a variable has no value")
        return replace(number, bound=None)

    def settled(self, value: Abstract) -> Abstract:
        """Return a number, after checks that it has a value and is of the first of its kinds."""
        if isinstance(value, Number) and value.bound is not None:
            value = self.bound(value)
        if isinstance(value, Number) and value.other is not None and value.settle is not None:
            value.settle()
            return replace(value, other=None, settle=None)
        return value

    def number(self, value: Abstract, what: str = "a number") -> Number:
        found = self.computed(value)
        if not isinstance(found, Number):
            raise CutProblem(f"{what} is needed here")
        return found

    def converted(self, value: Abstract) -> Number:
        """Return a number, or the only element of an array without dimensions, where Python and NumPy convert it to a
        number.
        """
        found = self.computed(value)
        return self.load(found) if isinstance(found, View) and not found.rank else self.number(found)

    # -- statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Lower statements. Those after a possible jump run only if it was not taken."""
        for k, statement in enumerate(statements):
            self.node, self.following = statement, statements[k + 1 :]
            if self.waiting and not is_simple(statement):
                self.compute_waiting()
            self.run(self, statement)
            if not self.waiting:
                self.draft = Draft(self.e)
            jumped = self.jumped()
            if jumped.known:
                return
            if jumped.known is None and k + 1 < len(statements):
                self._rest(statements[k + 1 :], jumped)
                return

    def _rest(self, statements: Sequence[ast.stmt], jumped: Number) -> None:
        unsure = [flag for flag in FLAGS if self.env.get(flag, NEVER).known is None]
        inner: Environment = {}

        def run() -> None:
            for flag in unsure:
                self.env[flag] = NEVER
            self.block(statements)
            inner.update((flag, self.env.get(flag)) for flag in FLAGS)

        self.branch(negation(self.e, jumped), run)
        if len(unsure) == 1 and _is_always(inner.get(unsure[0])):
            self.env[unsure[0]] = ALWAYS  # one way or the other

    # -- branches

    def branch(self, condition: Number, yes: Callable[[], None], no: Callable[[], None] | None = None) -> None:
        """Runs one of two parts, and merges the variables that they bind."""
        if condition.known is not None:
            chosen = yes if condition.known else no
            if chosen is not None:
                chosen()
            return
        test = value_of(self.e, condition)
        before, allocated = self.env, len(self.e.head)
        sides: list[tuple[NestScope, Environment]] = []
        for part in (yes, no):
            scope = self.e.enter()
            self.env = dict(before)
            if part is not None:
                part()
            self.e.pop()
            sides.append((scope, self.env))
        self.env = before
        self._merge(test, condition, sides, {node.result for node in self.e.head[allocated:]})

    def _merge(
        self, test: Value, condition: Number, sides: list[tuple[NestScope, Environment]], allocated: set[Value]
    ) -> None:
        merger = Merger(self.e, test, [scope for scope, _ in sides], self.env, allocated)
        (_, first), (_, second) = sides
        jumps = [any(_is_always(env.get(flag)) for flag in FLAGS) for _, env in sides]
        leaves = [_is_always(env.get(RETURN)) for _, env in sides]  # else what it binds is seen at the end of the step
        found: dict[str, Merged] = {}
        for name in dict.fromkeys((*first, *second)):
            a, b = (_flag(name, side.get(name)) for side in (first, second))
            if a is b:
                found[name] = _same(a)
            elif (
                name not in FLAGS
                and name != RETURNED
                and jumps[0] != jumps[1]
                and (any(leaves) or name not in self.carried)
            ):
                found[name] = merger.one(b if jumps[0] else a, int(jumps[0]), name)
            elif name == RETURNED and (a is None or b is None):
                found[name] = merger.one(a if b is None else b, int(a is None), name)
            else:
                found[name] = merger.either(a, b, name)
        merger.emit(condition)
        self.env.update((name, make()) for name, make in found.items())

    # -- flags

    def jumped(self) -> Number:
        """Whether a `break`, `continue` or `return` was met."""
        found = NEVER
        for flag in FLAGS:
            found = self.either(found, self.env.get(flag, NEVER))
        return found

    def either(self, a: Number, b: Number) -> Number:
        """Whether one of two flags is set."""
        if a.known is not None or b.known is not None:
            return ALWAYS if a.known or b.known else b if a.known is not None else a
        return Number(PythonNumber("bool"), self.e.op("logical_or", value_of(self.e, a), value_of(self.e, b)))

    # -- trying

    def mark(self) -> Any:
        """Save the state, so that it can be restored if what follows must be lowered in another way."""
        facts = self.e.facts
        scopes = [(len(s.builder.nodes), len(s.facts), len(s.ranges)) for s in self.e.scopes]
        known = facts.state()
        lists = (len(self.e.guards), len(self.e.head), len(self.called))
        return scopes, known, lists, set(self.e.needed), self.env, dict(self.env), dict(self.places)

    def reset(self, mark: Any) -> None:
        scopes, known, lists, needed, env, content, places = mark
        del self.e.scopes[len(scopes) :]
        for scope, (nodes, facts, ranges) in zip(self.e.scopes, scopes, strict=True):
            del scope.builder.nodes[nodes:], scope.facts[facts:], scope.ranges[ranges:]
            scope.loaded.clear()
            scope.bound.clear()
            scope.casts.clear()
        self.e.facts.restore(known)
        del self.e.guards[lists[0] :], self.e.head[lists[1] :], self.called[lists[2] :]
        self.e.needed = needed
        env.clear()
        env.update(content)
        self.env, self.places, self.waiting = env, places, {}
        self.draft = Draft(self.e)

    # -- memory

    def load(self, element: View) -> Number:
        """The number at a view without dimensions."""
        if element.dtype.kind == "complex":
            return Number(
                NumpyScalar(element.dtype), pair=(self.e.load(element.part(0), ()), self.e.load(element.part(1), ()))
            )
        return Number(NumpyScalar(element.dtype), self.e.load(element, ()))

    def copy(self, target: View, source: View) -> None:
        """Copies an array of the same shape and dtype."""
        draft = Draft(self.e)
        draft.emit([draft.leaf(source)], [target])

    def stored_number(self, number: Number, view: View) -> Value:
        """Convert a number to the dtype of an array that it is stored to, as NumPy does."""
        return self.stored_as(number, view.dtype)

    def stored_as(self, number: Number, dtype: DType) -> Value:
        if dtype.kind == "complex":
            raise CutProblem("a number becomes complex here, which is not compiled")
        if number.dtype.kind == "complex":
            raise CutProblem("this raises TypeError, or drops the imaginary part of a complex number")
        if number.known is not None and not isinstance(number.known, complex):
            demand_fit(number.known, dtype)
            return cast_number(self.e, number, dtype)
        value = value_of(self.e, number)
        if number.dtype.kind == "float" and dtype.is_integer:
            return self._truncated(value, dtype)
        if isinstance(number.kind, PythonNumber) and number.kind.name == "int" and not _is_index(number, dtype):
            return fitted_int(self.e, value, dtype)
        return self._bounded(value, dtype) if may_wrap(number, dtype) else self.e.cast(value, dtype)

    def _bounded(self, value: Value, dtype: DType) -> Value:
        """Convert an integer of NumPy to a signed dtype, which it must fit; unsigned dtypes take all."""
        made = self.e.cast(value, dtype)
        own = value.type.dtype
        assert isinstance(own, DType)
        same = self.e.op("eq", self.e.cast(made, own), value)
        if own.kind == "uint":
            same = self.e.op("logical_and", same, self.e.op("ge", made, self.e.constant(0, dtype)))
        self.e.check(same, f"an integer is out of bounds for {dtype.numpy.name}", "OverflowProblem")
        return made

    def _truncated(self, value: Value, dtype: DType) -> Value:
        """Convert a float to an integer dtype. If it does not fit, NumPy raises or warns."""
        real = self.e.cast(value, F64)
        limits = np.iinfo(dtype.numpy)
        low = self.e.op("gt", real, self.e.constant(max(float(limits.min) - 1, -(2.0**63)), F64))
        high = self.e.op("lt", real, self.e.constant(float(limits.max) + (dtype.bits < 64), F64))
        self.e.check(self.e.op("logical_and", low, high), "a float does not fit an integer", "OverflowProblem")
        return self.e.cast(value, dtype)


def demand_fit(number: complex, dtype: DType) -> None:
    """Refuse a number that NumPy does not store to integers."""
    if dtype.is_integer and not (abs(number) < 2**64 and not isinstance(number, complex) and _fits(int(number), dtype)):
        raise CutProblem(f"this raises OverflowError: {number} is out of bounds for {dtype}")


def may_wrap(number: Number, dtype: DType) -> bool:
    """Whether an integer of NumPy may be too large for the signed dtype that it is stored to."""
    own = number.dtype
    is_wider = own.bits > dtype.bits or (own.kind == "uint" and own.bits == dtype.bits)
    return not number.is_python and own.is_integer and dtype.kind == "int" and is_wider


def sees(value: Any, view: View) -> bool:
    """Whether a value refers to the memory of a view."""
    if isinstance(value, TupleValue):
        return any(sees(item, view) for item in value.items)
    if isinstance(value, Selected):
        return sees(value.value, view) or sees(value.mask, view)
    return isinstance(value, View) and value.buffer is view.buffer


def is_stale(value: Any) -> bool:
    """Whether a value has an array that may be a view of another one that was changed since."""
    if isinstance(value, TupleValue):
        return any(map(is_stale, value.items))
    return value.buffer.is_stale if isinstance(value, View) else isinstance(value, Selected) and value.is_stale


def _same(value: Abstract) -> Merged:
    return lambda: value


def _fits(number: int, dtype: Any) -> bool:
    low, high = (-(1 << dtype.bits - 1), 1 << dtype.bits - 1) if dtype.kind == "int" else (0, 1 << dtype.bits)
    return bool(low <= number < high)


def _is_index(number: Number, dtype: DType) -> bool:
    """Whether an int is a loop variable, which fits 32 bits as all sizes do."""
    own = number.size
    return own is not None and dims.is_symbol(own) and str(own).startswith(LOOP) and dtype.bits >= 32


def _flag(name: str, value: Any) -> Any:
    return NEVER if value is None and name in FLAGS else value


def _is_always(value: Any) -> bool:
    return isinstance(value, Number) and value.known is True

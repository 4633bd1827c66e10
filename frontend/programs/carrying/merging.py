"""Merge the variables of two branches into one value each; the test of the branches selects numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....ir.dtypes import BOOL
from ....ir.graph import Graph, Node, Value
from ....ir.nest import ops
from ....ir.records import replace
from ....ir.types import TensorType
from ..arithmetic import TRUTH, is_of, join, negation, number_parts, value_of
from ..complexes import of_parts, zeros
from ..emit import NestEmitter, NestScope
from ..kinds import Known
from ..values import Abstract, CutProblem, Environment, Number, NumberKind, TupleValue, Unset, View, dtype_of, plain

Merged = Callable[[], Abstract]


class Merger:
    """Merges the variables of two branches; the test selects the results."""

    def __init__(
        self, e: NestEmitter, test: Value, scopes: list[NestScope], before: Environment, allocated: set[Value]
    ) -> None:
        self.e, self.test, self.scopes = e, test, scopes
        self.allocated = allocated  # memory that only the branches know
        self.outside = {id(value) for value in before.values()}
        self.outputs: list[list[Value]] = [[], []]
        self.results: list[Sequence[Value]] = []

    def either(self, a: Any, b: Any, name: str) -> Merged:
        """Select the value of the first branch or of the second."""
        if isinstance(a, TupleValue) and isinstance(b, TupleValue) and len(a.items) == len(b.items):
            parts = [self.either(x, y, name) for x, y in zip(a.items, b.items, strict=True)]
            return lambda: TupleValue(tuple(part() for part in parts))
        if isinstance(a, (View, Known)) and type(a) is type(b) and a == b:
            return lambda: a
        if isinstance(a, View) and isinstance(b, View) and self._share_memory(a, b):
            return lambda: a
        given = [x for x in (a, b) if x is not None]
        if any(not isinstance(x, Number) for x in given):
            name = "'a if c else b'" if name.startswith("%") else f"'{name}'"
            return lambda: Unset(f"{name} has a value only on one side of a branch, or is one of two arrays")
        is_bound = self._bound(a, b)
        if len(given) == 1:
            kind, other = plain(given[0].kind), given[0].other
        elif a.known is not None and a.known == b.known and type(a.known) is type(b.known) and is_bound is None:
            return lambda: a
        else:
            try:
                kind, other = join(a, b)
            except CutProblem as problem:
                reason, kinds = problem.reason, (plain(a.kind), plain(b.kind))
                return lambda: Unset(reason, kinds)
        yes, no = self._output(0, a, kind), self._output(1, b, kind)
        flag, first = is_bound or _nothing, self._is_first(a, b, kind) if other is not None else _nothing

        def merged() -> Number:
            chosen = [self.e.select(self.test, *two) for two in zip(yes(), no(), strict=True)]
            return replace(of_parts(kind, chosen, other), bound=flag(), is_first=first())

        return merged

    def _is_first(self, a: Number | None, b: Number | None, kind: NumberKind) -> Callable[[], Value | None]:
        """Whether a number of two kinds is of this one after the branches; nothing if that is not tracked."""
        if not self.e.tracks_kinds:
            return _nothing
        sides: list[Callable[[], Value]] = []
        for side, number in enumerate((a, b)):
            self.e.scopes.append(self.scopes[side])
            found = is_of(self.e, number, kind) if number is not None else self.e.constant(True, BOOL)
            self.e.scopes.pop()
            if found is None:
                return _nothing
            sides.append(self._flag(side, found))
        yes, no = sides
        return lambda: self.e.select(self.test, yes(), no())

    def _bound(self, a: Number | None, b: Number | None) -> Callable[[], Value] | None:
        """Whether a variable has a value after the branches; None if it certainly has."""
        if a is not None and b is not None and a.bound is None and b.bound is None:
            return None
        yes, no = (self._is_bound(side, number) for side, number in enumerate((a, b)))
        return lambda: self.e.select(self.test, yes(), no())

    def _is_bound(self, side: int, number: Number | None) -> Callable[[], Value]:
        if number is None or number.bound is None:
            return lambda: self.e.constant(number is not None, BOOL)
        return self._flag(side, number.bound)

    def _flag(self, side: int, value: Value) -> Callable[[], Value]:
        """Make a truth a result of a branch."""
        made = self._output(side, Number(TRUTH, value), TRUTH)
        return lambda: made()[0]

    def one(self, value: Any, side: int, name: str) -> Merged:
        """Return the value of one branch, because the other one has left or has no value."""
        if isinstance(value, TupleValue):
            parts = [self.one(item, side, name) for item in value.items]
            return lambda: TupleValue(tuple(part() for part in parts))
        if isinstance(value, View) and not self.e.is_visible(*value.shape, *value.starts):
            return lambda: Unset(f"'{name}' is a view that depends on data of a branch")
        if isinstance(value, Number) and value.known is None and id(value) not in self.outside:
            made = self._output(side, value, value.kind)
            flag = self._flag(side, value.bound) if value.bound is not None else _nothing
            first = self._flag(side, value.is_first) if value.is_first is not None else _nothing
            own = plain(value.kind), value.other
            return lambda: replace(of_parts(own[0], made(), own[1]), bound=flag(), is_first=first())
        return lambda: Unset(f"'{name}' may have no value here") if value is None else value

    def _share_memory(self, a: View, b: View) -> bool:
        """Give two arrays that the branches make the same memory, because only one of them is ever made."""
        first, second = a.buffer, b.buffer
        if not {first.value, second.value} <= self.allocated or first.value.type != second.value.type:
            return False
        if (a.shape, a.starts, a.steps) != (b.shape, b.starts, b.steps) or not self.e.is_visible(*a.shape, *a.starts):
            return False
        if first.value is second.value:
            return True
        if first.shadow is not None or second.shadow is not None:
            return False
        self.e.head = [node for node in self.e.head if node.result is not second.value]
        _replace(self.scopes[1].builder.nodes, second.value, first.value)
        first.written = first.written or second.written
        second.value = first.value
        return True

    def _output(self, side: int, number: Number | None, kind: NumberKind) -> Callable[[], Sequence[Value]]:
        """Make a number a result of a branch, unless it was computed before the branch; 0 if there is none."""
        if number is None:
            return lambda: zeros(self.e, dtype_of(kind))
        if id(number) in self.outside:
            return lambda: number_parts(self.e, number, dtype_of(kind))
        self.e.scopes.append(self.scopes[side])
        values = number_parts(self.e, number, dtype_of(kind))
        self.e.scopes.pop()
        place = len(self.outputs[side])
        self.outputs[side] += values
        return lambda: self.results[side][place : place + len(values)]

    def emit(self, condition: Number) -> None:
        for side, (scope, outputs) in enumerate(zip(self.scopes, self.outputs, strict=True)):
            if not scope.builder.nodes and not outputs:
                self.results.append(())
                continue
            test = self.test if side == 0 else value_of(self.e, negation(self.e, condition))
            body = Graph("body", (), tuple(scope.builder.nodes), tuple(outputs))
            self.results.append(self.e.node(ops.WHEN, (test,), types_of(outputs), body).results)


def _replace(nodes: Sequence[Node], old: Value, new: Value) -> None:
    """Use another buffer in nodes and their bodies."""
    for node in nodes:
        if old in node.operands:
            node.operands = tuple(new if v is old else v for v in node.operands)
        if node.body is not None:
            _replace(node.body.nodes, old, new)


def _nothing() -> None:
    return None


def types_of(values: Sequence[Value]) -> list[TensorType]:
    return [v.type for v in values]

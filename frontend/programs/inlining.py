"""Inline functions with source: their statements are lowered where they are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ...ir.source import ABSENT
from .drafts import Draft
from .expressions import from_object
from .kinds import Known
from .library import COMPUTED_ONCE
from .lowering import NEVER, RETURN, RETURNED, Lowering
from .names import Liveness
from .values import (
    Abstract,
    CutProblem,
    Number,
    TupleValue,
    View,
)

Arguments = Sequence[Abstract]
Named = Mapping[str, Abstract]
Rule = Callable[[Lowering, Arguments, Named], Abstract]


MOST_INLINED = 16


def inline(p: Lowering, function: FunctionType, args: Arguments, named: Named) -> Abstract:
    """Runs the statements of a function on abstract arguments."""
    if function in p.inlined or len(p.inlined) >= MOST_INLINED:
        raise CutProblem(f"'{function.__name__}' calls itself")
    body = p.sources(function)
    if isinstance(body, str):
        raise CutProblem(f"the source of '{function.__name__}' is not known: {body}")
    given = [p.computed(x) for x in args]
    call = _Call(function, given) if function in COMPUTED_ONCE and not named else None
    if call is not None and (known := next((made for seen, made in p.called if seen.is_same(call)), None)):
        return known
    try:
        bound = inspect.signature(function).bind(*given, **{k: p.computed(x) for k, x in named.items()})
    except TypeError as error:
        raise CutProblem(f"this raises TypeError: {error}") from error
    env: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise CutProblem(f"'{function.__name__}' takes * or ** arguments")
        env[name] = bound.arguments[name] if name in bound.arguments else from_object(p, parameter.default)
    p.meanings.function(function)
    outer = p.env, p.names, p.live, p.after, p.draft, p.places, p.node, p.waiting, p.following, p.carried
    p.drafts.append(p.draft)
    p.inlined.append(function)
    p.env, p.names, p.draft, p.places, p.waiting = env, _names_of(p, function), Draft(p.e), {}, set()
    p.live, p.after = Liveness(body).at, frozenset()
    try:
        p.block(body)
        flag, made = p.env.get(RETURN, NEVER), p.env.get(RETURNED, Known(None))
    finally:
        p.inlined.pop()
        p.drafts.pop()
        p.env, p.names, p.live, p.after, p.draft, p.places, p.node, p.waiting, p.following, p.carried = outer
    if flag.known is None:
        raise CutProblem(f"'{function.__name__}' may return None or another value")
    if not isinstance(made, (Number, View, TupleValue, Known)):
        raise CutProblem(f"'{function.__name__}' returns one of two kinds of values")
    if call is not None and len(p.e.scopes) == 1 and isinstance(made, TupleValue):  # everything later sees it
        p.called.append((call, made))
    return made if flag.known else Known(None)


class _Call:
    """A call of an inlined function, and the state of the arrays that it is given."""

    def __init__(self, function: FunctionType, given: Arguments) -> None:
        self.function, self.given = function, [_identity(x) for x in given]
        self._alive = given  # so that identities stay theirs

    def is_same(self, other: _Call) -> bool:
        return self.function is other.function and self.given == other.given


def _identity(x: Abstract) -> object:
    """What two arguments have in common if they are the same array, unchanged, or the same number."""
    if isinstance(x, View):
        return (id(x.buffer), x.buffer.version, x.shape, x.starts, x.steps, x.is_part)
    return id(x)


def _names_of(p: Lowering, function: FunctionType) -> Callable[[str], Abstract | None]:
    """Look up the names that a function does not bind itself."""

    def find(name: str) -> Abstract | None:
        value = p.meanings.name(function, name)
        if value is ABSENT:
            return None
        return from_object(p, value)  # a number is a constant, because the name is guarded

    return find

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
    return made if flag.known else Known(None)


def _names_of(p: Lowering, function: FunctionType) -> Callable[[str], Abstract | None]:
    """Look up the names that a function does not bind itself."""

    def find(name: str) -> Abstract | None:
        value = p.meanings.name(function, name)
        if value is ABSENT:
            return None
        return from_object(p, value)  # a number is a constant, because the name is guarded

    return find

"""Inline functions with source: their statements are lowered where they are called.

A function that a `def` or `lambda` makes among the lowered statements is inlined in the same way. It reads the
variables around it as they are when it is called, as in Python.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ...ir.source import ABSENT
from .arrays.drafts import Draft
from .context import NEVER, RETURN, RETURNED, Lowering
from .expressions import from_object
from .kinds import Known
from .library import COMPUTED_ONCE
from .reading.names import Liveness, bound_names
from .values import (
    Abstract,
    CutProblem,
    Environment,
    Expression,
    FunctionFrame,
    FunctionValue,
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
    body = p.sources(function)
    if isinstance(body, str):
        raise CutProblem(f"the source of '{function.__name__}' is not known: {body}")
    given = [p.computed(x) for x in args]
    call = _Call(function, given) if function in COMPUTED_ONCE and not named else None
    if call is not None and (known := next((made for seen, made in p.called if seen.is_same(call)), None)):
        return known
    bound, signature = _bound(p, inspect.signature(function), function.__name__, given, named)
    env = {n: bound[n] if n in bound else from_object(p, signature.parameters[n].default) for n in signature.parameters}
    p.meanings.function(function)
    made = _run(p, function, function.__name__, body, env, FunctionFrame(_names_of(p, function)))
    if call is not None and len(p.e.scopes) == 1 and isinstance(made, TupleValue):  # everything later sees it
        p.called.append((call, made))
    return made


def inline_local(p: Lowering, function: FunctionValue, args: Arguments, named: Named) -> Abstract:
    """Run the statements of a function that was defined in the lowered statements."""
    given = [p.computed(x) for x in args]
    bound, signature = _bound(p, function.signature, function.name, given, named)
    env = {n: bound[n] if n in bound else signature.parameters[n].default for n in signature.parameters}
    if function.frame.is_done:
        raise CutProblem(f"'{function.name}' is called after the function that made it has returned")
    own = bound_names(function.body) | frozenset(env)
    outer = function.frame

    def find(name: str) -> Abstract | None:
        if name in own:
            return None
        value = outer.env.get(name)
        if isinstance(value, Expression):
            raise CutProblem(f"'{name}' is not computed yet where '{function.name}' is called")
        return outer.names(name) if value is None else value

    return _run(p, function.node, function.name, function.body, env, FunctionFrame(find))


def _bound(
    p: Lowering, signature: inspect.Signature, name: str, given: Arguments, named: Named
) -> tuple[Mapping[str, Abstract], inspect.Signature]:
    """The arguments of a call by parameter."""
    try:
        bound = signature.bind(*given, **{k: p.computed(x) for k, x in named.items()})
    except TypeError as error:
        raise CutProblem(f"this raises TypeError: {error}") from error
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise CutProblem(f"'{name}' takes * or ** arguments")
    return bound.arguments, signature


def _run(
    p: Lowering, key: Any, name: str, body: Sequence[ast.stmt], env: Environment, frame: FunctionFrame
) -> Abstract:
    """Lower the statements of a function, and return what they return."""
    if any(key is other for other in p.inlined) or len(p.inlined) >= MOST_INLINED:
        raise CutProblem(f"'{name}' calls itself")
    outer = p.env, p.names, p.live, p.after, p.draft, p.places, p.node, p.waiting, p.following, p.carried, p.frame
    p.frame.env = p.env
    p.drafts.append(p.draft)
    p.inlined.append(key)
    p.env, p.names, p.draft, p.places, p.waiting = env, frame.names, Draft(p.e), {}, {}
    p.live, p.after, p.frame = Liveness(body).at, frozenset(), frame
    try:
        p.block(body)
        flag, made = p.env.get(RETURN, NEVER), p.env.get(RETURNED, Known(None))
    except CutProblem as problem:
        problem.node = None  # the call is what Python has to run
        raise
    finally:
        frame.is_done = True
        p.inlined.pop()
        p.drafts.pop()
        p.env, p.names, p.live, p.after, p.draft, p.places, p.node, p.waiting, p.following, p.carried, p.frame = outer
    if flag.known is None:
        raise CutProblem(f"'{name}' may return None or another value")
    if not isinstance(made, (Number, View, TupleValue, Known)):
        raise CutProblem(f"'{name}' returns one of two kinds of values")
    return made if flag.known else Known(None)


class _Call:
    """A call of an inlined function, and the state of the arrays that are passed to it."""

    def __init__(self, function: FunctionType, given: Arguments) -> None:
        self.function, self.given = function, [_identity(x) for x in given]
        self._alive = given  # so that identities stay theirs

    def is_same(self, other: _Call) -> bool:
        return self.function is other.function and self.given == other.given


def _identity(x: Abstract) -> object:
    """Return what two arguments have in common if they are the same array, unchanged, or the same number."""
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

"""Find which variables statements read and bind, and which are still needed after them.

    exposed(statements)         variables that may be read before these statements bind them
    assigned(statements)        variables that they surely bind
    Liveness(function).at       the variables that are live behind each statement

Liveness is exact for structured code: a loop's body is followed by its own head, `break` by what follows the loop. Any
statement inside `try` may be followed by the handlers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ....ir.records import record, replace

Names = frozenset[str]
NONE: Names = frozenset()
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def walk_own(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes and what is in them, but not what is inside functions that they define."""
    todo = [*nodes]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            todo += ast.iter_child_nodes(node)


def reads(node: ast.AST) -> Iterator[str]:
    """Yield the names that evaluating a node may read, except those of its own inner scopes."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store):
            yield node.id
        return
    if isinstance(node, (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)):
        own = own_names(node)
        yield from (name for child in ast.iter_child_nodes(node) for name in reads(child) if name not in own)
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    for child in ast.iter_child_nodes(node):
        yield from reads(child)


def own_names(node: ast.AST) -> Names:
    """The names of an inner scope."""
    if isinstance(node, COMPREHENSIONS):
        return frozenset(name for g in node.generators for name in binds(g.target))
    if isinstance(node, ast.ClassDef):
        return NONE
    assert isinstance(node, FUNCTIONS)
    body = node.body if isinstance(node.body, list) else [node.body]
    outer = {
        name for part in body for n in ast.walk(part) if isinstance(n, (ast.Nonlocal, ast.Global)) for name in n.names
    }
    return parameters(node.args) | (frozenset(name for part in body for name in binds(part)) - outer)


def parameters(given: ast.arguments) -> Names:
    """The names of the parameters of a function."""
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return frozenset(a.arg for a in every)


def binds(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node may bind or unbind in its own scope."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    if isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
        yield from (n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        return
    if isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
        return
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    if isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    for child in ast.iter_child_nodes(node):
        yield from binds(child)


def bound_names(statements: Iterable[ast.AST]) -> Names:
    """All names that statements may bind."""
    return frozenset().union(*map(_bound, statements))


@lru_cache(maxsize=1024)
def _bound(node: ast.AST) -> Names:
    return frozenset(binds(node))


def assigned(statements: Sequence[ast.stmt]) -> Names:
    """Find the names that are certainly bound once the statements have run to their end."""
    found: set[str] = set()
    for statement in statements:
        found |= _surely(statement)
        if isinstance(statement, ast.Delete):
            found -= set(binds(statement))
    return frozenset(found)


def _surely(statement: ast.stmt) -> Names:
    if isinstance(statement, ast.If):
        sides = [side for side in (statement.body, statement.orelse) if not _ends(side)]
        known = [assigned(side) for side in sides]
        return frozenset.intersection(*known) if known else NONE
    if isinstance(statement, (ast.For, ast.While, ast.AsyncFor, ast.Try, ast.Match)):
        return NONE
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return NONE  # it may swallow an exception in the middle
    return frozenset(binds(statement))


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements never run to their end."""
    return bool(statements) and isinstance(statements[-1], JUMPS)


def exposed(statements: Sequence[ast.stmt]) -> Names:
    """Find the names that statements may read before they bind them."""
    found: set[str] = set()
    known: set[str] = set()
    for statement in statements:
        found |= _exposed(statement) - known
        known |= assigned([statement])
    return frozenset(found)


def _exposed(statement: ast.stmt) -> Names:
    if isinstance(statement, ast.If):
        return frozenset(reads(statement.test)) | exposed(statement.body) | exposed(statement.orelse)
    if isinstance(statement, ast.While):
        return frozenset(reads(statement.test)) | exposed(statement.body) | exposed(statement.orelse)
    if isinstance(statement, ast.For):
        inside = exposed(statement.body) - frozenset(binds(statement.target))
        return (
            frozenset(reads(statement.iter)) | frozenset(reads(statement.target)) | inside | exposed(statement.orelse)
        )
    return frozenset(reads(statement))


@record
class NameFlow:
    """The variables that are live at the targets of jumps."""

    always: Names  # read by inner functions, by other functions, or by a handler around here
    on_return: Names = NONE
    on_break: Names = NONE
    on_continue: Names = NONE


class Liveness:
    """The variables that are live after each statement of a function, by the statement's identity."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self.at: dict[int, Names] = {}
        self.before: dict[int, Names] = {}
        self._block(body, NONE, NameFlow(_always(body)))

    def behind(self, statement: ast.stmt) -> Names:
        return self.at[id(statement)]

    def _block(self, body: Sequence[ast.stmt], live: Names, flow: NameFlow) -> Names:
        """Return what is live before the statements; `live` is what is live after them."""
        for statement in reversed(body):
            self.at[id(statement)] = self.at.get(id(statement), NONE) | live | flow.always
            live = self._statement(statement, live, flow)
            self.before[id(statement)] = self.before.get(id(statement), NONE) | live | flow.always
        return live | flow.always

    def _statement(self, node: ast.stmt, live: Names, flow: NameFlow) -> Names:
        if isinstance(node, ast.Return):
            return frozenset(reads(node)) | flow.on_return
        if isinstance(node, ast.Raise):
            return frozenset(reads(node)) | flow.on_return
        if isinstance(node, ast.Break):
            return flow.on_break
        if isinstance(node, ast.Continue):
            return flow.on_continue
        if isinstance(node, ast.If):
            sides = self._block(node.body, live, flow) | self._block(node.orelse, live, flow)
            return sides | frozenset(reads(node.test))
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            return self._loop(node, live, flow)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            around = frozenset(name for item in node.items for name in reads(item))
            bound = frozenset(name for item in node.items for name in binds(item))
            inner = replace(flow, always=flow.always | live)  # it may swallow an exception at any place
            return around | (self._block(node.body, live, inner) - bound) | live
        if isinstance(node, (ast.Try, *_TRY_STAR)):
            return self._try(node, live, flow)
        if isinstance(node, ast.Match):
            found = frozenset(reads(node.subject)) | live
            for case in node.cases:
                found |= frozenset(reads(case.pattern)) | (frozenset(reads(case.guard)) if case.guard else NONE)
                found |= self._block(case.body, live, flow)
            return found
        return (live - assigned([node])) | frozenset(reads(node))

    def _loop(self, node: ast.For | ast.While | ast.AsyncFor, live: Names, flow: NameFlow) -> Names:
        behind = self._block(node.orelse, live, flow)
        if isinstance(node, ast.While):
            own, bound, once = frozenset(reads(node.test)), NONE, NONE
        else:
            own, bound, once = frozenset(reads(node.target)), frozenset(binds(node.target)), frozenset(reads(node.iter))
        head = own | behind
        while True:  # ends: it only grows
            inner = replace(flow, on_break=live, on_continue=head)
            found = own | behind | (self._block(node.body, head, inner) - bound)
            if found <= head:
                return head | once
            head |= found

    def _try(self, node: ast.Try | ast.TryStar, live: Names, flow: NameFlow) -> Names:
        final = self._block(node.finalbody, live, flow)
        final_reads = exposed(node.finalbody)
        rest = replace(flow, always=flow.always | final_reads, on_return=flow.on_return | final_reads)
        handlers: Names = NONE
        for handler in node.handlers:
            own = frozenset(reads(handler.type)) if handler.type else NONE
            inside = self._block(handler.body, final, rest)
            handlers |= own | (inside - ({handler.name} if handler.name else set()))
        inner = replace(rest, always=rest.always | handlers, on_return=rest.on_return)
        return self._block(node.body, self._block(node.orelse, final, rest), inner) | handlers


_TRY_STAR = (ast.TryStar,)


def _always(body: Sequence[ast.stmt]) -> Names:
    """Find the variables that do not belong to this function alone: captured by inner ones, or declared global or
    nonlocal.
    """
    found: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (*FUNCTIONS, ast.GeneratorExp, ast.ClassDef)):
                found |= set(reads(node)) | {
                    n for inner in ast.walk(node) if isinstance(inner, ast.Nonlocal) for n in inner.names
                }
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                found |= set(node.names)
    return frozenset(found)

"""Analyse statements: which variables they assign, whether they jump, and whether they always return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..language import syntax
from ..language.modules import LoadedDefinition

Statements = Iterable[syntax.Statement]


def blocks_of(statement: syntax.Statement) -> tuple[syntax.Block, ...]:
    """Yield the blocks inside a statement."""
    match statement:
        case syntax.If():
            return tuple(b for b in (statement.then, statement.other) if b is not None)
        case syntax.For() | syntax.While():
            return (statement.body,)
    return ()


def inside(statements: Statements) -> Iterator[syntax.Statement]:
    """Yield the statements and all statements inside them."""
    for statement in statements:
        yield statement
        for block in blocks_of(statement):
            yield from inside(block.statements)


def assigned(statements: Statements) -> set[str]:
    """List the variables that are assigned."""
    found = (s.target for s in inside(statements) if isinstance(s, syntax.Assign))
    return {t.name for t in found if isinstance(t, syntax.Name)}


def returns(statements: Statements) -> bool:
    """Tell whether one of the statements may return."""
    return any(isinstance(s, syntax.Return) for s in inside(statements))


def jumps(statements: Statements) -> bool:
    """Tell whether the next statements may be skipped, by a return or a jump of the surrounding loop."""
    return returns(statements) or any(_jumps(s, ("break", "continue")) for s in statements)


def breaks(statements: Statements) -> bool:
    """Tell whether the statements may end the surrounding loop."""
    return any(_jumps(s, ("break",)) for s in statements)


def _jumps(statement: syntax.Statement, what: tuple[str, ...]) -> bool:
    if isinstance(statement, syntax.Jump):
        return statement.what in what
    if isinstance(statement, syntax.If):
        return any(_jumps(s, what) for b in blocks_of(statement) for s in b.statements)
    return False


def always_returns(statements: Statements) -> bool:
    """Tell whether every path returns."""
    return any(_always_returns(s) for s in statements)


def _always_returns(statement: syntax.Statement) -> bool:
    match statement:
        case syntax.Return():
            return True
        case syntax.If():
            both = statement.other is not None and always_returns(statement.other.statements)
            return both and always_returns(statement.then.statements)
        case syntax.While(condition=syntax.Literal(value=True)):
            return not breaks(statement.body.statements)
    return False


def is_plain(item: syntax.Function) -> bool:
    """Tell whether the only return is the last statement, and there is no loop."""
    *before, last = item.body.statements
    others = (syntax.Return, syntax.For, syntax.While)
    return isinstance(last, syntax.Return) and not any(isinstance(s, others) for s in inside(before))


def loops(definition: LoadedDefinition) -> bool:
    """Tell whether a function has a loop, or calls one that has."""
    waiting, seen = [definition], {definition}
    while waiting:
        current = waiting.pop()
        if not isinstance(current.item, syntax.Function):
            continue
        if any(isinstance(s, (syntax.For, syntax.While)) for s in inside(current.item.body.statements)):
            return True
        for name in _called(current.item.body):
            found = current.unit.names.get(name)
            if found is not None and found not in seen:
                seen.add(found)
                waiting.append(found)
    return False


def _called(root: syntax.SyntaxNode) -> Iterator[str]:
    waiting: list[object] = [root]
    while waiting:
        found = waiting.pop()
        if isinstance(found, syntax.Call) and isinstance(found.callee, syntax.Name):
            yield found.callee.name
        if isinstance(found, syntax.SyntaxNode):
            waiting += [getattr(found, name) for name in found.FIELDS]
        elif isinstance(found, tuple):
            waiting += found

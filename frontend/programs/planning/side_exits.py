"""Let a native loop exit at a branch that Python must run, and continue after it.

    for i in range(n):                   step, exit = 0, 0
        x += f(x)                        while step < n:
        if i % 100 == 0:                     x, step, exit = piece(x, step, n)      # the loop, up to a branch
            print(i)                         if exit == 1:
        y += x                                   print(i)                          # and Python ends the step
                                                 y += x

The piece is the same loop over the remaining steps. At the start of such a branch it notes which one it is, and ends
with `break`. So it returns all variables as they are there, Python runs the branch and the rest of that step, and the
next call of the piece continues. If a piece can't serve a call, Python runs one step.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

from ....ir.records import record
from ..reading.names import walk_own

EXIT, STEP, FIRST, COUNT, START = "weft_exit", "weft_step", "weft_first", "weft_count", "weft_start"
HIDDEN = frozenset((EXIT, STEP, FIRST, COUNT, START))
BROKEN = -1  # the number of the exit that stands for a `break` of the user's
Loop = ast.For | ast.While
IsNative = Callable[[ast.stmt], bool]


@record(eq=False)
class LoopExit:
    """A branch that Python runs: the `if` around it, and the statements from there to the end of the step."""

    branch: ast.If
    statements: tuple[ast.stmt, ...]


@record(eq=False)
class ExitingLoop:
    """A loop with side exits: the statements of its piece, and its exits, numbered from 1."""

    statements: tuple[ast.stmt, ...]
    exits: tuple[LoopExit, ...]


def with_exits(loop: Loop, is_native: IsNative, is_range: Callable[[ast.expr], bool]) -> ExitingLoop | None:
    """Return a loop whose branches that can't be native are side exits, if everything else in it is native."""
    if any(isinstance(n, ast.Name) and n.id in HIDDEN for n in ast.walk(loop)):
        return None
    cutter = _Cutter(is_native)
    body = cutter.block(loop.body, ())
    if body is None or not cutter.exits:
        return None
    begin = _assign(EXIT, ast.Constant(0))
    if isinstance(loop, ast.While):
        made: ast.stmt = ast.While(loop.test, body, [])
    else:
        if not is_range(loop.iter) or not isinstance(loop.target, ast.Name):
            return None
        step = _literal_step(loop.iter)
        if step is None:
            return None
        own = ast.BinOp(_name(START), ast.Add(), ast.BinOp(_name(STEP), ast.Mult(), ast.Constant(step)))
        over = ast.Call(ast.Name("range", ast.Load()), [_name(FIRST), _name(COUNT)], [])
        bind = ast.Assign([ast.Name(loop.target.id, ast.Store())], own)
        made = ast.For(ast.Name(STEP, ast.Store()), over, [ast.copy_location(bind, loop), *body], [])
    placed = [ast.fix_missing_locations(ast.copy_location(s, loop)) for s in (begin, made)]
    return ExitingLoop(tuple(placed), tuple(cutter.exits))


def _literal_step(node: ast.expr) -> int | None:
    """Return the step of a `range(...)` if it is a number other than 0."""
    assert isinstance(node, ast.Call)
    if node.keywords or not 1 <= len(node.args) <= 3 or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if len(node.args) < 3:
        return 1
    try:
        step = ast.literal_eval(node.args[2])
    except ValueError:
        return None
    return step if type(step) is int and step else None


class _Cutter:
    """Replaces branches by exits."""

    def __init__(self, is_native: IsNative) -> None:
        self._is_native = is_native
        self.exits: list[LoopExit] = []

    def block(self, statements: Sequence[ast.stmt], rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        """Return native statements, or None if a statement is neither native nor a branch; `rest` follows in the same
        step.
        """
        made: list[ast.stmt] = []
        for k, statement in enumerate(statements):
            following = (*statements[k + 1 :], *rest)
            if self._is_native(statement) and not _returns(statement):
                made += _with_breaks([statement])
            elif isinstance(statement, ast.If) and self._is_native(_only_test(statement)):
                made.append(self._branch(statement, following))
            else:
                return None
        return made

    def _branch(self, node: ast.If, rest: Sequence[ast.stmt]) -> ast.If:
        made = copy.copy(node)
        made.body = self._arm(node, node.body, rest)
        made.orelse = self._arm(node, node.orelse, rest) if node.orelse else []
        return made

    def _arm(self, node: ast.If, statements: Sequence[ast.stmt], rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        mark = len(self.exits)
        made = self.block(statements, rest)
        if made is not None:
            return made
        del self.exits[mark:]
        self.exits.append(LoopExit(node, (*statements, *rest)))
        leave = _assign(EXIT, ast.Constant(len(self.exits))), ast.Break()
        return [ast.copy_location(s, statements[0]) for s in leave]


def _only_test(node: ast.If) -> ast.stmt:
    return ast.copy_location(ast.If(node.test, [ast.copy_location(ast.Pass(), node)], []), node)


def _returns(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in walk_own(node))


def _with_breaks(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Mark each `break` of this loop as an exit, so that the loop around the piece ends, too."""
    made: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.Break):
            made.append(ast.copy_location(_assign(EXIT, ast.Constant(BROKEN)), statement))
        if isinstance(statement, ast.If):
            statement = copy.copy(statement)
            statement.body, statement.orelse = _with_breaks(statement.body), _with_breaks(statement.orelse)
        elif isinstance(statement, (ast.For, ast.While)) and statement.orelse:
            statement = copy.copy(statement)
            statement.orelse = _with_breaks(statement.orelse)
        made.append(statement)
    return made


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())

"""Generate the plan of a function: its own statements, with compiled pieces tried where they stand.

    y = np.exp(x) * w                 .r = .miss
    print("here")                     try:
    return y.sum() + 1                    .r = .piece0(x, w)
                                      except .failures():
                                          pass
                                      if .r is .miss:
                                          y = np.exp(x) * w
                                      else:
                                          y = .r
                                      print("here")
                                      ...

The plan is the user's own syntax tree with the user's line numbers, so tracebacks are right. Names that start with a
dot can't be the user's. A piece that fails has changed nothing, and the statements themselves run. An exception from a
signal handler is no failure of the piece and reaches the caller.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from ....ir.records import record
from ....ir.source import ABSENT
from ..reading.allowed import Checker, PythonScope, is_known
from ..reading.local_functions import LocalFunctions
from ..reading.lowerable import has_loops_or_stores, may_be_lowered
from ..reading.names import Liveness, assigned, bound_names, exposed, reads, walk_own
from ..reading.source import FunctionSource, code_of
from .collecting import PARTED, Collected, Guards, plan_name
from .exit_plans import ExitPlan, live_at_exits, live_before
from .inputs import Inputs
from .paths import Paths
from .pieces import Cut
from .side_exits import HIDDEN, Loop, with_exits

RESULT, MISS, FAILURES, TYPE, PARTS, EXCUSE = ".r", ".miss", ".failures", ".type", ".parts", ".excuse"
WEIGH = ".weigh"
HELPERS = (MISS, FAILURES, TYPE, PARTS, EXCUSE, WEIGH)
FRAME_READERS = frozenset(("locals", "eval", "exec", "vars", "dir", "globals", "super", "breakpoint"))
VIEWED = frozenset(("T", "mT", "real", "imag"))
BLOCKS = ("body", "orelse", "finalbody")


@record(eq=False)
class PlannedPiece:
    """A piece of a plan: a function from its inputs to its outputs."""

    name: str
    code: CodeType
    outputs: tuple[str, ...]
    lines: tuple[int, int]
    work: int  # operations that may be over arrays


@record(eq=False)
class PlannedLoop:
    """Statements of a plan, with loops or stores, that may become one nest."""

    name: str
    statements: tuple[ast.stmt, ...]
    live_in: tuple[str, ...]
    live_out: tuple[str, ...]
    returns: bool
    lines: tuple[int, int]
    origin: ast.stmt | None = None  # the user's loop, if the statements are one with side exits
    paths: Mapping[int, str] = {}  # attributes and items that are inputs, by the identity of their nodes
    borrowed: int = 0  # how many of the statements are definitions of functions that stand elsewhere

    @property
    def own(self) -> tuple[ast.stmt, ...]:
        """The statements that stand here."""
        return self.statements[self.borrowed :]


def are_same(one: PlannedLoop, other: PlannedLoop) -> bool:
    """Whether two plans have the same statements here, so that they are compiled in the same way."""
    mine, its = ((p.live_in, p.live_out, p.returns, p.lines, len(p.statements)) for p in (one, other))
    if mine != its or one.origin is not other.origin:
        return False
    return all(a is b or ast.dump(a) == ast.dump(b) for a, b in zip(one.statements, other.statements, strict=True))


@record(eq=False)
class Plan:
    """The code of a function with its pieces, the objects that its dotted names stand for, and where Python
    takes over.
    """

    code: CodeType
    pieces: tuple[PlannedPiece | PlannedLoop, ...]
    names: Mapping[str, Any]
    cuts: tuple[Cut, ...]


def make_plan(
    scope: PythonScope,
    seen: Mapping[str, Any],
    dropped: frozenset[tuple[int, int]] = frozenset(),
    unfit: frozenset[int] = frozenset(),
) -> Plan | Cut:
    """Plan a function for arguments like those in `seen`.

    Python runs the pieces at the lines in `dropped`. Statements in `unfit`, by identity, are not part of a nest.
    """
    source = scope.source
    if (cut := _unknown_frame(source)) is not None:
        return cut
    planner = _Planner(scope, seen, dropped, unfit)
    body = planner.block(planner.statements)
    if not planner.pieces and planner.may_be_views():
        body = planner.region(planner.statements)
    if not planner.pieces:
        return planner.cuts[0] if planner.cuts else Cut("there is nothing to compile", source.tree)
    names = (*HELPERS, *planner.names, *(piece.name for piece in planner.pieces))
    code = code_of(_definition(source, body), source.code, names)
    if code is None:
        return Cut("its plan could not be compiled", source.tree)
    code = code.replace(co_qualname=source.code.co_qualname)
    return Plan(code, tuple(planner.pieces), planner.names, tuple(planner.cuts))


def _unknown_frame(source: FunctionSource) -> Cut | None:
    """Find what would notice that the plan is another function: generators, and code that reads its own frame."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return Cut("a generator is left to Python", node)
        if isinstance(node, ast.Name) and node.id in FRAME_READERS:
            return Cut(f"'{node.id}' reads the function's own variables", node)
        if isinstance(node, ast.Attribute) and node.attr in ("_getframe", "currentframe", "setswitchinterval"):
            return Cut(f"'{node.attr}' reads the function's own variables", node)
    return None


def _definition(source: FunctionSource, body: list[ast.stmt]) -> ast.FunctionDef:
    given = copy.deepcopy(source.tree.args)
    given.defaults, given.kw_defaults = [], [None] * len(given.kwonlyargs)
    for argument in ast.walk(given):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    made = ast.FunctionDef(source.code.co_name, given, body, [])
    return ast.copy_location(made, source.tree)


class _Planner:
    """Splits blocks of statements into pieces and what Python runs."""

    def __init__(
        self, scope: PythonScope, seen: Mapping[str, Any], dropped: frozenset[tuple[int, int]], unfit: frozenset[int]
    ) -> None:
        self._scope, self._dropped = scope, dropped
        self._inputs = Inputs(scope, seen)
        self.statements = scope.source.body
        self._given = frozenset(seen)
        self._live = Liveness(self.statements)
        named = {n.id for n in ast.walk(scope.source.tree) if isinstance(n, ast.Name)}
        self._taken = frozenset(named) | scope.locals
        self.pieces: list[PlannedPiece | PlannedLoop] = []
        self._unfit = unfit
        self._regions: set[int] = set(unfit)  # statements that are no part of a nest, or of one already
        self.cuts: list[Cut] = []
        self.names: dict[str, Any] = {}
        self._functions = LocalFunctions(self.statements)

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Plan consecutive statements."""
        made: list[ast.stmt] = []
        mark = self._functions.mark()
        for run, is_region in self._runs(statements):
            made += self.region(run) if is_region else self._simple(run)
            self._functions.passed(run)
        self._functions.reset(mark)
        return made

    # -- nests

    def _runs(self, statements: Sequence[ast.stmt]) -> list[tuple[list[ast.stmt], bool]]:
        """Split statements into runs that may become nests, and others."""
        runs: list[tuple[list[ast.stmt], bool]] = []
        for statement in statements:
            fits = id(statement) not in self._regions and may_be_lowered(statement, self._scope)
            if not runs or runs[-1][1] is not fits:
                runs.append(([], fits))
            runs[-1][0].append(statement)
        return [(run, fits and self._is_worth(run)) for run, fits in runs]

    def _is_worth(self, run: list[ast.stmt]) -> bool:
        """Whether statements have loops or stores. A piece that only computes values is compiled in another way."""
        if any(isinstance(n, ast.Return) for n in walk_own(*run)) and run[-1] is not self.statements[-1]:
            return False
        return any(has_loops_or_stores(s, self._scope, numeric=self._inputs.numeric) for s in run)

    def may_be_views(self) -> bool:
        """Whether the whole function may be a nest that looks arrays up or makes views, which is no work otherwise."""
        if self._regions & {id(s) for s in self.statements} or not isinstance(self.statements[-1], ast.Return):
            return False
        if not all(may_be_lowered(s, self._scope) for s in self.statements):
            return False
        parts = [node for s in self.statements for node in ast.walk(s)]
        names = {node.id for node in parts if isinstance(node, ast.Name)}
        return any(isinstance(self._inputs.path_value(ast.Name(n, ast.Load())), np.ndarray) for n in names) and any(
            isinstance(node, (ast.Subscript, ast.Call)) or (isinstance(node, ast.Attribute) and node.attr in VIEWED)
            for node in parts
        )

    def region(self, run: list[ast.stmt]) -> list[ast.stmt]:
        """Try to make one nest of statements. If that fails, they run with pieces inside."""
        self._regions |= {id(s) for s in run}
        lines = run[0].lineno, run[-1].end_lineno or run[-1].lineno
        if lines in self._dropped:
            return self.block(run)
        returns = any(isinstance(n, ast.Return) for n in walk_own(*run))
        behind = frozenset() if returns else self._live.at[id(run[-1])]
        made = [s for s in run if self._functions.is_definition(s) and bound_names([s]) & behind]  # by Python, before
        bound = bound_names(run) - bound_names(made)
        live_out = tuple(sorted(bound & behind))
        kept = set(live_out) - assigned(run)
        before = {n for s in self.statements if s not in run for n in bound_names([s])} | self._given
        borrowed = self._functions.used_by(run)
        own = (*borrowed, *run)
        paths = Paths(own, self._inputs)
        without = self._scope.locals - before  # variables that only these statements bind have no value before them
        needed = (paths.without_owners(exposed(own)) - without) | (kept & before)
        variables = tuple(sorted(n for n in needed if self._is_variable(n)))
        live_in, given = (*variables, *paths.inputs), [ast.Name(n, ast.Load()) for n in variables]
        name = f".piece{len(self.pieces)}"
        self.pieces.append(PlannedLoop(name, own, live_in, live_out, returns, lines, None, paths.names, len(borrowed)))
        call = ast.Call(ast.Name(name, ast.Load()), [*given, *paths.inputs.values()], [])
        hit: list[ast.stmt]
        if returns:
            hit = [ast.Return(ast.Subscript(ast.Name(RESULT, ast.Load()), ast.Constant(0), ast.Load()))]
        else:
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in live_out]
            target = ast.Tuple(targets, ast.Store()) if targets else ast.Name(RESULT, ast.Store())
            hit = [ast.Assign([target], ast.Name(RESULT, ast.Load())), _assign(RESULT, ast.Constant(None))]
        tests = self._tests(paths.guards)
        return [*made, *self._tried(name, [_assign(RESULT, call)], tests, self.block(run), hit, run[0])]

    def _is_variable(self, name: str) -> bool:
        if name in self._scope.locals or name in self._scope.outer:
            return True
        value = self._scope.value(name)
        return value is not ABSENT and not is_known(value)

    # -- pieces of values

    def _simple(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Plan statements whose values are compiled one after the other."""
        made: list[ast.stmt] = []
        piece = self._new()
        for k, statement in enumerate(statements):
            self._functions.passed(statements[:k])
            tried = piece.copied()
            if not tried.take(statement) and piece.originals:
                made += self._closed(piece)
                piece = self._new()
                tried = piece.copied()
                if not tried.take(statement):
                    made += self._python(statement, tried.cut)
                    continue
            elif tried.originals == piece.originals:
                made += self._python(statement, tried.cut)
                continue
            piece = tried
            if piece.rest is not None:
                made += self._closed(piece)
                piece = self._new()
        return made + self._closed(piece)

    def _new(self) -> Collected:
        return Collected(self._scope, self._inputs, self._taken)

    def _python(self, node: ast.stmt, cut: Cut | None) -> list[ast.stmt]:
        """Leave a statement to Python, with pieces inside it."""
        blocks = [name for name in BLOCKS if getattr(node, name, None)] if not isinstance(node, _DEFINITIONS) else []
        if not blocks and not getattr(node, "handlers", None) and not getattr(node, "cases", None):
            is_silent = isinstance(node, (ast.Pass, ast.Global, ast.Nonlocal, ast.Break, ast.Continue))
            if not is_silent and not self._functions.is_definition(node):
                self.cuts.append(
                    cut or Checker(self._scope).statement(node) or Cut("there is nothing to compile", node)
                )
            return [node]
        if isinstance(node, (ast.For, ast.While)) and (exiting := self._exiting(node)) is not None:
            return exiting
        made = copy.copy(node)
        for name in blocks:
            setattr(made, name, self.block(getattr(node, name)))
        for name in ("handlers", "cases"):
            inside = [copy.copy(part) for part in getattr(node, name, ())]
            for part in inside:
                part.body = self.block(part.body)
            if inside:
                setattr(made, name, inside)
        return [made]

    # -- side exits

    def _exiting(self, node: Loop) -> list[ast.stmt] | None:
        """Plan a loop with side exits, if that is all that keeps it from being a nest."""
        lines = node.lineno, node.end_lineno or node.lineno
        if -id(node) in self._unfit or lines in self._dropped:
            return None
        found = with_exits(node, self._is_native, lambda over: self._is_range(over))
        if found is None:
            return None
        plan, name = ExitPlan(node, found, len(self.pieces)), f".piece{len(self.pieces)}"
        live_out = live_at_exits(node, found, self._live)
        own = self._functions.used_by([node])
        needed = live_before(node, found, live_out) - bound_names(own) | exposed(own)
        live_in = tuple(sorted(n for n in needed if n in HIDDEN or self._is_variable(n)))
        self.pieces.append(
            PlannedLoop(name, (*own, *found.statements), live_in, live_out, False, lines, node, {}, len(own))
        )
        call = ast.Call(ast.Name(name, ast.Load()), [plan.given(n) for n in live_in], [])
        taken = ast.Assign([ast.Tuple([plan.target(n) for n in live_out], ast.Store())], ast.Name(RESULT, ast.Load()))
        hit = [taken, _assign(RESULT, ast.Constant(None)), *plan.left(self.block)]
        tried = self._tried(name, [_assign(RESULT, call)], [], plan.missed(self.block), hit, node)
        loop = plan.loop([plan.called(), *tried], self.block(node.orelse))
        made = [*plan.before(), *loop, *plan.weighed(WEIGH, name)]
        return [ast.copy_location(s, node) for s in made]

    def _is_native(self, statement: ast.stmt) -> bool:
        """Whether a statement may be part of a nest, inside a loop."""
        if any(id(part) in self._unfit for part in ast.walk(statement)):
            return False
        return may_be_lowered(statement, self._scope, in_loop=True)

    def _is_range(self, over: ast.expr) -> bool:
        return isinstance(over, ast.Call) and self._scope.meaning(over.func) is range

    # -- one piece

    def _closed(self, piece: Collected) -> list[ast.stmt]:
        """Emit a piece, or its statements if it is not worth a call."""
        if not piece.originals:
            return []
        first, last = piece.originals[0], piece.originals[-1]
        lines = first.lineno, last.test.end_lineno or last.lineno if isinstance(last, ast.If) else last.end_lineno or 0
        if not piece.work or not self._has_arrays(piece) or lines in self._dropped:
            if lines in self._dropped:
                self.cuts.append(Cut("it failed too often", first))
            return [part for s in piece.originals for part in (self._python(s, None) if _has_blocks(s) else [s])]
        used = {n for s in piece.statements for n in reads(s)}
        piece.inputs = {n: value for n, value in piece.inputs.items() if n in used}
        rest = self._planned_rest(piece.rest)
        needed = self._needed(piece, rest)
        again: list[ast.stmt] = []
        for statement in reversed(piece.aliases):  # an alias of an alias needs both
            if needed & bound_names([statement]):
                again.insert(0, statement)
                needed |= set(reads(statement))
        outputs = [n for n, fresh in piece.defined.items() if fresh and n in needed] + list(piece.temporaries)
        if not outputs:
            return list(piece.originals)
        made = self._function(piece, outputs)
        if made is None:
            self.cuts.append(Cut("its function could not be compiled", first))
            return list(piece.originals)
        name = f".piece{len(self.pieces)}"
        self.pieces.append(PlannedPiece(name, made, tuple(outputs), (lines[0], lines[1]), piece.work))
        return self._emitted(piece, name, outputs, again, needed, rest)

    def _has_arrays(self, piece: Collected) -> bool:
        """Whether a piece takes anything but Python's numbers; otherwise it would serve no call."""
        before = {plan_name(name): value for name, value in piece.before}
        given = [before.get(v.id, v) if isinstance(v, ast.Name) else v for v in piece.inputs.values()]
        return not all(map(self._inputs.is_numeric, given))

    def _needed(self, piece: Collected, rest: ast.stmt | None) -> set[str]:
        last = piece.originals[-1]
        found = set(self._live.at[id(last)])
        if isinstance(rest, ast.If):
            found |= self._live.before.get(id(last), frozenset()) | set(reads(rest))
        elif rest is not None:
            found |= set(reads(rest))
        return found

    def _planned_rest(self, rest: ast.stmt | None) -> ast.stmt | None:
        if isinstance(rest, ast.If):
            made = copy.copy(rest)
            made.body, made.orelse = self.block(rest.body), self.block(rest.orelse)
            return made
        return rest

    def _function(self, piece: Collected, outputs: list[str]) -> CodeType | None:
        names = [ast.Name(n, ast.Load()) for n in outputs]
        value = names[0] if len(names) == 1 else ast.Tuple(list(names), ast.Load())
        body = [*piece.statements, ast.copy_location(ast.Return(value), piece.originals[-1])]
        given = ast.arguments([], [ast.arg(n) for n in piece.inputs], None, [], [], None, [])
        like = self._scope.source.code
        tree = ast.copy_location(ast.FunctionDef(like.co_name, given, body, []), piece.originals[0])
        return code_of(ast.fix_missing_locations(tree), like)

    def _emitted(
        self, piece: Collected, name: str, outputs: list[str], again: list[ast.stmt], needed: set[str],
        rest: ast.stmt | None,
    ) -> list[ast.stmt]:  # fmt: skip
        place = piece.originals[0]
        call = ast.Call(ast.Name(name, ast.Load()), list(piece.inputs.values()), [])
        tried: list[ast.stmt] = [_assign(plan_name(n), value) for n, value in piece.before]
        tried.append(_assign(RESULT, call))
        tests = self._tests(piece.guards)
        joined = isinstance(rest, ast.If)
        missed: list[ast.stmt] = list(piece.originals[:-1]) if rest is not None else list(piece.originals)
        hit: list[ast.stmt] = self._received(outputs, piece)
        hit += [_assign(n, ast.Name(plan_name(p), ast.Load())) for n, p in piece.renamed.items() if n in needed]
        hit += again
        if joined:
            missed += [_assign(plan_name(n), value) for n, value in piece.temporaries.items()]
        elif rest is not None:
            missed.append(piece.originals[-1])
            hit.append(rest)
        made = self._tried(name, tried, tests, missed, hit, place)
        return [*made, rest] if joined and rest is not None else made

    def _tried(
        self, name: str, tried: list[ast.stmt], tests: list[ast.expr], missed: list[ast.stmt], hit: list[ast.stmt],
        place: ast.stmt,
    ) -> list[ast.stmt]:  # fmt: skip
        """Emit a call of a piece, the statements that run if it fails, and what follows if it succeeds.

        If these statements raise as well, the failure does not count: the call was wrong.
        """
        if tests:
            tried = [ast.If(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), tried, [])]
        failures = ast.Call(ast.Name(FAILURES, ast.Load()), [], [])
        quiet = ast.ExceptHandler(failures, None, [ast.Pass()])
        is_miss = ast.Compare(ast.Name(RESULT, ast.Load()), [ast.Is()], [ast.Name(MISS, ast.Load())])
        made: list[ast.stmt] = [
            _assign(RESULT, ast.Name(MISS, ast.Load())),
            ast.Try(tried, [quiet], [], []),
            ast.If(is_miss, [ast.Try(missed or [ast.Pass()], [_excused(name)], [], [])], hit),
        ]
        return [ast.copy_location(s, place) for s in made]  # `code_of` gives the nodes inside the same lines

    def _received(self, outputs: list[str], piece: Collected) -> list[ast.stmt]:
        """Bind the results. The plan's own name for them is cleared, so that it keeps no array alive."""
        names = [plan_name(n) if n in piece.temporaries else n for n in outputs]
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in names]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        return [ast.Assign([target], ast.Name(RESULT, ast.Load())), _assign(RESULT, ast.Constant(None))]

    def _tests(self, guards: Guards) -> list[ast.expr]:
        tests: dict[str, ast.expr] = {}
        for node, kind in guards:
            of = ast.Call(ast.Name(TYPE, ast.Load()), [node], [])
            if kind is PARTED:
                test = ast.Compare(of, [ast.In()], [ast.Name(PARTS, ast.Load())])
            else:
                test = ast.Compare(of, [ast.Is()], [ast.Name(self._named(kind), ast.Load())])
            tests.setdefault(ast.dump(test), test)
        return list(tests.values())

    def _named(self, kind: type) -> str:
        for name, known in self.names.items():
            if known is kind:
                return name
        name = f".type{len(self.names)}"
        self.names[name] = kind
        return name


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _has_blocks(node: ast.stmt) -> bool:
    return bool(getattr(node, "body", None)) and not isinstance(node, _DEFINITIONS)


def _excused(name: str) -> ast.ExceptHandler:
    call = ast.Call(ast.Name(EXCUSE, ast.Load()), [ast.Name(name, ast.Load())], [])
    return ast.ExceptHandler(None, None, [ast.Expr(call), ast.Raise()])


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)

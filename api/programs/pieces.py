"""Run the pieces of a plan, as graphs or as loop nests, and count how their calls go.

A piece that can't serve a call returns `MISS`; then the plan runs the statements themselves.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from ..frontend.programs.kinds import KNOWN_TYPES, LONG, Unknown, kind_of
from ..frontend.programs.lower import lower_piece
from ..frontend.programs.planning import plan
from ..frontend.programs.planning.pieces import (
    FEWEST_OPS,
    Cut,
    KnownResult,
    Piece,
    Result,
    SameResult,
    TupleResult,
    is_small,
)
from ..frontend.programs.reading.allowed import PythonScope
from ..frontend.programs.reading.source import NoSource, read_source
from ..frontend.programs.reading.state import is_usual, state_guards
from ..ir.errors import MemoryProblem, SizeProblem
from ..ir.records import replace
from ..ir.source import ABSENT, Guard, are_kept
from ..ir.support.interruptions import is_interruption
from ..ir.support.progress import compiling
from ..runtime.calling import Called, native_class
from ..runtime.native.call import CallForm
from ..runtime.native.callables import is_native
from ..runtime.native.dispatch import Chain, is_paused
from ..runtime.native.nest_calls import NestCallForm, NestSource
from .reasons import Reason, is_internal, reason_of, span_of
from .rests import Rest
from .unfit_calls import UNFIT, UnfitCalls

MOST_FAILURES = 4  # in a row, before a piece is switched off
MOST_KINDS = 256  # descriptions of arguments to remember
MOST_SLOW = 16  # calls that Python serves, before a piece that is never served natively is switched off
FEWEST_STEPS = 4  # of a loop with side exits, in each call of its piece on average
MOST_SIGNATURES = 8  # that one piece is compiled for
MOST_VERSIONS = 3  # of a piece for one signature: what one guards does not hold in all calls
SMALL = Reason("it is too little work for a call")
CONTAINERS = (tuple, list, dict)
MISS = object()  # what a piece returns when Python must run its statements
Compiled = Callable[[Sequence[Any], dict[str, Any]], Any]
CompileNest = Callable[[Piece], Any]


class Owner(Protocol):
    """The program that a piece belongs to."""

    loop_cuts: list[Reason]

    @property
    def native_calls(self) -> int:
        """How many calls of the function were served natively by this one piece."""

    def drop(self, lines: tuple[int, int]) -> None:
        """Leave the piece at these lines to Python from the next call on."""

    def split(self, statement: ast.stmt) -> None:
        """Keep a statement out of nests from the next call on."""

    def leave_whole(self, loop: ast.stmt) -> None:
        """Try no side exits in a loop any more, from the next call on."""

    def tell(self, reason: Reason) -> None:
        """Print why Python takes over, if the user wants to know."""

    def warn(self, error: Exception, lines: tuple[int, int]) -> None:
        """Warn, once, that Python runs these lines because of a mistake inside Weft."""

    def check_names(self) -> bool:
        """Whether names outside the function still mean what the plan knows."""

    def rely(self, guards: Iterable[Guard]) -> None:
        """Remember what a piece relies on."""


class PieceProgram:
    """Counts the calls of one piece of a plan. A piece that can't serve a call returns `MISS`."""

    obstacle = None
    planned_calls = 0

    def __init__(self, program: Owner, function: FunctionType, piece: plan.PlannedPiece) -> None:
        self.program, self.function, self.lines, self.piece = program, function, piece.lines, piece
        # A few operations on numbers alone take Python as long as the call.
        self._given = CONTAINERS if piece.work < FEWEST_OPS else (*CONTAINERS, np.generic)
        self.callable: Any = None
        self.failures = self.misses = self.python_calls = 0
        self.served_before = 0  # native calls, when it last failed
        self.rest = Rest()
        self._unfit = UnfitCalls()
        self.left = 0  # calls that came when it was switched off
        self.doubt: Reason | None = None  # why the last call failed, until it is known whether Python fails, too
        self.off: Reason | None = None
        self.reason: Reason | None = None  # of the last failure

    def serves(self, planned: Any) -> bool:
        """Whether it is a piece of a new plan, too."""
        return bool(self.piece.code == planned.code and self.piece.outputs == planned.outputs)

    @property
    def native_calls(self) -> int:
        found: int = self.callable.chain.calls
        return found

    def call(self, compiled: Compiled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self.doubt is not None:
            _failed(self)
        if self.off is not None:
            return _left(self)
        if self.rest.takes():
            self.misses += 1
            return MISS
        if not is_usual() or not self.program.check_names():
            return MISS
        if not any(type(x) is np.ndarray or isinstance(x, self._given) for x in args):
            return _missed(self, Reason("it gets no array"))
        if self._unfit.takes(args, self.piece.work):
            self.misses, self.reason = self.misses + 1, UNFIT
            return MISS
        misses, chain = self.callable.signature_cache.misses, self.callable.chain
        made, is_asked = chain.made, chain.is_asked
        result = _run(self, lambda: compiled(args, dict(kwargs)))
        if result is MISS:
            return MISS
        if misses == self.callable.signature_cache.misses and not is_asked and not is_paused():
            self._unfit.count(args, made, chain.made)
        if self.callable.signature_cache.misses > MOST_SIGNATURES:
            self.off = Reason(f"it was compiled for more than {MOST_SIGNATURES} signatures")
        elif self.python_calls >= MOST_SLOW and not self.callable.chain.calls and not is_paused():
            self.off = Reason("its calls can't be served natively, so Python is as fast")
            self.program.drop(self.lines)
        return result


class LoopProgram(Called):
    """Counts the calls of statements that may be one nest.

    It is a callable that returns `MISS` if Python must run them.
    """

    takes_out = True  # calls have positional arguments only

    def __init__(self, program: Owner, loop: plan.PlannedLoop, scope: PythonScope, compile: CompileNest | None) -> None:
        self.program, self.loop, self.lines = program, loop, loop.lines
        self.__name__ = loop.name
        self._scope, self._compile = scope, compile
        self._kinds: dict[Any, Any] = {}
        self._made: dict[Any, list[Any]] = {}  # the versions for each signature
        self._settled: set[Any] = set()  # signatures that get no more versions
        self.chain = Chain()
        self.python_calls = self.misses = self.failures = 0
        self.served_before = 0  # native calls, when it last failed
        self.rest = Rest()
        self.left = 0  # calls that came when it was switched off
        self.doubt: Reason | None = None
        self.off: Reason | None = None if compile is not None else Reason("the backend does not compile loops")
        self.reason: Reason | None = None
        self._is_split = False  # then the next plan is without it already
        self.broken: Exception | None = None  # a mistake of Weft's while it was compiled
        self.compile_seconds = 0.0

    def serves(self, planned: Any) -> bool:
        """Take over the statements of a new plan, if they are the same as before; tell whether they are."""
        if not plan.are_same(self.loop, planned):
            return False
        self.loop = replace(self.loop, name=planned.name)
        self.__name__ = planned.name
        return True

    @property
    def function(self) -> FunctionType:
        """The function whose statements these are."""
        return self._scope.function

    @property
    def calls(self) -> int:
        """How many calls ran as a nest."""
        return self.python_calls + self.chain.calls

    @property
    def signatures(self) -> int:
        """For how many signatures it was compiled, with each version of its guards counted."""
        return sum(map(len, self._made.values()))

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Let Python run the statements, which adds them to the trace."""
        return MISS

    def chunked(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        return MISS

    def served(self, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        if self.doubt is not None:
            _failed(self)
        if self.off is not None:
            return MISS if self._is_split else _left(self)
        if self.rest.takes():
            self.misses += 1
            return MISS
        if not is_usual():
            return MISS
        key = tuple(map(_quick_kind, args))
        kinds = self._kinds.get(key)
        if kinds is None:
            if len(self._kinds) >= MOST_KINDS:
                self._kinds.clear()
            kinds = self._kinds[key] = tuple(map(kind_of, args))
        values = dict(zip(self.loop.live_in, args, strict=True))
        made = self._version(kinds, values)
        if made is MISS or not are_kept(made.piece.meant) or not self._scope.meanings.are_kept():
            self.misses += 1
            self.program.check_names()
            return MISS
        result = _run(self, lambda: self._learn_and_run(made, values))
        if result is MISS:
            return MISS
        if self.loop.returns:
            return result or (None,)
        found = dict(zip((name for name, _ in made.piece.results), result, strict=True))
        return tuple(found[name] if name in found else values[name] for name in self.loop.live_out)

    def _version(self, kinds: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
        """The compiled version whose guards hold for some values. If there is none yet, another one is compiled."""
        versions = self._made.get(kinds, [])
        fitting = next((made for made in versions if made.fits(values)), None)
        if fitting is not None:
            return fitting
        if len(versions) >= MOST_VERSIONS or kinds in self._settled:
            return versions[-1]
        return self._compiled(kinds, values)

    def _learn_and_run(self, made: Any, values: Mapping[str, Any]) -> Any:
        if is_native(self):
            self._learn(made, values)  # before it runs: if this fails, nothing has happened yet
        return made.run(values)

    def _learn(self, made: Any, values: Mapping[str, Any]) -> None:
        """Make a recipe for calls like this one."""
        sources = {name: NestSource(k) for k, name in enumerate(values)}
        call = NestCallForm(CallForm(len(values), ()), sources, values, self._guards(made.piece))
        made.learn(self, self.chain, call, self._result(made.piece))

    def teach(
        self, instance: Any, form: CallForm, sources: Mapping[str, NestSource], values: Mapping[str, Any],
        own: Sequence[Guard],
    ) -> bool:  # fmt: skip
        """Make a recipe for calls of a function that is this one piece; tell whether there is one.

        `own` are guards on the function itself.
        """
        versions = self._made.get(tuple(kind_of(values[name]) for name in self.loop.live_in), [])
        made = next((made for made in versions if made.fits(values)), None)
        if made is None or self.off is not None:
            return False
        call = NestCallForm(form, sources, values, (*own, *self._guards(made.piece)))
        learned: bool = made.learn(instance, instance.chain, call, made.piece.returned or KnownResult(None))
        return learned

    def _guards(self, piece: Piece) -> tuple[Guard, ...]:
        """List the names that must still mean the same for a piece to run."""
        found = {(id(guard.holder), guard.key): guard for guard in (*piece.meant, *self._scope.meanings.guards)}
        return (*found.values(), *state_guards())

    @property
    def native_calls(self) -> int:
        return self.chain.calls + self.program.native_calls

    def _result(self, piece: Piece) -> Result:
        """Say what a call returns: the value of a `return` in a tuple, or the live-out variables."""
        if self.loop.returns:
            return TupleResult((piece.returned or KnownResult(None),))
        found = dict(piece.results)
        return TupleResult(tuple(found.get(name, SameResult((name,))) for name in self.loop.live_out))

    def _compiled(self, kinds: tuple[Any, ...], values: Mapping[str, Any]) -> Any:
        if any(isinstance(kind, Unknown) and kind.type_name == "int" for kind in kinds):
            self.reason = self.doubt = Reason("it gets an integer of more than 64 bits")
            self.program.tell(self.reason)
            return MISS
        if kinds not in self._made and len(self._made) >= MOST_SIGNATURES:
            self.off = Reason(f"it was compiled for more than {MOST_SIGNATURES} signatures")
            return MISS
        live_in = dict(zip(self.loop.live_in, kinds, strict=True))
        statements = self.loop.statements
        start = time.perf_counter()
        try:
            with compiling(self._scope.function.__name__):
                found = lower_piece(
                    statements, live_in, self.loop.live_out, self._kind_of_name, values, _statements_of, "piece",
                    self.loop.paths, is_general=kinds in self._made,
                )  # fmt: skip
                if isinstance(found, Cut):
                    return self._refused(kinds, found)
                if is_small(found) and statements != tuple(self._scope.source.body):
                    self.off = SMALL
                    return MISS
                assert self._compile is not None
                made = self._compile(found)
        except Exception as error:
            if is_interruption(error):
                raise
            if is_internal(error, in_compiler=True):
                self.broken = error
                self.program.warn(error, self.lines)
            return self._refused(kinds, Cut(reason_of(error).text, statements[0]))
        self.compile_seconds += time.perf_counter() - start
        self.program.rely((*found.meant, *self._scope.meanings.guards))
        self._made.setdefault(kinds, []).append(made)
        return made

    def _refused(self, kinds: tuple[Any, ...], cut: Cut) -> Any:
        """Leave these statements out of the next plan, unless only an additional version of them can't be compiled."""
        if kinds in self._made:
            self._settled.add(kinds)
            return self._made[kinds][-1]
        self._split(cut)
        return MISS

    def _kind_of_name(self, name: str) -> Any:
        value = self._scope.value(name)
        return None if value is ABSENT else kind_of(value)

    def _split(self, cut: Cut) -> None:
        """Remember the statement that can't be part of a nest; the next plan is split there."""
        own, self._is_split = self.loop.own, True
        if any(part is cut.node for s in self.loop.statements[: self.loop.borrowed] for part in ast.walk(s)):
            cut = Cut(cut.reason, own[0])  # a definition that stands elsewhere is no part of the plan here
        self.reason = self.off = Reason(cut.reason, span_of(cut.node, self._scope.function))
        inner = _innermost(cut.node, own)
        if inner is not None and self.loop.origin is not inner:
            self.program.split(inner)  # so that it may be a side exit
        if self.loop.origin is not None:
            if inner is None or not any(inner is s for s in ast.walk(self.loop.origin)):
                self.program.leave_whole(self.loop.origin)
            self._note(self.reason)
            return
        line = getattr(cut.node, "lineno", self.lines[0])
        inside = [s for s in own if s.lineno <= line <= (s.end_lineno or s.lineno)]
        for statement in inside or own:
            self.program.split(statement)
        self._note(self.reason)

    def _note(self, reason: Reason) -> None:
        self.program.loop_cuts.append(reason)
        self.program.tell(reason)


CallableLoop = native_class(LoopProgram)


def _run(piece: PieceProgram | LoopProgram, run: Callable[[], Any]) -> Any:
    """Run a piece; return its result, or `MISS` if Python has to run its statements."""
    try:
        result = run()
    except (MemoryProblem, SizeProblem):
        raise
    except Exception as error:
        if is_interruption(error):
            raise
        if is_internal(error) and piece.reason is None:
            piece.program.warn(error, piece.lines)
        return _missed(piece, reason_of(error))
    piece.failures = 0
    piece.python_calls += 1
    return result


def _missed(piece: PieceProgram | LoopProgram, reason: Reason) -> Any:
    """Note that a piece could not serve a call. It counts as a failure unless Python's own statements raise, too."""
    piece.reason = piece.doubt = reason
    piece.program.tell(reason)
    piece.misses += 1
    return MISS


def _failed(piece: PieceProgram | LoopProgram) -> None:
    """Count a call that only Python could serve; after several in a row the piece is switched off.

    Between the calls that are served, more and more calls are left to Python without a try.
    """
    reason, piece.doubt = piece.doubt, None
    piece.rest.lengthen(piece.native_calls)
    if piece.native_calls != piece.served_before:  # others were served since the last failure
        piece.failures, piece.served_before = 0, piece.native_calls
    piece.failures += 1
    if piece.failures < MOST_FAILURES:
        return
    piece.off = reason
    if isinstance(piece, LoopProgram) and not any(isinstance(s, (ast.For, ast.While)) for s in piece.loop.statements):
        for statement in piece.loop.statements:
            piece.program.split(statement)  # its array expressions may still be compiled
        if reason is not None:
            piece._note(reason)
    else:
        piece.program.drop(piece.lines)


def _left(piece: PieceProgram | LoopProgram) -> Any:
    """Count a call of a piece that is switched off.

    If its native code serves fewer calls, the next plan leaves it out.
    """
    if piece.left == 0:
        piece.served_before = piece.native_calls
    piece.left += 1
    if piece.left == MOST_SLOW:
        if piece.native_calls - piece.served_before < MOST_SLOW:
            piece.program.drop(piece.lines)
        piece.left = 0
    return MISS


def _innermost(node: ast.AST, statements: Sequence[ast.stmt]) -> ast.stmt | None:
    """The smallest statement inside others that contains a node, unless it is one of them."""
    around = [s for top in statements for s in ast.walk(top) if isinstance(s, ast.stmt) and s not in statements]
    found = [s for s in around if any(part is node for part in ast.walk(s))]
    return min(found, key=lambda s: len(list(ast.walk(s))), default=None)


def weigh(piece: Any, calls: int, steps: int) -> None:
    """Leave a loop with side exits to Python if its piece runs only a few steps in each call."""
    piece = getattr(piece, "timed_piece", piece)
    if calls >= MOST_SLOW and steps < FEWEST_STEPS * calls:
        piece.off = Reason("each call leaves it after a few steps")
        piece.program.drop(piece.lines)


def excuse(piece: Any) -> None:
    """Forget that a piece failed, because Python raised an error as well: the call was wrong, not the piece."""
    piece = getattr(piece, "timed_piece", piece)
    found = piece if isinstance(piece, LoopProgram) else piece._program
    if found.doubt is not None:
        found.doubt = None
        found.rest.lengthen(found.native_calls)


JUDGES = {plan.EXCUSE: excuse, plan.WEIGH: weigh}  # what a plan calls to say how a piece did


def _statements_of(function: FunctionType) -> Sequence[ast.stmt] | str:
    """Read the statements of an inlined function."""
    source = read_source(function)
    if isinstance(source, NoSource):
        return source.reason
    return source.body


def _quick_kind(x: Any) -> Any:
    """Describe a value so that equal descriptions have equal kinds."""
    if type(x) is np.ndarray:
        return x.dtype, x.shape, x.strides, x.flags.num
    if type(x) is int:
        return (int, x < 0) if -LONG < x < LONG else None
    if type(x) in (float, bool, complex):
        return type(x)
    if isinstance(x, np.generic):
        return x.dtype, type(x)
    if type(x) is tuple:
        return tuple(map(_quick_kind, x))
    if type(x) is slice:
        return (slice, x.start, x.stop, x.step) if all(map(_is_plain, (x.start, x.stop, x.step))) else slice
    return (type(x), id(x)) if isinstance(x, KNOWN_TYPES) else type(x)


def _is_plain(x: Any) -> bool:
    return x is None or type(x) is int

"""Decide how the calls of a jitted function run: as one compiled piece, by a plan with several, or by Python.

A call leaves returned objects, arguments, exceptions and side effects as plain Python would. A function is traced as a
whole only if its source shows that nothing else can happen. Otherwise its plan runs: Python, with compiled pieces tried
where they stand. Whatever a piece refuses is left to Python.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CellType, FunctionType, MethodType
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np

from ..frontend.programs.planning import plan
from ..frontend.programs.planning.pieces import Cut
from ..frontend.programs.reading.allowed import PythonScope
from ..frontend.programs.reading.lowerable import calls_numpy, calls_written_loops, changes_parameters
from ..frontend.programs.reading.meanings import Meanings
from ..frontend.programs.reading.meanings import places as places_of
from ..frontend.programs.reading.names import exposed
from ..frontend.programs.reading.source import FunctionSource, NoSource, read_source
from ..frontend.programs.reading.state import is_usual
from ..frontend.tracing.tracer import Tracer
from ..ir.errors import MemoryProblem, OnlyTraced, SizeProblem, WeftError
from ..ir.lazy import cached_property
from ..ir.source import ABSENT, Guard, are_kept, function_guards
from ..ir.support.interruptions import is_interruption
from ..runtime.native.call import CallForm
from ..runtime.native.callables import is_native
from ..runtime.native.dispatch import Chain
from ..runtime.native.nest_calls import NestSource
from ..runtime.native.recipe import forwarding
from .call_kinds import foreign_reason, is_data, is_foreign, kinds_of
from .obstacles import obstacle_of
from .pieces import JUDGES, MISS, MOST_FAILURES, CallableLoop, Compiled, CompileNest, LoopProgram, PieceProgram
from .plan_times import PlanTimes
from .reasons import Reason, failures, is_internal, reason_of, span_of, warn_of
from .rests import Rest

MOST_REFUSED = 64  # kinds of arguments to remember as refused
MOST_MEANINGS = 16  # of the names outside a function, for which it is learned how to run it
LAZY = ("source", "obstacle", "is_split")
LEARNED = (
    *LAZY, "pieces", "unfit", "cuts", "loop_cuts", "meanings", "off", "_failures", "_slow_trace", "_rest", "_refused",
    "_plan", "_nest", "_unplanned", "_dropped", "_own", "times",
)  # fmt: skip
PARTED = frozenset((np.ndarray, list, tuple, dict))
MakePiece = Callable[[FunctionType, "PieceProgram"], Any]


class Front(Protocol):
    """The function that is called. `takes_out` means that `out` is one of its own arguments."""

    chain: Chain
    takes_out: bool

    def forget(self) -> None:
        """Drop the recipes."""

    def traced_call(self, *args: Any, **kwargs: Any) -> Any:
        """Trace a call that Python can't run."""


class Program:
    """What is known about a function, and how its calls have gone so far. `make` makes the pieces of plans."""

    def __init__(self, function: Callable[..., Any], make: MakePiece, compile: CompileNest | None) -> None:
        self.function, self._make, self._compile = function, make, compile
        self.compiled_calls = self.planned_calls = self.python_calls = 0
        self._explains, self._told = os.environ.get("WEFT_EXPLAIN", "") not in ("", "0"), set[Reason]()
        self._earlier: list[dict[str, Any]] = []  # what was learned while names outside meant something else
        self._is_warned = False
        self._is_watched = False  # whether a name has changed its meaning
        self._fronts: WeakSet[Front] = WeakSet()  # functions with recipes for calls of this program
        self._learn_anew()

    def _learn_anew(self) -> None:
        """Forget everything that depends on what names outside the function mean."""
        for name in LAZY:
            self.__dict__.pop(name, None)
        self.pieces: list[PieceProgram | LoopProgram] = []
        self.unfit: set[int] = set()  # statements that no nest takes
        self.cuts: list[Reason] = []
        self.loop_cuts: list[Reason] = []
        self.meanings = Meanings()  # what names outside meant when they were checked
        self._own = function_guards(self.function) if isinstance(self.function, FunctionType) else []
        self.rely(self._own)
        self.off: Reason | None = None  # why calls are no longer tried as a whole
        self._failures = 0
        self._slow_trace: Reason | None = None  # why a trace is no choice, though it works
        self._rest = Rest()
        self._refused: dict[Any, Reason] = {}
        self._plan: FunctionType | None = None
        self.times: PlanTimes | None = None
        self._nest: LoopProgram | None = None  # the whole function, for `whole=True`
        self._unplanned: Reason | None = None  # why there is no plan
        self._dropped: set[tuple[int, int]] = set()

    @cached_property
    def source(self) -> FunctionSource | NoSource:
        return read_source(self.function)

    @cached_property
    def obstacle(self) -> Reason | None:
        """The reason why the function can't be traced as a whole, if there is one."""
        return obstacle_of(self.function, self.rely)

    @cached_property
    def is_split(self) -> bool:
        """Whether no call is traced as a whole, because that is impossible or pieces are faster."""
        return self._is_better_split or changes_parameters(self.function, self.source)

    @property
    def _is_better_split(self) -> bool:
        """Whether tracing is no option, even if no nest serves the function."""
        calls = (calls_written_loops, calls_numpy)
        is_known = self.obstacle is not None or self._slow_trace is not None
        return is_known or any(f(self.function, self.source) for f in calls)

    def call(self, compiled: Compiled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a call: compiled where that is safe, else by the plan."""
        if self._is_watched or not self.is_split or not are_kept(self._own):
            self._follow()
        if (foreign := next(filter(is_foreign, (*args, *kwargs.values())), None)) is not None:
            return self._run_foreign(foreign, compiled, args, kwargs)
        if self.off is not None or self.is_split:
            try:
                return self.run(args, kwargs)
            except OnlyTraced:  # Python can't run it, so a trace must
                return compiled(args, dict(kwargs))
        problem: Exception | None = None
        key = kinds_of(args, kwargs)
        if key in self._refused:
            self._count_failure(self._refused[key])
        elif is_usual() and not self._rest.takes():
            try:
                result = compiled(args, dict(kwargs))
            except (MemoryProblem, SizeProblem):  # Python could do no better: NumPy may even write past the end
                raise
            except Exception as error:
                if is_interruption(error):
                    raise
                problem = error
            else:
                self._failures = 0
                self.compiled_calls += 1
                return result
        try:
            result = self.run(args, kwargs)  # may raise: then the caller's mistake was the problem
            if problem is not None:
                self._note(key, problem)
            return result
        except OnlyTraced:  # Python can't run it, so a trace must
            if problem is None:
                return compiled(args, dict(kwargs))
            raise problem from None
        except Exception:
            if problem is not None:
                self._rest.lengthen(self.compiled_calls + self.native_calls)
            raise
        finally:
            problem = None  # its traceback refers to this frame, which holds the arguments

    def _run_foreign(self, foreign: Any, compiled: Compiled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Let Python run a call with another library's array. It says nothing about calls with NumPy's arrays."""
        reason = foreign_reason(foreign)
        self._refused.setdefault(reason, reason)
        self.tell(reason)
        try:
            result = self.function(*args, **kwargs)
        except OnlyTraced:
            return compiled(args, dict(kwargs))
        self.python_calls += 1
        return result

    def run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a call by the plan if there is one, else in Python."""
        if self._is_watched or not are_kept(self._own):
            self._follow()
        planned, times = self._plan, self.times  # another thread may drop them
        if planned is None and self._unplanned is None:
            self._plan_for(args, kwargs)
            planned, times = self._plan, self.times
        if planned is None:
            self.python_calls += 1
            return self.function(*args, **kwargs)
        self.planned_calls += 1
        if times is not None and not times.is_done:
            return times.run(args, kwargs)
        return planned(*args, **kwargs)

    def as_nest(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any] | Reason:
        """Run a call as one nest, for `whole=True`.

        Return the result in a tuple, or the reason why that is impossible.
        """
        function, source = self.function, self.source
        if isinstance(source, NoSource) or not isinstance(function, FunctionType):
            return Reason(source.reason if isinstance(source, NoSource) else "it is not a plain function")
        if not is_usual():
            return Reason("NumPy's error state is not as usual")
        self._follow()
        bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
        bound.apply_defaults()
        scope = PythonScope(function, source)
        outer = [name for name in sorted(exposed(source.body)) if name not in bound.arguments]
        captured = {name: value for name in outer if is_data(value := scope.value(name))}
        values = {**bound.arguments, **captured}
        if self._nest is None or self._nest.loop.live_in != tuple(values):
            lines = source.body[0].lineno, source.body[-1].end_lineno or source.body[-1].lineno
            loop = plan.PlannedLoop(".whole", tuple(source.body), tuple(values), (), True, lines)
            self._nest = CallableLoop(self, loop, scope, self._compile)
        found = self._nest(*values.values())
        if found is MISS and self._nest.broken is not None:
            raise self._nest.broken
        if found is MISS:
            return self._nest.off or self._nest.reason or Reason("names outside the function have changed")
        return (found[0] if found else None,)

    # -- names outside

    def rely(self, guards: Iterable[Guard]) -> None:
        """Remember what a piece relies on."""
        self.meanings.update(guards)

    def check_names(self) -> bool:
        """Check that names outside still mean what they meant. If not, the next call starts from the beginning."""
        if self.meanings.are_kept():
            return True
        self._is_watched = True
        self._forget_recipes()
        return False

    def _follow(self) -> None:
        """Use what was learned when names outside had their present meaning, or start from the beginning."""
        if self.check_names():
            return
        states = [{name: self.__dict__[name] for name in LEARNED if name in self.__dict__}, *self._earlier]
        known = next((state for state in states if state["meanings"].are_kept()), None)
        before = self.meanings
        self._learn_anew()
        if known is not None:
            self.__dict__.update(known)
        elif len(states) > MOST_MEANINGS:
            self.__dict__["obstacle"] = self._unplanned = Reason("names outside it change too often")
        else:
            self.rely(before.now())
        self._earlier = [state for state in states if state is not known][:MOST_MEANINGS]

    # -- pieces

    def leave_traces(self, reason: Reason) -> None:
        """Trace no call as a whole from now on, because pieces are faster."""
        self._slow_trace = reason
        self.__dict__["is_split"] = True
        self._outdate()

    def drop(self, lines: tuple[int, int]) -> None:
        """Leave a piece to Python from the next call on."""
        self._dropped.add(lines)
        self._outdate()

    def split(self, statement: ast.stmt) -> None:
        """Keep a statement out of nests from the next call on."""
        self.unfit.add(id(statement))
        if not self._is_better_split:  # then a trace serves the function better than pieces do
            self.__dict__["is_split"] = False
        self._outdate()

    def leave_whole(self, loop: ast.stmt) -> None:
        """Try no side exits in a loop any more, from the next call on."""
        self.unfit.add(-id(loop))
        self._outdate()

    def _outdate(self) -> None:
        self._plan = None
        self._forget_recipes()

    def _forget_recipes(self) -> None:
        for front in list(self._fronts):
            front.forget()

    @property
    def native_calls(self) -> int:
        """How many calls of the function were served natively."""
        return sum(front.chain.calls for front in list(self._fronts))

    def prepare(
        self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any], bound: Any = ABSENT
    ) -> None:
        """Plan the function, and let its calls go straight to the plan, or to Python where there is none.

        A function that is one piece has recipes of its own, once the piece has run (`teach`). `bound` is the object of
        a method, the first argument of the plan.
        """
        if not is_native(front) or (bound is ABSENT and not self.is_split and self.off is None):
            return
        self._follow()
        given = args if bound is ABSENT else (bound, *args)
        if self._plan is None and self._unplanned is None:
            self._plan_for(given, kwargs)
        if self._plan is not None and bound is ABSENT and self.whole_piece is not None:
            return
        self._forward(front, bound)

    def _forward(self, front: Front, bound: Any) -> None:
        plan: Callable[..., Any] | None = self._plan
        if plan is None and self._unplanned is not None and not self._is_watched:  # else names may change back
            plan = self.function
        if plan is None or front.chain.has(plan, None):
            return
        if plan is self._plan and self.times is not None and not self.times.is_done:  # its first calls are timed
            return
        self._fronts.add(front)
        called = plan if bound is ABSENT else MethodType(plan, bound)
        own = [guard for guard in self._own if guard.holder is self.function and plan is not self.function]
        out = None if front.takes_out else "out"
        front.chain.put(front, plan, None, lambda: forwarding(called, Tracer, OnlyTraced, front.traced_call, out, own))

    def teach(self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Make a recipe for calls like this one, which Python has served, if the function is one piece."""
        if not is_native(front) or not is_usual():
            return
        self._fronts.add(front)
        if not self._teach_whole(front, form, args, kwargs) and (self.is_split or self.off):
            self._forward(front, ABSENT)

    def learn_nest(self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Make a recipe for calls like this one, which ran as one nest."""
        if is_native(front):
            self._fronts.add(front)
            self._teach_whole(front, form, args, kwargs)

    def _teach_whole(self, front: Front, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Make a recipe that runs the only piece of a function; tell whether there is one."""
        loop = self._nest or self.whole_piece
        function = self.function
        if loop is None or loop.loop.paths or not isinstance(function, FunctionType):
            return False
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        by_name = names[max(len(args), function.__code__.co_posonlyargcount) :]
        if len(args) > len(names) or not kwargs.keys() <= set(by_name):
            return False
        places = {name: k for k, name in enumerate((*names[: len(args)], *kwargs))}
        defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
        given = dict(zip(places, (*args, *kwargs.values()), strict=True))
        sources, values = dict[str, NestSource](), dict[str, Any]()
        variables = function.__code__.co_varnames
        for name in loop.loop.live_in:
            if name in places:
                sources[name], values[name] = NestSource(places[name]), given[name]
            elif name in names:
                sources[name], values[name] = NestSource(constant=defaults[name]), defaults[name]
            elif name in variables:  # a parameter that can only be given by name
                return False
            else:
                guard, *others = places_of(function, name)
                if others or guard.expected is ABSENT:
                    return False
                sources[name], values[name] = NestSource(None, guard.holder, guard.key), guard.expected
        return loop.teach(front, form, sources, values, self._own)

    @property
    def has_plan(self) -> bool:
        """Whether calls run by a plan, or did until it was dropped just now."""
        return self._unplanned is None

    @property
    def whole_piece(self) -> LoopProgram | None:
        """The piece that is the whole function, if there is one."""
        first = self.pieces[0] if self.pieces else None
        if not isinstance(first, LoopProgram) or isinstance(self.source, NoSource):
            return None
        return first if first.loop.statements == tuple(self.source.body) else None

    def _note(self, key: Any, error: Exception) -> None:
        """Remember that a call failed as a whole."""
        reason = reason_of(error)
        self.tell(reason)
        if is_internal(error) and reason not in list(self._refused.values()):
            self.warn(error, None)
        if isinstance(error, WeftError) and len(self._refused) < MOST_REFUSED:
            self._refused[key] = reason
        self._count_failure(reason)

    def _count_failure(self, reason: Reason) -> None:
        """Give up whole-function calls after several in a row that failed."""
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self.off = reason

    def warn(self, error: Exception, lines: tuple[int, int] | None) -> None:
        """Warn, once, that Python runs these lines, or all of them, because of a mistake inside Weft."""
        if not self._is_warned:
            self._is_warned = True
            warn_of(error, self.function, lines)

    def tell(self, reason: Reason) -> None:
        """Print why Python takes over, once, if `WEFT_EXPLAIN` asks for it."""
        if self._explains and reason not in self._told:
            self._told.add(reason)
            print(f"weft: {getattr(self.function, '__name__', 'function')}: {reason}", file=sys.stderr)

    @property
    def reasons(self) -> list[Reason]:
        """The reasons why Python runs the function, parts of it, or some of its calls."""
        found = [self._unplanned] if self._unplanned is not None else self.cuts
        whole = [self.obstacle] if self.obstacle is not None and not self.pieces else []
        return list(
            dict.fromkeys(
                [*whole, *self.loop_cuts, *found, *self._refused.values(), *filter(None, (self.off, self._slow_trace))]
            )
        )

    # -- planning

    def _plan_for(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Plan the function for arguments like these."""
        function, source = self.function, self.source
        if isinstance(source, NoSource) or not isinstance(function, FunctionType):
            self._unplanned = Reason(source.reason if isinstance(source, NoSource) else "it is not a plain function")
            return
        try:
            bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
            bound.apply_defaults()
            scope = PythonScope(function, source)
            found = plan.make_plan(scope, bound.arguments, frozenset(self._dropped), frozenset(self.unfit))
        except TypeError:  # the caller's mistake: Python says what is wrong
            return
        except RecursionError:
            self._unplanned = Reason("its source is nested too deeply")
            return
        if isinstance(found, Cut):
            self._unplanned = Reason(found.reason, span_of(found.node, function))
            self.tell(self._unplanned)
            return
        self.rely(scope.meanings.guards)
        self.cuts = [Reason(cut.reason, span_of(cut.node, function)) for cut in found.cuts]
        for reason in self.cuts:
            self.tell(reason)
        try:
            self._plan = self._bound_plan(function, found)
        except (KeyError, ValueError, TypeError) as error:  # code that does not fit the function's variables
            self._unplanned = Reason(f"planning failed: {error!r}")

    def _bound_plan(self, function: FunctionType, found: plan.Plan) -> FunctionType:
        """Make a function of the plan's code, with the user's own globals and variables around it."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        pieces: list[LoopProgram | PieceProgram] = []
        named: dict[str, Any] = dict(found.names)
        named |= {plan.MISS: MISS, plan.FAILURES: failures, plan.TYPE: type, plan.PARTS: PARTED, **JUDGES}
        for piece in found.pieces:
            kind = LoopProgram if isinstance(piece, plan.PlannedLoop) else PieceProgram
            kept = next((old for old in self.pieces if isinstance(old, kind) and old.serves(piece)), None)
            if kept is not None:  # what it was compiled for stays
                pieces.append(kept)
                named[piece.name] = kept if isinstance(kept, LoopProgram) else kept.callable
                continue
            if isinstance(piece, plan.PlannedLoop):
                loop = CallableLoop(self, piece, PythonScope(function, self._known_source), self._compile)
                pieces.append(loop)
                named[piece.name] = loop
                continue
            own = FunctionType(
                piece.code, function.__globals__, function.__name__, None,
                tuple(cells[name] for name in piece.code.co_freevars),
            )  # fmt: skip
            own.__module__, own.__qualname__ = function.__module__, function.__qualname__
            made = PieceProgram(self, own, piece)
            made.callable = named[piece.name] = self._make(own, made)
            pieces.append(made)
        self.pieces = pieces  # at once: another thread may be planning, too
        closure = tuple(cells.get(name) or CellType(named[name]) for name in found.code.co_freevars)
        planned = FunctionType(found.code, function.__globals__, function.__name__, function.__defaults__, closure)
        planned.__kwdefaults__ = function.__kwdefaults__
        planned.__module__, planned.__qualname__ = function.__module__, function.__qualname__
        self.times = PlanTimes(planned, {piece.name: named[piece.name] for piece in found.pieces}, self._compiles)
        return planned

    def _compiles(self) -> int:
        """How often a piece was compiled so far."""
        return sum(
            piece.signatures if isinstance(piece, LoopProgram) else piece.callable.signature_cache.misses
            for piece in self.pieces
        )

    @property
    def _known_source(self) -> FunctionSource:
        assert isinstance(self.source, FunctionSource)
        return self.source

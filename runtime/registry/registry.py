"""Hold the implementations of ops that users register, and find them by op name and dtypes.

Readers take no lock: the tables (see `tables`) are replaced as a whole. Every change increments the generation, by
which compiled kernels notice it. Modules that are needed only to register or to query are imported there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from os.path import realpath
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from ...ir.errors import TypeProblem, UnknownName, ValueProblem, nearest
from ...ir.kernels import Choice
from ...ir.opdef import OpDef
from ...ir.ops import TABLE
from ...ir.support.forking import lock
from ...ir.support.pickles import Place, reference
from ...ir.types import Attr, TensorType
from .naming import canonical, dtype_of
from .rankings import Rankings
from .resolve import Resolution, Uses
from .state import Answers
from .tables import RegistryTables

if TYPE_CHECKING:
    from ...ir.dtypes import DType
    from ..compiler import Options
    from .builder import ImplementationBuilder
    from .implementation import Implementation
    from .results import Lookup, ScoreTable, Stats
    from .scores import Ranking


class Watcher(Protocol):
    """Something that caches compiled graphs without asking the registry, such as native calls."""

    def forget(self) -> None: ...


class Registry:
    """The implementations of ops: those that users register, and the bundled ones.

        @weft.registry.register("cube", "f32 -> f32")
        def cube(x):
            return x * x * x

        weft.ops.cube(x)

    `inline` names the ops that the backend has code for. Pickles find a registry at its `place`.
    """

    def __init__(self, inline: frozenset[str] = frozenset(TABLE), place: Place | None = None) -> None:
        self._inline, self._place = inline, place
        self._tables = RegistryTables(self._make_op, self._spread)
        self._rankings = Rankings(inline)
        self._watchers: WeakSet[Watcher] = WeakSet()
        self._watching = lock()
        self._composites: dict[str, OpDef] = {}

    def __repr__(self) -> str:
        return f"<weft registry: {len(self.implementations())} implementations by users>"

    def __reduce__(self) -> Any:
        return reference(self._place, "a registry")

    # -- changing it

    def register(self, op: Any, signature: str | None = None, function: Any = None, **traits: Any) -> Any:
        """Register an implementation of an op, directly or as a decorator.

            weft.registry.register("add", "f32 f32 -> f32", f, hints=["vectorized"])

        op: an op of Weft or NumPy, or a new name.
        signature: the dtypes and shapes of operands and result; optional for a kernel of the language.
        function: a kernel, or a Python function. The function is traced into vector code if possible; otherwise it is
            called between compiled pieces.
        traits: options such as `hints`, `kind`, `priority` and `min_size`; see docs/registry.md.
        """
        from .implementation import Implementation
        from .making import make
        from .traits import Traits

        if isinstance(op, Implementation):
            return self._tables.add([op])[0]
        if function is not None:
            return self._tables.add([make(canonical(op), signature, function, Traits.given(traits))])[0]

        given = Traits.given(traits)

        def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
            self._tables.add([make(canonical(op), signature, decorated, given)])
            return decorated

        return decorate

    def unary(self, op: str, function: Callable[[Any], Any], **traits: Any) -> tuple[Implementation, ...]:
        """Register a function of one operand as vector code, for every dtype it can be traced with.

        weft.registry.unary("cube", lambda x: x * x * x)
        """
        return self._register_all(op, 1, function, traits)

    def binary(self, op: str, function: Callable[[Any, Any], Any], **traits: Any) -> tuple[Implementation, ...]:
        """Register a function of two operands of one dtype as vector code, for every dtype it can be traced with.

        weft.registry.binary("hypot2", lambda x, y: x * x + y * y)
        """
        return self._register_all(op, 2, function, traits)

    def _register_all(
        self, op: str, arity: int, function: Callable[..., Any], traits: Mapping[str, Any]
    ) -> tuple[Implementation, ...]:
        from .making import make_all
        from .traits import Traits

        return tuple(self._tables.add(make_all(canonical(op), arity, function, Traits.given(traits))))

    def register_kernels(
        self, file: str, kernels: Mapping[str, Any], is_whole: bool = False
    ) -> tuple[Implementation, ...]:
        """Register a file's `@impl` kernels, all or nothing; a kernel that is read again replaces itself.

        With `is_whole` these are all kernels of the file, and those it no longer has are unregistered.
        """
        from .making import from_file

        made = [from_file(kernel, (file, name)) for name, kernel in kernels.items() if kernel.impl is not None]
        return tuple(self._tables.add(made, file if is_whole else None))

    def register_again(self, kernel: Any) -> None:
        """Register the `@impl` kernels of an unpickled kernel's file, unless this process has loaded that file."""
        from ...frontend.language.source import parse_texts

        parsed = parse_texts(kernel.texts, kernel.ops)
        known = {each.origin for each in self.implementations() if each.origin is not None}
        places = [(file, k.name) for file in (parsed.file, realpath(parsed.file)) for k in parsed.kernels.values()]
        if not known.intersection(places) and any(k.impl is not None for k in parsed.kernels.values()):
            self.register_kernels(parsed.file, parsed.kernels)

    def builder(self) -> ImplementationBuilder:
        """Start a registration that is built step by step; `build()` registers it."""
        from .builder import ImplementationBuilder

        return ImplementationBuilder(self)

    def unregister(self, op: Any, implementation: Implementation | None = None) -> int:
        """Unregister one implementation, or all that users registered for an op. Return how many there were."""
        from .implementation import Implementation as Kept

        if isinstance(op, Kept):
            op, implementation = op.op, op
        if not isinstance(op, str):
            raise TypeProblem(f"unregister takes the name of an op or an implementation, not {op!r}")
        return self._tables.remove(canonical(op), lambda each: implementation is None or each is implementation)

    @contextmanager
    def scope(self) -> Iterator[Registry]:
        """Undo at the end of a `with` block what this thread registers and unregisters inside it.

        with weft.registry.scope():
            weft.registry.register("add", "f32 f32 -> f32", f)
        """
        with self._tables.scope():
            yield self

    # -- asking it

    def lookup(
        self, op: str, *dtypes: str | DType, size: int | None = None, ranks: tuple[int, ...] | None = None
    ) -> Lookup:
        """Find the best implementation for operands of these dtypes.

            weft.registry.lookup("add", "f32", "f32", size=1000)

        size: the number of elements, if it is known.
        ranks: the number of dimensions of each operand, if they are known.
        """
        if ranks is not None:
            from .traits import numbers

            ranks = numbers("ranks", ranks)
        state = self._tables.state
        try:
            answers = state.answers.get((op, dtypes, ranks))
        except TypeError:  # a list among the dtypes; `explain` reports it
            answers = None
        found = None if answers is None else answers.get(size)
        if found is not None:
            self._rankings.counts.count(True)
            return found
        from .results import found_in

        found = found_in(self.explain(op, *dtypes, size=size, ranks=ranks))
        if answers is None:
            answers = state.answers.setdefault((op, dtypes, ranks), Answers(state.thresholds(self._known(op))))
        answers.put(size, found)
        return found

    def explain(
        self, op: str, *dtypes: str | DType, size: int | None = None, ranks: tuple[int, ...] | None = None
    ) -> ScoreTable:
        """List every implementation of an op with its score, or why it was refused; `print` shows a table.

        print(weft.registry.explain("add", "f32", "f32"))
        """
        from .implementation import Query, cpu_features
        from .results import ScoreTable
        from .traits import numbers

        if size is not None and (not isinstance(size, Integral) or size < 0):
            raise ValueProblem(f"size must be a number of elements, not {size!r}")
        if ranks is not None:
            ranks = numbers("ranks", ranks)
        state, name = self._tables.state, self._known(op)
        query = Query(name, tuple(map(dtype_of, dtypes)), size, ranks, cpu_features)
        return ScoreTable(query, self._rankings.find(state, query, None, frozenset(), None))

    def implementations(self, op: str | None = None) -> tuple[Implementation, ...]:
        """Return what users have registered, for one op or for all, the oldest first."""
        user = self._tables.state.user
        if op is not None:
            return user.get(canonical(op), ())
        return tuple(sorted((i for found in user.values() for i in found), key=lambda i: i.serial))

    def stats(self) -> Stats:
        """Count the ops, the implementations and the lookups."""
        from .bundled import composites
        from .results import Stats

        state, counts = self._tables.state, self._rankings.counts
        bundled = len(self._inline) + len(composites()) + sum(op.numpy is not None for op in TABLE.values())
        return Stats(
            len(self._inline | composites().keys() | state.user.keys()),
            bundled + sum(map(len, state.user.values())),
            len(state.rankings),
            counts.hits,
            counts.misses,
        )

    def clear_cache(self) -> None:
        """Forget cached lookups; registrations stay."""
        self._tables.state.rankings.clear()
        self._tables.state.answers.clear()

    def _known(self, op: str) -> str:
        from .bundled import composites

        name, user = canonical(op), self._tables.state.user
        if name not in TABLE and name not in user and name not in composites():
            raise UnknownName(f"no op is called '{op}'", hint=nearest(op, [*TABLE, *user, *composites()]))
        return name

    # -- for the compiler

    @property
    def generation(self) -> int:
        return self._tables.state.generation

    @property
    def has_user_kernels(self) -> bool:
        """Whether users have registered anything."""
        return bool(self._tables.state.user)

    def selecting(self, sizes: Mapping[str, int], options: Options | None, first_call: int) -> Resolution:
        """Resolve ops for one compile and the sizes of a call; Python functions are numbered from `first_call`."""
        state, target = self._tables.state, None if options is None else options.target
        preferred = {} if options is None else dict(options.implementations)

        def ask(
            op: str,
            operands: tuple[TensorType, ...],
            result: TensorType,
            size: int | None,
            inside: frozenset[Implementation],
        ) -> Ranking:
            from .implementation import Query, cpu_features

            dtypes, ranks = tuple(t.dtype.strong for t in operands), tuple(len(t.shape) for t in operands)
            query = Query(op, dtypes, size, ranks, lambda: cpu_features(target))
            return self._rankings.find(state, query, result.dtype, inside, target)

        blas = options is not None and options.blas
        return Resolution(state, ask, sizes, first_call, self._inline, Uses(state.generation), preferred, blas)

    def choose(
        self, op: str, operands: tuple[TensorType, ...], result: TensorType, attrs: Mapping[str, Attr]
    ) -> Choice:
        """Choose an implementation without knowing the sizes of a call."""
        return self.selecting({}, None, 0).choose(op, operands, result, attrs)

    def note_use(self, op: str) -> None:
        """Record nothing: only a resolution for a compile has a graph that must stay up to date."""

    def is_replaced(self, op: str, dtypes: tuple[DType, ...]) -> bool:
        """Tell whether a user has an implementation for these dtypes."""
        return any(each.signature.takes(dtypes) for each in self._tables.state.user.get(op, ()))

    def is_current(self, uses: Uses | None) -> bool:
        """Tell whether a graph would be compiled the same way now.

        None means that it uses no implementations of users.
        """
        state = self._tables.state
        return not state.user if uses is None else uses.are_current(state)

    def watch(self, watcher: Watcher) -> None:
        """Call the watcher's `forget` whenever a registration changes, for as long as the watcher lives."""
        with self._watching:
            self._watchers.add(watcher)

    def _spread(self) -> None:
        with self._watching:
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher.forget()

    def compile_loop(self, loop: Any) -> Callable[..., tuple[Any, ...]]:
        """Return a function that runs a loop of a `.weft` kernel."""
        from ..nests.written_loops import CallableRunningLoop

        return CallableRunningLoop(loop, self)

    def find_op(self, name: str) -> OpDef | None:
        """Find an op outside the fixed table: a user's, or a bundled kernel."""
        found = self._tables.state.ops.get(name) or self._composites.get(name)
        if found is not None or name in TABLE:
            return found
        from .bundled import composites

        if name in composites():
            found = self._composites[name] = self._make_op(name, ())
        return found

    def op_names(self) -> Collection[str]:
        """Return the names that `find_op` knows."""
        from .bundled import composites

        return self._tables.state.ops.keys() | composites().keys()

    @property
    def table(self) -> Mapping[str, OpDef]:
        """All ops by name, including registered ones."""
        from .optable import OpTable

        return OpTable(self)

    def _make_op(self, name: str, implementations: tuple[Implementation, ...]) -> OpDef:
        from .bundled import composites
        from .opdefs import Meaning, op_of

        known = composites().get(name)
        return op_of(name, (*(() if known is None else (known,)), *implementations), Meaning(self, name).run)

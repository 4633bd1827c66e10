"""Lower a kernel source for its arguments, and compile the graph to native code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..ir import dims, environment
from ..ir.dims import Size
from ..ir.errors import ShapeProblem, ValueProblem, VerifyProblem, WeftError
from ..ir.footprints import Footprint, check_ranks, footprints_of
from ..ir.forking import lock
from ..ir.forms import form_guards
from ..ir.graph import Graph, Node
from ..ir.layouts import GENERAL, SCALAR, classify
from ..ir.lazy import cached_property
from ..ir.limits import limiter
from ..ir.ops import CONCATENATE, NUMPY, REGION
from ..ir.records import record, replace
from ..ir.source import ArgType, Built, KernelSource
from ..ir.tuples import NamedTuple
from ..ir.walking import graphs, regions, walk
from .bounds import Bound, bounds_of
from .checked_sizes import bind_sizes
from .launch import Launcher, NativeRegion
from .order import operand_orders, output_orders, usual_orders

if TYPE_CHECKING:  # LLVM takes longer to import than NumPy, and a kernel that comes from the disk does not need it
    from ..backends.llvm.compile import Program
    from ..backends.llvm.engine.target import Target
    from ..ir.kernels import KernelLookup
    from ..passes.manager import Pass, PipelineResult
    from .disk.graphs import StoredResult
    from .explain import Explanation
    from .registry import Registry, Uses
    from .selection.plan import VariantPlan


IMPL = "impl "
Variant = tuple[tuple[str, int | str], ...]
Make = Callable[[], "Lowered"]
Stored = Callable[[Callable[["Lowered"], bool], Make], "Lowered"]


@record
class Options:
    """What changes how a kernel is compiled. No target means this machine.

    `variant` changes how fast results come, never which: options of the pass `schedule`, and for an op (`"impl exp"`)
    the name of an implementation, out of several that give the same bits. `blas` has BLAS multiply matrices.
    """

    target: Target | None = None
    backend: str = "llvm"
    verify: bool = False
    variant: Variant = ()
    blas: bool = False

    @property
    def schedule(self) -> tuple[tuple[str, int], ...]:
        """The options of `schedule`."""
        return tuple((option, value) for option, value in self.variant if isinstance(value, int))

    @property
    def implementations(self) -> tuple[tuple[str, str], ...]:
        """Names of implementations by op."""
        return tuple((op.removeprefix(IMPL), name) for op, name in self.variant if isinstance(name, str))

    @property
    def machine(self) -> Target:
        from ..backends.llvm.engine import target

        return self.target or target.host()


class Request(NamedTuple):
    """A call to compile for: argument types, and the arrays behind all inputs, of the outputs only if given.

    `general` asks for code that takes results in any memory order.
    """

    args: Sequence[ArgType]
    layouts: Sequence[str]
    shapes: Sequence[tuple[int, ...]]
    strides: Sequence[tuple[int, ...]]
    out_layouts: Sequence[str | None] | None = None
    general: bool = False


class Lowered:
    """A graph after all passes: what `lower` gives. Native code is made when something asks for it."""

    def __init__(
        self,
        built: Built,
        result: PipelineResult | StoredResult,
        options: Options,
        orders: tuple[tuple[int, ...], ...],
        scalars: tuple[int, ...],
        any_order: bool = False,
        uses: Uses | None = None,
    ) -> None:
        self.built, self.result, self.options = built, result, options
        self.orders, self.scalars, self.any_order = orders, scalars, any_order
        self.uses = uses
        self.seconds: dict[str, float] = {}
        self.plan: VariantPlan | None = None
        self.keep: Callable[[Lowered, bytes], None] | None = None  # takes the code when it is made
        self.stored: Stored | None = None  # finds the graph for other sizes where code is kept
        self.siblings: list[Lowered] = []  # the graph in other forms
        self._lock = lock()
        self._launcher: Launcher | None = None

    @property
    def graph(self) -> Graph:
        return self.result.graph

    @property
    def meaning(self) -> Graph:
        """The graph that the reference backend runs: as it was built, or where a user has replaced an op, with that."""
        if self.built.after is not None and "select-kernels" not in self.passes:
            return self.built.graph
        chosen = self.result.after("select-kernels")
        replaced = any("chosen" in g.attrs for g in graphs(chosen))
        replaced = replaced or any(n.op is NUMPY and "impl" in n.attrs for n in walk(chosen))
        return chosen if replaced else self.built.graph

    @property
    def passes(self) -> tuple[str, ...]:
        """The names of the passes, in order."""
        return self.result.passes

    def ir(self, after: str | None = None, locations: bool = False) -> str:
        """The graph after a pass, after all of them, or (`"input"`) before the first, as MLIR text."""
        return self.result.ir(after, locations)

    def to_networkx(self, after: str | None = None) -> Any:
        """The same as a networkx `MultiDiGraph`, which `weft.compile` takes."""
        network = self.result.after(after).to_networkx()
        network.graph["after"] = self.result.label(after)
        return network

    @property
    def kernels(self) -> tuple[Node, ...]:
        """One region for each native loop nest."""
        return tuple(regions(self.graph))

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """The operations that NumPy runs between compiled pieces."""
        return tuple(str(n.attrs["function"]) for n in walk(self.graph) if n.op is NUMPY and n.operands)

    @cached_property
    def family(self) -> str:
        """A name for the graph whatever its variant, by which its times are known."""
        from .selection.candidates import family_of

        return family_of(self)

    @cached_property
    def program(self) -> Program:
        with environment.usual():  # under which constants are computed
            from ..backends.llvm import compile as native

            start = time.perf_counter()
            with self._typed_errors():
                program = native.emit(self.graph)
        self.seconds["emit"] = time.perf_counter() - start
        return program

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        """Errors about text from outside are the text's; of graphs that Weft has built they are Weft's own."""
        try:
            yield
        except WeftError:
            raise
        except Exception as error:
            if self.built.after is None:
                raise
            message = f"{self.graph.name}: no code can be made of this IR ({type(error).__name__}: {error})"
            raise VerifyProblem(message, hint="undo edits of its plan, or leave them to the passes") from error

    def llvm(self) -> str:
        """The LLVM text of all kernels. None of LLVM's passes runs on it."""
        from ..backends.llvm import compile as native

        return native.text_for(self.program, self.options.machine)

    def asm(self) -> str:
        """The assembly of all kernels."""
        from ..backends.llvm.engine import module

        return module.assembly(self.llvm(), self.options.machine)

    def explain(self) -> Explanation:
        """Which kernels the graph became, what was not fused and why, bytes moved, and where the time went."""
        from .explain import Explanation

        return Explanation.of(self.graph, self.result.timings, self.seconds, self.fallbacks)

    @cached_property
    def writes_all_outputs(self) -> bool:
        """Whether native code makes every output, and knew its memory order when it was compiled."""
        made = all(v.node is not None and v.node.op in (REGION, CONCATENATE) for v in self.graph.outputs)
        return made and not self.built.calls and self.options.backend == "llvm"

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        return bounds_of(self.built.graph)

    @cached_property
    def footprints(self) -> tuple[Footprint, ...]:
        """Shapes that the sizes of a call may make too large: of what was asked for, and of what it became."""
        return footprints_of((self.built.graph, self.graph))

    @cached_property
    def repeats_outputs(self) -> bool:
        """Whether one value is handed back twice, as equal expressions are."""
        return len(set(self.graph.outputs)) < len(self.graph.outputs)

    @cached_property
    def assumptions(self) -> list[tuple[Size, Size]]:
        """Equalities of sizes without which the graph would be another one."""
        from ..ir.guards import graph_guards

        return list(graph_guards(self.graph))

    @cached_property
    def guards(self) -> list[tuple[Size, Size]]:
        """Equalities of sizes for which there is code: of the graph, and of the forms that its regions have."""
        return [*self.assumptions, *form_guards(self.graph)]

    def for_sizes(self, env: Mapping[str, int]) -> Lowered:
        """The same graph, in the forms that suit these sizes."""
        from ..passes.choose_forms import ChooseForms, sizes_text

        if self.built.after is not None and not self.passes:
            shown = ", ".join(f"{name} = {number}" for name, number in env.items())
            message = f"{self.graph.name}: the forms of this IR are for other sizes than {shown}"
            raise ShapeProblem(message, hint="print it after 'schedule' for any sizes, or change its regions' guards")
        made = self._chosen_by(ChooseForms(sizes_text(env)))
        made.stored, made.siblings = self.stored, self.siblings
        if "family" in self.__dict__:
            made.family = self.family
        return made

    def for_any_size(self, env: Mapping[str, int]) -> Lowered:
        """The same graph in one form for all sizes, as libraries need it; only rows as short as these stay apart."""
        from ..passes.choose_forms import ChooseForms, sizes_text

        return self._chosen_by(ChooseForms(sizes_text(env), any_size=True))

    def _chosen_by(self, step: Pass) -> Lowered:
        result = self.result.with_last(step)
        return Lowered(self.built, result, self.options, self.orders, self.scalars, self.any_order, self.uses)

    @property
    def launcher(self) -> Launcher:
        """Native code, loaded and ready to run."""
        if self._launcher is None:
            with self._lock, limiter.compiling():
                made = self._launcher or self._load()
                # Where a signal's handler has loaded it meanwhile, entries may run that code already: it stays.
                self._launcher = self._launcher or made
        return self._launcher

    def take(self, launcher: Launcher) -> None:
        """Native code that was made before."""
        self._launcher = launcher

    def _load(self) -> Launcher:
        from ..backends.llvm import compile as native

        program = self.program
        with self._typed_errors():
            compiled = native.build(program, self.options.machine)
        start = time.perf_counter()
        library = native.load(program, compiled.object_code)
        self.seconds |= {
            "LLVM read": compiled.reading_seconds,
            "LLVM codegen": compiled.codegen_seconds,
            "load": time.perf_counter() - start,
        }
        if self.keep is not None:
            self.keep(self, compiled.object_code)
        kernels = {
            region: NativeRegion(region, function, library.addresses)
            for region, function in zip(program.regions, program.functions, strict=True)
        }
        return Launcher(self.graph, kernels, self.built.calls, library)


class Begun(NamedTuple):
    """A graph with the layout classes of a request, before the passes; `env` are the sizes of the call."""

    built: Built
    graph: Graph
    orders: tuple[tuple[int, ...], ...]
    scalars: tuple[int, ...]
    is_general: bool
    env: dict[str, int]
    seconds: dict[str, float]


def lower(source: KernelSource, request: Request, lookup: Registry, options: Options) -> Lowered:
    """Builds the graph of a source for a request and runs the passes."""
    return complete(begin(source, request), lookup, options)


def begin(source: KernelSource, request: Request) -> Begun:
    """The graph of a source for a request."""
    start = time.perf_counter()
    binding = source.bind(request.args)
    built = source.build(binding, request.args)
    end = time.perf_counter()
    graph = built.graph
    hidden = built.hidden
    shapes = [*request.shapes, *(x.shape for x in hidden)]
    strides = [*request.strides, *(x.strides for x in hidden)]
    layouts = [*request.layouts, *(classify(x.shape, x.strides, x.itemsize) for x in hidden)]
    env = dict(binding.sizes)
    for value, shape in zip(graph.inputs, shapes, strict=True):
        env |= {str(s): n for s, n in zip(value.type.shape, shape, strict=True) if not isinstance(s, int)}
    check_ranks(graph)
    is_general = request.general and not built.has_layouts
    orders = _declared_orders(graph) if built.has_layouts else usual_orders(graph, shapes, strides, env)
    classes = [GENERAL if is_general else _order_class(o) for o in orders]
    given = request.out_layouts or [None] * len(orders)
    if len(given) != len(orders):
        raise ValueProblem(
            f"out has {len(given)} arrays for {len(orders)} results", hint="pass a tuple with one for each"
        )
    if built.has_layouts:
        _check_out_layouts(graph, given)
    scalars = _scalar_results(graph)
    attrs = {
        **graph.attrs,
        "layouts": tuple(layouts),
        "out_layouts": tuple(wanted or own for wanted, own in zip(given, classes, strict=True)),
    }
    attrs = dict(graph.attrs) if built.has_layouts else attrs
    typed = Graph(graph.name, graph.inputs, graph.nodes, graph.outputs, attrs)
    seconds = {"parse": source.parse_seconds} if hasattr(source, "parse_seconds") else {}
    return Begun(built, typed, orders, scalars, is_general, env, seconds | {"build": end - start})


def _declared_orders(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """How the results of a graph lie whose text says so; where that is any order, in C order."""
    declared = graph.attrs["out_layouts"]
    assert isinstance(declared, tuple)
    ways = {"F": -1}
    return tuple(
        tuple(range(v.type.rank))[:: ways.get(str(said), 1)] for v, said in zip(graph.outputs, declared, strict=True)
    )


def _check_out_layouts(graph: Graph, given: Sequence[str | None]) -> None:
    declared = graph.attrs["out_layouts"]
    assert isinstance(declared, tuple)
    for k, (said, own) in enumerate(zip(declared, given, strict=True)):
        wider = {GENERAL: (own,), "unit": ("C",)}.get(str(said), ())
        if own not in (None, said, SCALAR, *wider):
            raise ValueProblem(f"{graph.name}: result {k} is declared with the layout class '{said}', out has '{own}'")


def complete(begun: Begun, lookup: Registry, options: Options) -> Lowered:
    """Runs the passes."""
    from ..passes.manager import PipelineOptions, run_pipeline

    start = time.perf_counter()
    _start_backend(options)
    ready = time.perf_counter()
    selection = lookup.selecting(begun.env, options, len(begun.built.calls))
    passes, done = passes_for(selection, options, begun.env), tuple[str, ...]()
    if (after := begun.built.after) is not None:
        names = [p.name for p in passes]
        count = names.index(after) + 1 if after in names else 0
        passes, done = passes[count:], tuple(names[:count])
    result = run_pipeline(begun.graph, passes, PipelineOptions(verify=options.verify, done=done))
    built = replace(begun.built, calls=(*begun.built.calls, *selection.calls))
    seconds = {**begun.seconds, "start LLVM": ready - start, "passes": time.perf_counter() - ready}
    made = Lowered(built, result, options, begun.orders, begun.scalars, begun.is_general, selection.uses)
    made.seconds = seconds
    return made


def _start_backend(options: Options) -> Target | None:
    """LLVM takes a while to start, which is no part of the passes."""
    return None if options.backend == "reference" else options.machine


def passes_for(lookup: KernelLookup, options: Options, env: Mapping[str, int] = {}) -> tuple[Pass, ...]:
    """The pipeline for a machine, a source of kernels, and the sizes of a call; without, forms serve all sizes."""
    from ..passes.choose_forms import sizes_text
    from ..passes.pipeline import pipeline

    vector_bytes = 64 if options.backend == "reference" else options.machine.vector_bytes
    return pipeline(lookup, vector_bytes, options.schedule, sizes_text(env))


def _scalar_results(graph: Graph) -> tuple[int, ...]:
    """For each result 0 for an array, 1 for a scalar of NumPy's, 2 for a number of Python's."""
    kinds = graph.attrs.get("results")
    if isinstance(kinds, tuple):
        return tuple(("array", "scalar", "number").index(str(kind)) for kind in kinds)
    from ..ir.builder import is_scalar_result

    return tuple(int(is_scalar_result(v)) for v in graph.outputs)


def _order_class(order: tuple[int, ...]) -> str:
    """The layout class of a dense array whose axes lie in this order in memory."""
    if order == tuple(range(len(order))):
        return "C"
    return "F" if order == tuple(range(len(order)))[::-1] else GENERAL


def bind_call(lowered: Lowered, inputs: Sequence[Any], env: dict[str, int], has_code: bool = True) -> bool:
    """Binds the sizes of a call; False where the graph does not serve these arrays, by shapes or guards.

    `has_code` asks that there is code for such sizes.
    """
    graph = lowered.built.graph
    if not bind_sizes(graph.inputs, inputs, env):
        return False
    for left, right in lowered.guards if has_code else lowered.assumptions:
        known = dims.symbols(left) | dims.symbols(right)
        if known <= env.keys() and dims.evaluate(left, env) != dims.evaluate(right, env):
            return False
    return True


def call_orders(
    lowered: Lowered,
    inputs: Sequence[Any],
    env: Mapping[str, int],
    number: int,
    calls: Mapping[int, Sequence[tuple[int, ...]]],
) -> tuple[tuple[int, ...], ...]:
    """How the operands of a call of NumPy would lie in memory; `calls` are the strides of what earlier ones gave."""
    shapes, strides = [x.shape for x in inputs], [x.strides for x in inputs]
    return operand_orders(lowered.built.graph, shapes, strides, env, calls, number)


def orders_of(
    lowered: Lowered,
    inputs: Sequence[Any],
    env: Mapping[str, int],
    calls: Mapping[int, Sequence[tuple[int, ...]]] | None = None,
) -> tuple[tuple[int, ...], ...]:
    """How NumPy would lay out the results of these arrays; `calls` are the strides of what NumPy functions gave."""
    graph = lowered.built.graph
    if lowered.built.has_layouts:
        return lowered.orders
    return output_orders(graph, [x.shape for x in inputs], [x.strides for x in inputs], env, calls)

"""Lower a kernel's source for given arguments, and compile the graph to native code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..ir import dims
from ..ir.dims import Size
from ..ir.errors import ShapeProblem, ValueProblem
from ..ir.footprints import Footprint, check_ranks, footprints_of
from ..ir.forms import form_guards
from ..ir.graph import Graph, Node, graph_guards
from ..ir.layouts import GENERAL, SCALAR, classify
from ..ir.lazy import cached_property
from ..ir.ops import CONCATENATE, NUMPY, REGION
from ..ir.orders import follow_from_signature, operand_orders, order_guards, output_orders, usual_orders
from ..ir.records import fresh, record, replace
from ..ir.source import ArgType, Built, KernelSource
from ..ir.tuples import NamedTuple
from ..ir.types import Guards
from ..ir.walking import graphs, regions, walk
from .bounds import Bound, bounds_of
from .checked_sizes import bind_sizes
from .launch import Launcher
from .loaded import Loaded

if TYPE_CHECKING:  # LLVM takes longer to import than NumPy, and a kernel loaded from disk does not need it
    from ..backends.llvm.compile import NativeProgram
    from ..backends.llvm.engine.target import Target
    from ..ir.kernels import KernelLookup
    from ..passes.manager import Pass, PipelineResult
    from .disk.graphs import StoredResult
    from .explain import Explanation
    from .registry import Registry, Uses

IMPL = "impl "
Variant = tuple[tuple[str, int | str], ...]
Make = Callable[[], "Lowered"]
Stored = Callable[[Callable[["Lowered"], bool], Make], "Lowered"]


@record
class Options:
    """Everything that changes how a kernel is compiled.

    `target` is the machine; None means this one. `variant` changes the speed, never the results: it holds options of
    the pass `schedule`, and the implementation to use for an op (`"impl exp"`). `blas` multiplies matrices with BLAS.
    """

    target: Target | None = None
    backend: str = "llvm"
    verify: bool = False
    variant: Variant = ()
    blas: bool = False

    @property
    def schedule(self) -> tuple[tuple[str, int], ...]:
        """The options for the pass `schedule`."""
        return tuple((option, value) for option, value in self.variant if isinstance(value, int))

    @property
    def implementations(self) -> tuple[tuple[str, str], ...]:
        """The names of chosen implementations, by op."""
        return tuple((op.removeprefix(IMPL), name) for op, name in self.variant if isinstance(name, str))

    @property
    def machine(self) -> Target:
        from ..backends.llvm.engine import target

        return self.target or target.host()


class Request(NamedTuple):
    """The types, shapes and strides of a call to compile for; `out_layouts` is given if the caller passes `out`.

    `general` compiles code that accepts results in any memory order. `lazy` allows captured arrays that are not read.
    """

    args: Sequence[ArgType]
    layouts: Sequence[str]
    shapes: Sequence[tuple[int, ...]]
    strides: Sequence[tuple[int, ...]]
    out_layouts: Sequence[str | None] | None = None
    general: bool = False
    lazy: bool = False


@record(eq=False)
class Lowered:
    """A graph after all passes, as `lower` returns it.

    It does not change; `loaded` has everything that is made from it later.

    `keep` stores the native code once it is generated, and `stored` finds graphs for other sizes on disk. A graph from
    the disk comes with its guards and its name. `source` and `sizes` are those of a call of `lower()`.
    """

    built: Built
    result: PipelineResult | StoredResult
    options: Options
    orders: tuple[tuple[int, ...], ...]
    scalars: tuple[int, ...]
    any_order: bool = False
    uses: Uses | None = None
    keep: Callable[[Lowered, bytes], None] | None = None
    stored: Stored | None = None
    known_guards: tuple[tuple[Size, Size], ...] | None = None
    known_family: str | None = None
    source: KernelSource | None = None
    sizes: Mapping[str, int] = {}
    loaded: Loaded = fresh(default_factory=Loaded)

    @property
    def graph(self) -> Graph:
        return self.result.graph

    @property
    def meaning(self) -> Graph:
        """The graph for the reference backend: as it was built, or with the user's replacements of ops."""
        if self.built.after is not None and "select-kernels" not in self.passes:
            return self.built.graph
        chosen = self.result.after("select-kernels")
        inside = any("chosen" in g.attrs for g in graphs(chosen))
        return chosen if inside or any(n.op is NUMPY and "impl" in n.attrs for n in walk(chosen)) else self.built.graph

    @property
    def passes(self) -> tuple[str, ...]:
        """The names of the passes, in order."""
        return self.result.passes

    def ir(self, after: str | None = None, locations: bool = False) -> str:
        """Print the graph as MLIR text: after a pass, after all of them, or (`"input"`) before the first."""
        return self.result.ir(after, locations)

    def to_networkx(self, after: str | None = None) -> Any:
        """Convert the graph to a networkx `MultiDiGraph`, which `weft.compile` accepts."""
        network = self.result.after(after).to_networkx()
        network.graph["after"] = self.result.label(after)
        return network

    @property
    def kernels(self) -> tuple[Node, ...]:
        """The regions of the graph: one for each native loop nest."""
        return tuple(regions(self.graph))

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """The operations that NumPy runs between compiled pieces."""
        return tuple(str(n.attrs["function"]) for n in walk(self.graph) if n.op is NUMPY and n.operands)

    @cached_property
    def family(self) -> str:
        """A name for the graph that all its variants share; measured times are stored under it."""
        from .selection.candidates import family_of

        return self.known_family or family_of(self)

    @property
    def program(self) -> NativeProgram:
        """The LLVM text of all kernels, and how they are called."""
        return self.loaded.program_of(self)

    @property
    def launcher(self) -> Launcher:
        """The loaded native code, ready to run."""
        return self.loaded.launcher_of(self)

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long each step took."""
        return self.loaded.seconds

    def llvm(self) -> str:
        """Return the LLVM IR of all kernels, before LLVM's own passes."""
        return self.program.text

    def asm(self) -> str:
        """Return the assembly of all kernels."""
        from ..backends.llvm.engine import module

        return module.assembly(self.llvm(), self.options.machine)

    def explain(self) -> Explanation:
        """Explain which kernels the graph became, what was not fused and why, the bytes moved, and the times."""
        from .explain import Explanation

        return Explanation.of(self.graph, self.result.timings, self.seconds, self.fallbacks)

    def html(self, arguments: Sequence[Any] | None = None) -> str:
        """Return the explorer page. Kernels are timed on `arguments`, or on random numbers of the same sizes."""
        from .explorer.page import page

        return page(self, arguments)

    def _repr_html_(self) -> str:
        from .views import lowered_html

        return lowered_html(self)

    @cached_property
    def writes_all_outputs(self) -> bool:
        """Whether native code writes every output, with the memory order known at compile time."""
        made = all(v.node is not None and v.node.op in (REGION, CONCATENATE) for v in self.graph.outputs)
        return made and not self.built.calls and self.options.backend == "llvm"

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        return bounds_of(self.built.graph)

    @cached_property
    def footprints(self) -> tuple[Footprint, ...]:
        """The shapes that may become too large for a call, in the original graph and in the lowered one."""
        return footprints_of((self.built.graph, self.graph))

    @cached_property
    def has_settled_orders(self) -> bool:
        """Whether all calls with the same signature have results in the same memory orders."""
        layouts = self.graph.attrs.get("layouts")
        return isinstance(layouts, tuple) and follow_from_signature(self.built.graph, [str(x) for x in layouts])

    @cached_property
    def repeats_outputs(self) -> bool:
        """Whether one value is returned twice, as equal expressions are."""
        return len(set(self.graph.outputs)) < len(self.graph.outputs)

    @cached_property
    def assumptions(self) -> list[tuple[Size, Size]]:
        """The equalities of sizes that the graph relies on."""
        return list(graph_guards(self.graph))

    @cached_property
    def guards(self) -> list[tuple[Size, Size]]:
        """The equalities of sizes that the code relies on: the graph's, and those of its regions' forms."""
        return [*self.assumptions, *form_guards(self.graph)] if self.known_guards is None else list(self.known_guards)

    def for_sizes(self, env: Mapping[str, int]) -> Lowered:
        """Return the same graph in the forms that suit these sizes."""
        from ..passes.choose_forms import ChooseForms, sizes_text

        if self.built.after is not None and ChooseForms.name not in self.passes:
            shown = ", ".join(f"{name} = {number}" for name, number in env.items())
            broken = [f"{a} == {b}" for a, b in form_guards(self.graph) if _is_broken(a, b, env)]
            needs = f"; its guards need {' and '.join(broken)}" if broken else ""
            hint = "`weft dump --after schedule` prints IR that runs at any size; guards in the text can be edited"
            raise ShapeProblem(f"{self.graph.name}: this IR has no form for {shown}{needs}", hint=hint)
        made = self._chosen_by(ChooseForms(sizes_text(env), cache=_cache(self.options)))
        family = self.__dict__.get("family", self.known_family)
        return replace(made, stored=self.stored, known_family=family, loaded=Loaded(siblings=self.loaded.siblings))

    def for_any_size(self, env: Mapping[str, int]) -> Lowered:
        """Return the same graph in one form for all sizes, for C libraries.

        Only rows as short as these get a form of their own.
        """
        from ..passes.choose_forms import ChooseForms, sizes_text

        return self._chosen_by(ChooseForms(sizes_text(env), any_size=True))

    def _chosen_by(self, step: Pass) -> Lowered:
        result = self.result.with_last(step)
        return Lowered(self.built, result, self.options, self.orders, self.scalars, self.any_order, self.uses)


class Begun(NamedTuple):
    """A graph with the layout classes of a request, before the passes; `env` holds the sizes of the call."""

    built: Built
    graph: Graph
    orders: tuple[tuple[int, ...], ...]
    scalars: tuple[int, ...]
    is_general: bool
    env: dict[str, int]
    seconds: dict[str, float]


def lower(source: KernelSource, request: Request, lookup: Registry, options: Options) -> Lowered:
    """Build the graph of a source for a request and run the passes."""
    return complete(begin(source, request), lookup, options)


def begin(source: KernelSource, request: Request) -> Begun:
    """Build the graph of a source for a request."""
    start = time.perf_counter()
    binding = source.bind(request.args)
    built = source.build(binding, request.args).checked(request.lazy)
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
        raise ValueProblem(f"out must have one array for each result: {len(orders)}, not {len(given)}")
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
    if None in given and not is_general and not built.has_layouts:
        typed = _guarded(typed, order_guards(graph, shapes, strides, env, orders))
    seconds = {"parse": source.parse_seconds} if hasattr(source, "parse_seconds") else {}
    return Begun(built, typed, orders, scalars, is_general, env, seconds | {"build": end - start})


def _guarded(graph: Graph, more: Guards) -> Graph:
    """Return the graph with more guards, and with the sizes that they settle."""
    if not more:
        return graph
    from ..ir.rewrite import Rewriter

    attrs = {**graph.attrs, "guards": Guards((*graph_guards(graph), *more))}
    rewriter = Rewriter(Graph(graph.name, graph.inputs, graph.nodes, graph.outputs, attrs))
    for node in graph:
        rewriter.copy(node)
    return rewriter.finish()


def _declared_orders(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """Return the memory orders that a printed graph declares for its results; the default is C order."""
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
            raise ValueProblem(
                f"{graph.name}: out must have the declared layout class '{said}' of result {k}, not '{own}'"
            )


def complete(begun: Begun, lookup: Registry, options: Options) -> Lowered:
    """Run the passes."""
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
    loaded = time.perf_counter()
    result = run_pipeline(begun.graph, passes, PipelineOptions(verify=options.verify, done=done))
    built = replace(begun.built, calls=(*begun.built.calls, *selection.calls))
    spent = {"start LLVM": ready - start, "load passes": loaded - ready, "passes": time.perf_counter() - loaded}
    made = Lowered(built, result, options, begun.orders, begun.scalars, begun.is_general, selection.uses)
    made.loaded.seconds |= {**begun.seconds, **spent}
    return made


def _start_backend(options: Options) -> Target | None:
    """Start LLVM now, so that its start-up time is not counted as a pass."""
    return None if options.backend == "reference" else options.machine


def passes_for(lookup: KernelLookup, options: Options, env: Mapping[str, int] = {}) -> tuple[Pass, ...]:
    """Return the pipeline for a machine, a registry and the sizes of a call; without sizes, forms serve all sizes."""
    from ..passes.choose_forms import sizes_text
    from ..passes.pipeline import pipeline

    if options.backend == "reference":
        return pipeline(lookup, 64, options.schedule, sizes_text(env), _cache(options))
    machine = options.machine
    return pipeline(
        lookup, machine.vector_bytes, options.schedule, sizes_text(env), machine.cache_bytes, machine.core_cache
    )


def _cache(options: Options) -> int:
    return 0 if options.backend == "reference" else options.machine.cache_bytes


def _scalar_results(graph: Graph) -> tuple[int, ...]:
    """Classify each result: 0 for an array, 1 for a NumPy scalar, 2 for a Python number."""
    kinds = graph.attrs.get("results")
    if isinstance(kinds, tuple):
        return tuple(("array", "scalar", "number").index(str(kind)) for kind in kinds)
    from ..ir.builder import is_scalar_result

    return tuple(int(is_scalar_result(v)) for v in graph.outputs)


def _order_class(order: tuple[int, ...]) -> str:
    """Return the layout class of a dense array whose axes have this order in memory."""
    if order == tuple(range(len(order))):
        return "C"
    return "F" if order == tuple(range(len(order)))[::-1] else GENERAL


def bind_call(lowered: Lowered, inputs: Sequence[Any], env: dict[str, int], has_code: bool = True) -> bool:
    """Bind the sizes of a call. Return False if the graph does not fit these arrays' shapes or guards.

    `has_code` also checks the guards of its regions' forms.
    """
    if not bind_sizes(lowered.built.graph.inputs, inputs, env):
        return False
    return not any(_is_broken(a, b, env) for a, b in (lowered.guards if has_code else lowered.assumptions))


def _is_broken(left: Size, right: Size, env: Mapping[str, int]) -> bool:
    """Whether a guard does not hold. A guard with sizes that are not known yet is checked later."""
    known = dims.symbols(left) | dims.symbols(right)
    return known <= env.keys() and dims.evaluate(left, env) != dims.evaluate(right, env)


def call_orders(
    lowered: Lowered,
    inputs: Sequence[Any],
    env: Mapping[str, int],
    number: int,
    calls: Mapping[int, Sequence[tuple[int, ...]]],
) -> tuple[tuple[int, ...], ...]:
    """Return the memory orders of a NumPy call's operands; `calls` has the strides of earlier calls' results."""
    shapes, strides = [x.shape for x in inputs], [x.strides for x in inputs]
    return operand_orders(lowered.built.graph, shapes, strides, env, calls, number)


def orders_of(
    lowered: Lowered,
    inputs: Sequence[Any],
    env: Mapping[str, int],
    calls: Mapping[int, Sequence[tuple[int, ...]]] | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Return NumPy's memory orders of the results; `calls` has the strides of NumPy functions' results."""
    graph = lowered.built.graph
    if lowered.built.has_layouts:
        return lowered.orders
    return output_orders(graph, [x.shape for x in inputs], [x.strides for x in inputs], env, calls)

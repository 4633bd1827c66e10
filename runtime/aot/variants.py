"""Find the graphs that together serve every call of a kernel's C function.

A graph knows which sizes are 1 and may rely on others being in a range. The order of a sum may depend on both, and on
the layout class. A library holds a graph for each range, found by trying sizes that no graph serves yet, and one for
each choice of sizes that are 1 if that changes a sum. So its bits are the same as in Python.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.dims import Dim, Size
from ...ir.errors import Unsupported, WeftError
from ...ir.graph import Graph, Node
from ...ir.layouts import GENERAL, SCALAR, UNIT, C, F
from ...ir.lazy import cached_property
from ...ir.loops import regions, walk
from ...ir.ops import CONCATENATE, CONSTANT, LOOP, NUMPY, REGION, RESHAPE, SIZE, Trait
from ...ir.records import record, replace
from ...ir.source import KernelSource
from ...ir.types import Attr, AxisGroups, axis_groups, sizes
from ..compiler import Lowered, Options, Request, lower
from ..launch import call_number
from ..nests.written_loops import RunningLoop
from ..registry import Registry
from .platforms import CpuLevel
from .ranges import Numbers, holds, outside

if TYPE_CHECKING:
    from ...frontend.lowering.element_stores import WrittenLoop

KINDS = {"dense": C, "unit": UNIT, "fortran": F, "strided": GENERAL}  # layout class of all arrays
MOST_SIZES = 6
MOST_GRAPHS = 64

Ranges = list[tuple[Lowered, Numbers]]  # graphs, each with example sizes


@record
class Wanted:
    """A C function to build: its name, the kernel, an example call, and the names of its results."""

    name: str
    source: KernelSource
    request: Request
    declared: str
    results: Sequence[str | None] | None
    fixed_axes: Sequence[tuple[int, int]] = ()  # argument and axis of sizes declared as numbers
    dense_only: bool = False

    @cached_property
    def shapes(self) -> tuple[tuple[Size, ...], ...]:
        """The shape of each argument, with symbols as sizes."""
        return tuple(t.shape for t in self.source.bind(self.request.args).types)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number that stands for each size in the request."""
        pairs = zip(chain(*self.shapes), chain(*(a.shape for a in self.request.args)), strict=True)
        return {str(size): number for size, number in pairs if isinstance(size, Dim)}

    @cached_property
    def fixed(self) -> dict[str, int]:
        """The sizes that are constant."""
        return {str(self.shapes[k][axis]): self.request.args[k].shape[axis] for k, axis in self.fixed_axes}

    @cached_property
    def results_shapes(self) -> tuple[tuple[Size, ...], ...]:
        """The shape of each result."""
        args = self.request.args
        return tuple(v.type.shape for v in self.source.build(self.source.bind(args), args).graph.outputs)

    @property
    def kinds(self) -> list[str]:
        """The kinds of layout to distinguish; with at most one dimension there are two."""
        most = max(map(len, (*self.shapes, *self.results_shapes)))
        if self.dense_only or not most:
            return ["dense"]
        return list(KINDS) if most > 1 else ["dense", "strided"]


class Graphs:
    """The graphs of a C function for one kind of layout and one CPU level."""

    def __init__(self, wanted: Wanted, kind: str, registry: Registry, level: CpuLevel) -> None:
        self.wanted, self.kind, self.registry, self.level = wanted, kind, registry, level

    def by_ones(self) -> list[tuple[Lowered, ...]]:
        """Return the graphs to try, for each choice of sizes that are 1; the choice has one bit for each size."""
        symbols = [symbol for symbol in self.wanted.numbers if symbol not in self.wanted.fixed]
        usual = self._ranges({})
        has_sums = any(_trees(g.graph, {}) for g, _ in usual)
        if has_sums and len(symbols) > MOST_SIZES:
            raise Unsupported(
                f"{self.wanted.name} has sums and {len(symbols)} sizes, but the limit is {MOST_SIZES}",
                hint="replace some sizes by numbers with --types",
            )
        found = []
        for choice in range(1 << len(symbols)):
            ones = {symbol: 1 for k, symbol in enumerate(symbols) if choice >> k & 1}
            found.append(tuple(g for g, _ in self._for_ones(usual, ones, has_sums)))
        return found

    def _for_ones(self, usual: Ranges, ones: Numbers, has_sums: bool) -> Ranges:
        """Return the usual graphs, or special ones if sizes of 1 break a guard or change the order of a sum."""
        numbers = {**self.wanted.numbers, **ones}
        if not has_sums and any(holds(graph.guards, numbers) for graph, _ in usual):
            return usual
        special = self._ranges(ones)
        return usual if all(_serves(usual, graph, numbers, ones) for graph, numbers in special) else special

    def _ranges(self, ones: Numbers) -> Ranges:
        """Find graphs for all ranges of sizes."""
        found: Ranges = []
        pending: list[Numbers] = [{**self.wanted.numbers, **ones}]
        while pending:
            numbers = pending.pop(0)
            if any(holds(graph.guards, numbers) for graph, _ in found):
                continue
            try:
                graph = self._lower(numbers)
            except Unsupported:
                raise
            except WeftError:
                if not found and not ones:
                    raise
                continue  # the kernel refuses these sizes
            if len(found) == MOST_GRAPHS:
                raise Unsupported(f"{self.wanted.name} needs code for more than {MOST_GRAPHS} ranges of sizes")
            found.append((graph, numbers))
            pending += outside(graph.guards, numbers, {*ones, *self.wanted.fixed})
        return found

    def _lower(self, numbers: Numbers) -> Lowered:
        request = self.wanted.request
        args = [
            replace(arg, shape=tuple(numbers.get(str(size), n) for size, n in zip(shape, arg.shape, strict=True)))
            for arg, shape in zip(request.args, self.wanted.shapes, strict=True)
        ]
        request = request._replace(
            args=args,
            shapes=[a.shape for a in args],
            layouts=[self._layout(a.shape, numbers) if a.shape else SCALAR for a in args],
            out_layouts=[self._layout(shape, numbers) for shape in self.wanted.results_shapes],
        )
        lowered = lower(self.wanted.source, request, self.registry, Options(target=self.level.target))
        _refuse_python(self.wanted.name, lowered)
        return lowered.for_any_size(numbers)

    def _layout(self, shape: Sequence[Size], numbers: Numbers) -> str:
        """Return the layout class; in one dimension only the general kind differs, and one element has no layout."""
        several = [size for size in shape if dims.evaluate(size, numbers) != 1]
        is_open = len(shape) > 1 or self.kind == "strided"
        return KINDS[self.kind] if several and is_open else C


def _refuse_python(name: str, lowered: Lowered) -> None:
    for node in walk(lowered.graph):
        if (
            node.op not in (REGION, CONCATENATE, RESHAPE, LOOP)
            and not is_number(node)
            and not written_loop(lowered, node)
        ):
            what = node.attrs.get("function", node.op.name) if node.op is NUMPY else node.op.name
            raise Unsupported(
                f"{name}: {what} runs in Python and can't be part of a C library",
                node.span,
                "compute it outside the kernel and pass the result in",
            )


def is_number(node: Node) -> bool:
    """Tell whether a node makes a number that is known before the call, for a loop that changes elements."""
    return node.op is NUMPY and node.attrs.get("op") in (CONSTANT.name, SIZE.name)


def written_loop(lowered: Lowered, node: Node) -> WrittenLoop | None:
    """Return the loop that a node calls, if it is one that changes elements."""
    called = lowered.built.calls[call_number(node)] if node.op is NUMPY and "call" in node.attrs else None
    return called.loop if isinstance(called, RunningLoop) else None


def _serves(graphs: Ranges, special: Lowered, numbers: Numbers, ones: Numbers) -> bool:
    """Tell whether the first graph that fits these sizes sums in the same order as a special one."""
    for graph, _ in graphs:
        if holds(graph.guards, numbers):
            return _trees(graph.graph, ones) == _trees(special.graph, {})
    return False


# -- the order in which sums add, by which two graphs give the same bits or not

# Attributes that do not change the order of a reduction, or that are compared in another form.
_ASIDE = frozenset(("axes", "keepdims", "order", "impl", "score", "variant", "keep"))
_LOOPS = frozenset(
    (
        *("space", "reduced", "rows", "columns", "vector", "layouts", "width", "unroll", "cost", "tile", "chunk"),
        *("scanned", "form", "guards", "cut_from", "shared_walks", "spread", "stream", "taps", "peel", "prefetch"),
        *("early_exit", "lines"),
    )
)


def _trees(graph: Graph, ones: Container[str]) -> list[Mapping[str, Attr]]:
    """Describe the order of each reduction if those sizes are 1; a reduction of one element has no order."""
    found: list[Mapping[str, Attr]] = []
    for region in regions(graph):
        for node in region.body or ():
            if Trait.REDUCTION in node.op.traits and node.attrs.get("steps"):
                order = _order(region, node, ones)
                found.append({"op": node.op.name} if not order else _described(region, node) | {"order": order})
    return found


def _described(region: Node, node: Node) -> dict[str, Attr]:
    others = {k: v for k, v in region.attrs.items() if k not in _LOOPS}
    own = {k: v for k, v in node.attrs.items() if k not in _ASIDE}
    return {**others, **own, "op": node.op.name}


def _order(region: Node, node: Node, ones: Container[str]) -> AxisGroups:
    """Return the axes in walking order, without those of size 1; an inner loop of one step is still a block."""
    space = sizes(region.attrs, "space")
    groups = [[a for a in group if str(space[a]) not in ones] for group in axis_groups(node.attrs, "order")]
    while groups and not groups[0]:
        groups.pop(0)
    return AxisGroups(map(tuple, groups))

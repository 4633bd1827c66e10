"""Plan a kernel on chunked arrays: build its graph for the full shapes, and split it. No data is read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ...ir.errors import Unsupported
from ...ir.graph import Graph
from ...ir.layouts import SCALAR, C
from ...ir.limits import limiter
from ...ir.records import record, replace
from ...ir.source import ArgType, Built, KernelSource
from ...ir.support import float_environment
from ...passes.manager import run_pipeline
from ...passes.planning.chunk_axes import ChunkAxes
from ...passes.split_chunks import ChunkSplit, flattened, other_trees, split
from ..compiler import Begun, Options, Request, begin, complete, passes_for

if TYPE_CHECKING:
    from ..registry import Registry

LAST = "lower-reductions"  # the pass after which every sum has its tree
Chunks = tuple[tuple[int, ...], ...]


@record
class ChunkPlan:
    """A split kernel.

    `chunks` has the chunks that each input must have, `lengths` those of each class of axes, and `classes` the class of
    each axis of the inputs.
    """

    begun: Begun
    graph: Graph
    split: ChunkSplit
    chunks: tuple[Chunks, ...]
    lengths: tuple[tuple[int, ...], ...]
    classes: tuple[tuple[int | None, ...], ...]

    @property
    def built(self) -> Built:
        return self.begun.built

    def places(self, number: int) -> list[tuple[int, int]]:
        """Where the chunks of a class begin and end."""
        return list(pairwise((0, *accumulate(self.lengths[number]))))

    def own_lengths(self, number: int, grown: int) -> tuple[int, ...]:
        """The chunks of a value that is longer or shorter than the inputs along a class of axes."""
        *first, last = self.lengths[number]
        return (*first, last + grown)


def plan_chunks(
    source: KernelSource,
    args: Sequence[ArgType],
    chunks: Sequence[Chunks],
    lookup: Registry,
    options: Options,
    free: bool = False,
) -> ChunkPlan:
    """Split the kernel of a source for arguments with these types and chunks; `free` lets bits differ."""
    strides = [_strides(a) for a in args]
    layouts = [C if a.shape else SCALAR for a in args]
    request = Request(args, layouts, [a.shape for a in args], strides, lazy=True)
    with limiter.compiling(), float_environment.usual():
        begun = begin(source, request)
        if begun.built.updates:
            raise Unsupported(
                f"{source.name} changes its arguments in place, which chunked arrays do not allow",
                hint="return the changed array instead",
            )
        lowered = complete(begun, lookup, options)
    captured = [tuple((n,) for n in x.shape) for x in begun.built.hidden]
    for each in begun.built.lazy:
        captured[each.number] = each.array.chunks
    given = [*chunks, *captured]
    given = [tuple(c if sum(c) else (0,) for c in cs) for cs in given]  # no elements are one chunk
    cut = [[a for a, c in enumerate(cs) if len(c) > 1] for cs in given]
    graph = flattened(lowered.result.after(LAST))
    axes = ChunkAxes(graph, cut, begun.env)
    inside = [n for n in graph if not axes.reduced(n)]
    if len(inside) == len(graph):  # each chunk is a call of its own, compiled as any other
        graph = begun.graph
        axes = ChunkAxes(graph, cut, begun.env)
    lengths = tuple(_common([given[k][a] for k, a in members if len(given[k][a]) > 1]) for members in axes.members)
    starts = [[0, *accumulate(row)][:-1] for row in lengths]
    made = split(axes, starts, begun.env, free)
    _check_overlap(axes, lengths)
    passes = passes_for(lookup, options)
    lowering = passes[: [p.name for p in passes].index(LAST) + 1]
    more = other_trees(inside, made, lambda piece: run_pipeline(_in_c_order(piece), lowering).graph)
    made = replace(made, reasons=(*made.reasons, *more))
    wanted = tuple(
        tuple(
            lengths[number] if number is not None else (sum(c),)
            for number, c in zip(axes.classes(value), cs, strict=True)
        )
        for value, cs in zip(graph.inputs, given, strict=True)
    )
    classes = tuple(axes.classes(v) for v in graph.inputs)
    return ChunkPlan(begun, graph, made, wanted, lengths, classes)


def _check_overlap(axes: ChunkAxes, lengths: Sequence[tuple[int, ...]]) -> None:
    for number, needed in axes.overlaps.needed.items():
        if min(lengths[number]) < needed:
            k, axis = axes.members[number][0]
            name = axes.graph.inputs[k].name or f"argument {k}"
            raise Unsupported(
                f"a stencil reaches over {needed} elements, but {name} has chunks of {min(lengths[number])}",
                hint=f"make them longer with {name}.rechunk({{{axis}: {max(needed, max(lengths[number]))}}})",
            )


def _in_c_order(piece: Graph) -> Graph:
    layouts = tuple(C if v.type.rank else SCALAR for v in piece.inputs)
    attrs = {**piece.attrs, "layouts": layouts, "out_layouts": (C,) * len(piece.outputs)}
    return Graph(piece.name, piece.inputs, piece.nodes, piece.outputs, attrs)


def _common(rows: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The chunks with the boundaries of all of these. If they are equal they stay as they are, empty ones included."""
    if len(set(rows)) == 1:
        return rows[0]
    ends = sorted({end for row in rows for end in accumulate(row)} | {0})
    return tuple(b - a for a, b in pairwise(ends))


def _strides(arg: ArgType) -> tuple[int, ...]:
    strides = list(accumulate(reversed(arg.shape[1:]), lambda a, b: a * b, initial=arg.dtype.size))
    return tuple(reversed(strides)) if arg.shape else ()

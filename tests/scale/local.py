"""Run a split kernel chunk by chunk in this process: the smallest scheduler there is."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate, product
from typing import Any

import numpy as np
from weft.ir.layouts import classify
from weft.passes.manager import run_pipeline
from weft.passes.planning.chunk_pieces import ChunkPiece
from weft.passes.split_chunks import ChunkFinish, ChunkStage
from weft.runtime.chunks.plan import ChunkPlan
from weft.runtime.chunks.states import State, finished, merged, packed, unpacked
from weft.runtime.chunks.tasks import Run, feeds_of, finish_outputs, pieces_of, stage_state

Array = np.ndarray[Any, Any]


def run_chunked(
    plan: ChunkPlan, arrays: Sequence[Any], runner: Callable[[ChunkPiece], Run], seed: int = 0
) -> list[Array]:
    """The outputs of a plan; chunks run in a random order, and states are merged in groups of a few."""
    rng, split = random.Random(seed), plan.split
    blocks: dict[tuple[str, int, tuple[int, ...]], Any] = {}
    given = [*arrays, *plan.built.hidden]

    def block(kind: str, number: int, at: tuple[int, ...], around: Any = ()) -> Any:
        if kind == "stage":
            return blocks[kind, number, at]
        if not at:
            return given[number]
        parts = list[slice]()
        for axis, (c, k) in enumerate(zip(plan.chunks[number], at, strict=True)):
            before, after = around[axis] if around else (0, 0)
            start, stop = [0, *accumulate(c)][k : k + 2]
            parts.append(slice(0, None) if len(c) == 1 else slice(max(0, start - before), stop + after))
        return given[number][tuple(parts)]

    def tasks(part: ChunkStage | ChunkFinish) -> list[tuple[tuple[int, ...], list[Any], dict[int, tuple[int, int]]]]:
        counts = [1 if c is None else len(plan.lengths[c]) for c in part.space]
        feeds, found = feeds_of(part, split.stage_of), []
        for at in product(*map(range, counts)):
            places = {a: plan.places(c)[at[a]] for a, c in enumerate(part.space) if c is not None}
            read = [block(f.kind, f.number, tuple(0 if v is None else at[v] for v in f.vars), f.around) for f in feeds]
            found.append((at, read, places))
        rng.shuffle(found)
        return found

    for number, stage in enumerate(split.stages):
        kernels = [runner(p) for p in pieces_of(stage)]
        states: dict[tuple[int, ...], list[State]] = {}
        for at, read, places in tasks(stage):
            made = stage_state(stage, split.stage_of, kernels, feeds_of(stage, split.stage_of), read, places)
            kept = tuple(at[a] for a, c in enumerate(stage.space) if c is not None and a not in stage.reduced)
            states.setdefault(kept, []).append(unpacked(packed(made)))
        for kept, parts in states.items():
            while len(parts) > 1:
                count = rng.randint(2, 4)
                parts = [merged(parts[:count], stage.partials), *parts[count:]]
            joins = [runner(j.piece) for j in stage.joins]
            results = finished(merged(parts, stage.partials), stage.partials, stage.joins, joins)
            blocks["stage", number, kept] = results
    outputs: list[Any] = [None] * len(plan.graph.outputs)
    for finish in split.finishes:
        kernel = runner(finish.piece)
        counts = [1 if c is None else len(plan.lengths[c]) for c in finish.space]
        parts_of = {
            at: finish_outputs(finish, split.stage_of, kernel, feeds_of(finish, split.stage_of), read, places)
            for at, read, places in tasks(finish)
        }
        for k, output in enumerate(finish.outputs):
            grid = np.empty(counts, object)
            for at, made in parts_of.items():
                grid[at] = made[k]
            outputs[output] = np.block(grid.tolist()) if counts else grid[()]
    return outputs


class NumpyRunner:
    """Runs pieces in NumPy by the trees that the passes choose; equal pieces are lowered once."""

    def __init__(self, passes: Sequence[Any]) -> None:
        self.passes, self.known = passes, dict[Any, Any]()

    def __call__(self, piece: ChunkPiece) -> Run:
        from weft.backends import reference
        from weft.ir.graph import Graph
        from weft.ir.text.printer import print_graph

        text = print_graph(piece.graph)

        def run(args: Sequence[Any]) -> Sequence[Array]:
            arrays = [np.asarray(x) for x in args]
            layouts = tuple(classify(x.shape, x.strides, x.itemsize) if x.ndim else "scalar" for x in arrays)
            if (text, layouts) not in self.known:
                attrs = {**piece.graph.attrs, "layouts": layouts, "out_layouts": ("C",) * len(piece.graph.outputs)}
                graph = Graph("piece", piece.graph.inputs, piece.graph.nodes, piece.graph.outputs, attrs)
                self.known[text, layouts] = run_pipeline(graph, self.passes).graph
            return reference.run(self.known[text, layouts], args)

        return run

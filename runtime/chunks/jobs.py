"""Bundle what the tasks of a scheduler run: picklable callables with a name that depends only on what they compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ir.errors import ShapeProblem, TypeProblem
from ...ir.graph import Graph
from ...ir.records import record, replace
from ...passes.planning.chunk_composites import ChunkJoin
from ...passes.planning.chunk_pieces import ChunkPiece
from ...passes.split_chunks import ChunkFinish, ChunkPartial, ChunkSplit, ChunkStage
from .settling import settle
from .shipping import ShippedKernel
from .states import finished, merged, packed, unpacked
from .tasks import Feed, Places, feeds_of, finish_outputs, pieces_of, stage_state

NOTHING = Graph("", (), (), ())


@record
class Job:
    """One task for each chunk: a stage that gives packed states, or a finish that gives outputs.

    Its arguments are the places of the chunk along the variables in `placed`, then the blocks of `feeds` that are not
    in `constants`.
    """

    part: ChunkStage | ChunkFinish
    kernels: tuple[ShippedKernel, ...]
    feeds: tuple[Feed, ...]
    stage_of: tuple[int, ...]
    constants: tuple[tuple[int, Any], ...]

    @property
    def vars(self) -> tuple[int, ...]:
        return tuple(a for a, number in enumerate(self.part.space) if number is not None)

    @property
    def placed(self) -> tuple[int, ...]:
        """The variables whose places the task must know."""
        if isinstance(self.part, ChunkStage):
            return self.vars
        used = {s.number for s in self.part.piece.sources if s.kind in ("offset", "extent", "margin", "count")}
        read = {v for f in self.blocks for v in f.vars}
        return tuple(v for v in self.vars if v in used or v not in read)

    @property
    def blocks(self) -> tuple[Feed, ...]:
        """The feeds that are read as blocks."""
        known = dict(self.constants)
        return tuple(f for f in self.feeds if f.kind != "input" or f.number not in known)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        sources = tuple(str((p.sources, p.around)) for p in pieces_of(self.part))
        shown = (self.part.space, str(self.part.partials) if isinstance(self.part, ChunkStage) else self.part.outputs)
        numbers = tuple((k, type(x).__name__, str(x)) for k, x in self.constants)
        texts = tuple(k.__dask_tokenize__() for k in self.kernels)
        return ("weft", texts, sources, str(shown), str(self.feeds), numbers)

    def run(self, *blocks: Any) -> Any:
        settle()
        known, given = dict(self.constants), iter(map(_unwrapped, blocks))
        places = {v: _place(next(given)) for v in self.placed}
        read = [
            known[f.number] if f.kind == "input" and f.number in known else _read(f, next(given), places)
            for f in self.feeds
        ]
        if isinstance(self.part, ChunkStage):
            kernels = [kernel.run for kernel in self.kernels]
            return packed(stage_state(self.part, self.stage_of, kernels, self.feeds, read, places))
        outputs = finish_outputs(self.part, self.stage_of, self.kernels[0].run, self.feeds, read, places)
        if len(outputs) == 1:
            return np.asarray(outputs[0])
        return packed({(k,): (np.asarray(x),) for k, x in zip(self.part.outputs, outputs, strict=True)})


@record
class Merging:
    """Merges packed states; the last merge gives the results."""

    partials: tuple[ChunkPartial, ...]
    is_last: bool
    joins: tuple[ChunkJoin, ...] = ()
    kernels: tuple[ShippedKernel, ...] = ()

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        joins = tuple((j.number, j.kind, j.reference, str(j.piece.sources)) for j in self.joins)
        return "weft", str(self.partials), self.is_last, joins, tuple(k.__dask_tokenize__() for k in self.kernels)

    def run(self, blocks: Any, axis: Any = None, keepdims: Any = None) -> Any:
        if isinstance(blocks, np.ndarray) and not blocks.size:
            return blocks  # dask asks for the type of the result
        state = merged(map(unpacked, _flat(blocks)), self.partials)
        if not self.is_last:
            return packed(state)
        kernels = [kernel.run for kernel in self.kernels]
        return packed({(k,): (x,) for k, x in finished(state, self.partials, self.joins, kernels).items()})


@record
class Unpacking:
    """Takes one output from several that a task returned packed."""

    number: int

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return "weft", self.number

    def run(self, block: Any) -> Any:
        return unpacked(_unwrapped(block))[(self.number,)][0]


def job_of(
    part: ChunkStage | ChunkFinish, split: ChunkSplit, constants: Mapping[int, Any], backend: str = "llvm"
) -> Job:
    """Bundle a stage or a finish."""
    feeds = tuple(feeds_of(part, split.stage_of))
    kernels = tuple(ShippedKernel.of(p.graph, backend) for p in pieces_of(part))
    used = tuple(
        (k, x) for k, x in sorted(constants.items()) if any(f.kind == "input" and f.number == k for f in feeds)
    )
    return Job(_bare(part), kernels, feeds, split.stage_of, used)


def merging_of(stage: ChunkStage, is_last: bool, backend: str = "llvm") -> Merging:
    """Bundle the merges of a stage."""
    if not is_last:
        return Merging(stage.partials, False)
    joins = tuple(replace(j, piece=_bare_piece(j.piece)) for j in stage.joins)
    return Merging(stage.partials, True, joins, tuple(ShippedKernel.of(j.piece.graph, backend) for j in stage.joins))


def _bare(part: ChunkStage | ChunkFinish) -> ChunkStage | ChunkFinish:
    """The part without its graphs, which are sent as text."""

    if isinstance(part, ChunkFinish):
        return replace(part, piece=_bare_piece(part.piece))
    walks = (
        replace(w, piece=_bare_piece(w.piece), before=None if w.before is None else _bare_piece(w.before))
        for w in part.walks
    )
    return replace(part, walks=tuple(walks), joins=())


def _bare_piece(piece: ChunkPiece) -> ChunkPiece:
    return ChunkPiece(NOTHING, piece.sources, piece.around)


def _read(feed: Feed, block: Any, places: Places) -> Any:
    if feed.kind == "input":
        if feed.vars:
            _check(feed, block, places)
        return block
    return {key[0]: arrays[0] for key, arrays in unpacked(block).items()}


def _check(feed: Feed, block: Any, places: Places) -> None:
    """Refuse what is no array, and a block of another shape than dask said: sums of it would be wrong silently."""
    if not isinstance(block, np.ndarray):
        raise TypeProblem(
            f"a chunk of a dask array is a {type(block).__name__}, not a NumPy array",
            hint="let the function that makes chunks return arrays",
        )
    known = [None if feed.around or v is None else places.get(v) for v in feed.vars]
    lengths = [None if place is None else place[1] - place[0] for place in known]
    if len(lengths) != block.ndim or any(n not in (None, own) for n, own in zip(lengths, block.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in lengths)
        raise ShapeProblem(
            f"a chunk of a dask array has the shape {block.shape}, but dask says that it has ({wanted})",
            hint="call the array's compute_chunk_sizes(), or give map_blocks the chunks of its result",
        )


def _place(given: Any) -> tuple[int, int]:
    """Where a chunk begins and ends, from a slice or an array of two numbers."""
    if isinstance(given, tuple):
        (part,) = given
        return part.start, part.stop
    return int(given[0]), int(given[1])


def _unwrapped(block: Any) -> Any:
    """Unpack a block along whole axes, which comes in lists of one."""
    while isinstance(block, list) and len(block) == 1:
        (block,) = block
    return block


def _flat(blocks: Any) -> list[Any]:
    return [x for b in blocks for x in _flat(b)] if isinstance(blocks, list) else [blocks]

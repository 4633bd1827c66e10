"""Run the pieces of a split kernel on one chunk: a task reads blocks of its inputs and makes a state, or outputs.

`feeds_of` lists the blocks that a stage or a finish reads, each an input or the merged states of a stage, with the
variable of each axis. Whoever schedules the tasks hands the blocks over in that order, after the places of the chunk:
for each variable where the chunk begins and ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.records import record
from ...passes.planning.chunk_pieces import GONE, PLAIN, SPLIT, ChunkPiece, ChunkSource, Index
from ...passes.split_chunks import IN_ORDER, POSITION, TREE, ChunkFinish, ChunkPartial, ChunkStage, ChunkWalk
from .states import Array, State, nodes_of

Run = Callable[[Sequence[Any]], Sequence[Array]]
Places = Mapping[int, tuple[int, int]]


@record
class Feed:
    """A block that a task reads: of an `input`, or of the merged results of a `stage`.

    An input has a variable or None for each axis, a stage has one for each of its kept chunked axes.
    """

    kind: str
    number: int
    vars: tuple[int | None, ...]


def feed_of(source: ChunkSource, stage_of: Sequence[int]) -> Feed | None:
    """The block that holds a source; None if it needs none."""
    vars = tuple(e.var for e in source.index)
    if source.kind == "input":
        return Feed("input", source.number, vars)
    chunked = tuple(v for v in vars if v is not None)
    return Feed("stage", stage_of[source.number], chunked) if source.kind == "merged" else None


def pieces_of(part: ChunkStage | ChunkFinish) -> list[ChunkPiece]:
    """The pieces that a task runs."""
    if isinstance(part, ChunkFinish):
        return [part.piece]
    return [p for w in part.walks for p in (w.before, w.piece) if p is not None]


def feeds_of(part: ChunkStage | ChunkFinish, stage_of: Sequence[int]) -> list[Feed]:
    """All blocks that a task reads, in order."""
    found = (feed_of(s, stage_of) for piece in pieces_of(part) for s in piece.sources)
    return list(dict.fromkeys(f for f in found if f is not None))


class Blocks:
    """The blocks of one task: how its pieces find their arguments."""

    def __init__(self, feeds: Sequence[Feed], given: Sequence[Any], stage_of: Sequence[int], places: Places) -> None:
        self.blocks = dict(zip(feeds, given, strict=True))
        self.stage_of, self.places = stage_of, places

    def argument(
        self, source: ChunkSource, low: int = 0, high: int | None = None, var: int = -1, width: int = 1
    ) -> Any:
        """The argument for a source, cut to the elements from `low` to `high` along a variable."""
        if source.kind == "size":
            return source.number
        if source.kind == "offset":
            return self.places[source.number][0] + (low if source.number == var else 0)
        if source.kind == "extent":
            start, stop = self.places[source.number]
            count = stop - start if source.number != var or high is None else high - low
            return np.broadcast_to(np.False_, (count,))
        feed = feed_of(source, self.stage_of)
        assert feed is not None
        block = self.blocks[feed]
        array = block[source.number] if source.kind == "merged" else block
        return arranged(array, source.index, low, high, var, width)


def arranged(array: Array, index: Index, low: int, high: int | None, var: int, width: int) -> Array:
    """Cut a block along a variable, with collapsed axes in rows of `width` elements."""
    if not index:
        return array  # it may be a Python number
    for axis, (own, form) in enumerate(index):
        if form == SPLIT:
            count = 1 + sum(e.form == GONE for e in index)
            before, after = array.shape[:axis], array.shape[axis + count :]
            if own is None:
                return array.reshape(*before, *((1, 1) if width > 1 else (1,)), *after)
            length = math.prod(array.shape[axis : axis + count])
            flat = array.reshape(*before, length, *after)[(slice(None),) * axis + (slice(low, high),)]
            return flat.reshape(*before, *rows_of(flat.shape[axis], width), *after) if width > 1 else flat
        if form == PLAIN and own is not None and own == var:
            return array[(slice(None),) * axis + (slice(low, high),)]
    if all(form == GONE for _, form in index if form):
        return array.reshape(tuple(n for n, (_, form) in zip(array.shape, index, strict=True) if not form))
    return array


def rows_of(count: int, width: int) -> tuple[int, int]:
    """Rows and columns of so many elements; fewer than a row are one short row."""
    return (count // width, width) if count >= width or not count else (1, count)


def stage_state(
    stage: ChunkStage,
    stage_of: Sequence[int],
    kernels: Sequence[Run],
    feeds: Sequence[Feed],
    given: Sequence[Any],
    places: Places,
) -> State:
    """The state of one chunk. `kernels` run the stage's pieces."""
    state = State()
    if any(places[a][0] == places[a][1] for a in stage.reduced if stage.space[a] is not None):
        return state  # an empty chunk has nothing to add
    blocks, runs = Blocks(feeds, given, stage_of, places), iter(kernels)
    for walk in stage.walks:
        before: Sequence[Array] = ()
        if walk.before is not None:
            before = next(runs)([blocks.argument(s) for s in walk.before.sources])
        run = next(runs)
        if walk.partials[0].kind == TREE:
            _walk_tree(walk, run, blocks, before, places[walk.var], state)
        else:
            _walk_whole(walk, run, blocks, stage, places, state)
    return state


def _walk_whole(walk: ChunkWalk, run: Run, blocks: Blocks, stage: ChunkStage, places: Places, state: State) -> None:
    outputs = iter(run([blocks.argument(s) for s in walk.piece.sources]))
    for partial in walk.partials:
        if partial.kind == POSITION:
            state[(partial.number,)] = (next(outputs) + places[walk.var][0] * partial.row, next(outputs))
        elif partial.kind == IN_ORDER:
            starts = (places[a][0] for a in stage.reduced if stage.space[a] is not None)
            state[(partial.number, *starts)] = (next(outputs),)
        else:
            state[(partial.number,)] = (next(outputs),)


def _walk_tree(
    walk: ChunkWalk, run: Run, blocks: Blocks, before: Sequence[Array], place: tuple[int, int], state: State
) -> None:
    tree = walk.partials[0]
    start, stop = place[0] * tree.row, place[1] * tree.row
    first, last = start // tree.block, -(-stop // tree.block)
    whole = last - 1 if stop % tree.block else last

    def lanes(low: int, high: int) -> Sequence[Array]:
        """The lanes of the elements from `low` to `high` of the chunk."""
        args = [
            arranged(before[s.number], s.index, low, high, walk.var, tree.width)
            if s.kind == "before"
            else blocks.argument(s, low, high, walk.var, tree.width)
            for s in walk.piece.sources
        ]
        return run(args)

    for level, number in nodes_of(first, whole):
        low = (number << level) * tree.block - start
        sums = lanes(low, low + (tree.block << level))
        state |= {(p.number, level, number): (x,) for p, x in zip(walk.partials, sums, strict=True)}
    if whole < last:
        low, end = whole * tree.block - start, stop - start
        cut = end - (end - low) % tree.width
        sums = lanes(low, cut) if cut > low else ()
        rest = lanes(cut, end) if cut < end else ()
        for k, partial in enumerate(walk.partials):
            block = sums[k] if sums else None
            if rest:
                block = _with_rest(partial, block, rest[k])
            assert block is not None
            state[partial.number, 0, whole] = (block,)


def _with_rest(partial: ChunkPartial, block: Array | None, rest: Array) -> Array:
    """Add the last elements, fewer than there are lanes, to the first lanes of the last block."""
    axis, identity = partial.lanes, 1 if partial.op == "prod" else 0
    if block is None:
        shape = (*rest.shape[:axis], partial.width, *rest.shape[axis + 1 :])
        block = np.full(shape, identity, rest.dtype)
    block = block.copy()
    lanes = (slice(None),) * axis + (slice(0, rest.shape[axis]),)
    with np.errstate(all="ignore"):
        block[lanes] = block[lanes] * rest if partial.op == "prod" else block[lanes] + rest
    return block


def finish_outputs(
    finish: ChunkFinish,
    stage_of: Sequence[int],
    kernel: Run,
    feeds: Sequence[Feed],
    given: Sequence[Any],
    places: Places,
) -> Sequence[Array]:
    """The outputs of one chunk."""
    blocks = Blocks(feeds, given, stage_of, places)
    return kernel([blocks.argument(s) for s in finish.piece.sources])

"""Run the pieces of a split kernel on one chunk: a task reads blocks of its inputs and makes a state, or outputs.

`feeds_of` lists the blocks that a stage or a finish reads, each an input or the merged states of a stage, with the
variable of each axis. The scheduler passes the blocks in that order, after the places of the chunk: where it begins and
ends along each variable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.records import record
from ...passes.planning.chunk_pieces import GONE, PLAIN, SPLIT, Around, ChunkPiece, ChunkSource, Index
from ...passes.split_chunks import (
    EXACT,
    IN_ORDER,
    MOMENTS,
    PARTS,
    POSITION,
    TREE,
    ChunkFinish,
    ChunkPartial,
    ChunkStage,
    ChunkWalk,
)
from .states import Array, Run, State, nodes_of

Places = Mapping[int, tuple[int, int]]
LENGTHS = {4: np.float32, 8: np.float64}


@record
class Feed:
    """A block that a task reads: of an `input`, or of the merged results of a `stage`.

    An input has a variable or None for each axis, a stage has one for each of its kept chunked axes. `around` says how
    many elements of the neighbours before and after come with a block of an input, along each axis.
    """

    kind: str
    number: int
    vars: tuple[int | None, ...]
    around: tuple[tuple[int, int], ...] = ()


def feed_of(source: ChunkSource, stage_of: Sequence[int], around: Sequence[Around] = ()) -> Feed | None:
    """The block that holds a source; None if it needs none."""
    vars = tuple(e.var for e in source.index)
    if source.kind == "input":
        margins = {a.var: (a.before, a.after) for a in around}
        wanted = tuple(margins.get(v, (0, 0)) if v is not None else (0, 0) for v in vars)
        return Feed("input", source.number, vars, wanted if any(map(any, wanted)) else ())
    chunked = tuple(v for v in vars if v is not None)
    return Feed("stage", stage_of[source.number], chunked) if source.kind == "merged" else None


def pieces_of(part: ChunkStage | ChunkFinish) -> list[ChunkPiece]:
    """The pieces that a task runs, without those of joins."""
    if isinstance(part, ChunkFinish):
        return [part.piece]
    return [p for w in part.walks for p in (w.before, w.piece) if p is not None]


def feeds_of(part: ChunkStage | ChunkFinish, stage_of: Sequence[int]) -> list[Feed]:
    """All blocks that a task reads, in order."""
    found = (feed_of(s, stage_of, piece.around) for piece in pieces_of(part) for s in piece.sources)
    return list(dict.fromkeys(f for f in found if f is not None))


class Blocks:
    """The blocks of one task: how its pieces find their arguments."""

    def __init__(self, feeds: Sequence[Feed], given: Sequence[Any], stage_of: Sequence[int], places: Places) -> None:
        self.blocks = dict(zip(feeds, given, strict=True))
        self.stage_of, self.places = stage_of, places
        self.around: dict[int, Around] = {}

    def of(self, piece: ChunkPiece) -> Blocks:
        """The blocks with the margins of a piece."""
        self.around = {a.var: a for a in piece.around}
        return self

    def read(self, var: int) -> tuple[int, int]:
        """Where a block with its margins begins and ends."""
        start, stop = self.places[var]
        if var not in self.around:
            return start, stop
        _, before, after, full = self.around[var]
        return max(0, start - before), min(full, stop + after)

    def argument(
        self, source: ChunkSource, low: int = 0, high: int | None = None, var: int = -1, width: int = 1
    ) -> Any:
        """The argument for a source, cut to the elements from `low` to `high` along a variable."""
        if source.kind == "size":
            return source.number
        if source.kind == "length":
            return LENGTHS[source.number](width if high is None else high - low)
        if source.kind == "offset":
            return self.read(source.number)[0] + (low if source.number == var else 0)
        if source.kind == "margin":
            return _extent(self.places[source.number][0] - self.read(source.number)[0])
        if source.kind == "count":
            start, stop = self.places[source.number]
            return _extent(stop - start + (source.grown if stop == self.around[source.number].full else 0))
        if source.kind == "extent":
            start, stop = self.read(source.number)
            count = stop - start if source.number != var or high is None else high - low
            return _extent(count)
        feed = feed_of(source, self.stage_of, tuple(self.around.values()))
        assert feed is not None
        block = self.blocks[feed]
        array = block[source.number] if source.kind == "merged" else block
        return arranged(array, source.index, low, high, var, width)


def _extent(count: int) -> Array:
    """An array without data that has a size."""
    return np.broadcast_to(np.False_, (count,))


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
    """Arrange elements in rows of so many; fewer than a row make one short row."""
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
    if any(places[a][0] == places[a][1] for a in stage.reduced if stage.space[a] is not None):
        return State()  # an empty chunk has nothing to add
    state = State()
    blocks, runs = Blocks(feeds, given, stage_of, places), iter(kernels)
    around = {a.var: a.full for piece in pieces_of(stage) for a in piece.around}
    places = {
        v: (start, stop + stage.grown[v]) if v in around and stop == around[v] else (start, stop)
        for v, (start, stop) in places.items()
    }
    for walk in stage.walks:
        before: Sequence[Array] = ()
        if walk.before is not None:
            before = next(runs)([blocks.of(walk.before).argument(s) for s in walk.before.sources])
        run = next(runs)
        if walk.part > 0 and walk.partials[0].kind == MOMENTS:
            _walk_moments(walk, run, blocks, before, places[walk.var], state)
        elif walk.part:
            _walk_parts(walk, run, blocks, before, stage, places, state)
        elif walk.partials[0].kind == TREE:
            _walk_tree(walk, run, blocks, before, places[walk.var], state)
        else:
            _walk_whole(walk, run, blocks, stage, places, state)
    return state


def _walk_whole(walk: ChunkWalk, run: Run, blocks: Blocks, stage: ChunkStage, places: Places, state: State) -> None:
    outputs = iter(run([blocks.of(walk.piece).argument(s) for s in walk.piece.sources]))
    for partial in walk.partials:
        if partial.kind == POSITION:
            state[(partial.number,)] = (next(outputs) + places[walk.var][0] * partial.row, next(outputs))
        elif partial.kind == IN_ORDER:
            starts = (places[a][0] for a in stage.reduced if stage.space[a] is not None)
            state[(partial.number, *starts)] = (next(outputs),)
        else:
            state[(partial.number,)] = (next(outputs),)


def arguments(walk: ChunkWalk, blocks: Blocks, before: Sequence[Array], low: int, high: int, width: int) -> list[Any]:
    """The arguments of a walk's kernel for the elements from `low` to `high`, in rows of `width` elements."""
    return [
        arranged(before[s.number], s.index, low, high, walk.var, width)
        if s.kind == "before"
        else blocks.of(walk.piece).argument(s, low, high, walk.var, width)
        for s in walk.piece.sources
    ]


def _walk_tree(
    walk: ChunkWalk, run: Run, blocks: Blocks, before: Sequence[Array], place: tuple[int, int], state: State
) -> None:
    tree = walk.partials[0]
    start, stop = place[0] * tree.row, place[1] * tree.row
    first, last = start // tree.block, -(-stop // tree.block)
    whole = last - 1 if stop % tree.block else last

    def lanes(low: int, high: int) -> Sequence[Array]:
        """The lanes of the elements from `low` to `high` of the chunk."""
        found = run(arguments(walk, blocks, before, low, high, tree.width))
        return [found[k] for (k,) in walk.slots]

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


def _walk_moments(
    walk: ChunkWalk, run: Run, blocks: Blocks, before: Sequence[Array], place: tuple[int, int], state: State
) -> None:
    """The moments of the nodes of a chunk. A part that is not complete comes last."""
    row, part = walk.partials[0].row, walk.part
    start, stop = place[0] * row, place[1] * row
    first, whole = start // part, stop // part
    nodes = nodes_of(first, whole)
    if stop % part:
        nodes.append((0, whole))
    for level, number in nodes:
        low = (number << level) * part - start
        high = min(low + (part << level), stop - start)
        outputs = run(arguments(walk, blocks, before, low, high, 1))
        for partial, slots in zip(walk.partials, walk.slots, strict=True):
            if slots:
                moments = (outputs[k].squeeze(partial.lanes) for k in slots)
                state[partial.number, level, number] = (np.array(high - low), *moments)


def _walk_parts(
    walk: ChunkWalk, run: Run, blocks: Blocks, before: Sequence[Array], stage: ChunkStage, places: Places, state: State
) -> None:
    """The sums of powers of each part of a chunk, or of the whole chunk; other reductions are computed from them."""
    sums, cut = walk.partials[0], [a for a in stage.reduced if stage.space[a] is not None]
    key: tuple[int, ...] = tuple(places[a][0] for a in cut)
    if walk.part < 0:
        length = sums.row * math.prod(places[a][1] - places[a][0] for a in cut)
        outputs = [
            x.reshape(1, *(n for a, n in enumerate(x.shape) if a not in stage.reduced))
            for x in run([blocks.of(walk.piece).argument(s, width=length) for s in walk.piece.sources])
        ]
        lengths = [length]
    else:
        begin, end = (place * sums.row for place in places[walk.var])
        key = (begin // walk.part,)
        whole = (end - begin) // walk.part * walk.part
        spans = [(low, high) for low, high in ((0, whole), (whole, end - begin)) if low < high]
        found = [run(arguments(walk, blocks, before, low, high, walk.part)) for low, high in spans]
        outputs = [
            np.concatenate([np.moveaxis(x.squeeze(sums.lanes + 1), sums.lanes, 0) for x in same])
            for same in zip(*found, strict=True)
        ]
        lengths = [min(walk.part, end - begin - low) for low in range(0, end - begin, walk.part)]
    for partial, slots in zip(walk.partials, walk.slots, strict=True):
        arrays = [outputs[k] for k in slots]
        if partial.kind == PARTS:
            state[(partial.number, *key)] = (np.array(lengths, arrays[0].dtype), *arrays)
        elif partial.kind == MOMENTS and arrays:
            state[(partial.number, *key)] = (np.array(lengths[0]), *(x[0] for x in arrays))
        elif partial.kind == EXACT:
            total = np.maximum.reduce(arrays[0])
            state[(partial.number,)] = (np.expand_dims(total, partial.axes) if partial.keepdims else total,)


def _with_rest(partial: ChunkPartial, block: Array | None, rest: Array) -> Array:
    """Add the last elements, fewer than the lanes, to the first lanes of the last block."""
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
    return kernel([blocks.of(finish.piece).argument(s) for s in finish.piece.sources])

"""Merge the partial results of reductions over chunks. The order does not matter: the bits are those of one machine.

A state maps keys to arrays. The key of an exact reduction is its number; a node of a sum's tree is (number, level,
place) and holds a vector of lanes; a sum that is merged in order has the place of its chunk. States travel between
processes as plain arrays of bytes (`packed`), because dask plans with arrays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...backends import tree
from ...backends.stated import MEANINGS
from ...ir.ops import TABLE
from ...passes.planning.chunk_composites import ChunkJoin
from ...passes.split_chunks import EXACT, MOMENTS, PARTS, POSITION, TOTAL, TREE, ChunkPartial

Array = np.ndarray[Any, Any]
Key = tuple[int, ...]
State = dict[Key, tuple[Array, ...]]
Run = Callable[[Sequence[Any]], Sequence[Array]]
Joined = tuple[int, list[Array]]  # moments, and of how many elements
COMBINE = {
    "sum": "add", "prod": "mul", "min": "minimum", "max": "maximum", "any": "logical_or", "all": "logical_and",
    "reduce_fmin": "fmin", "reduce_fmax": "fmax", "reduce_and": "bit_and", "reduce_or": "bit_or",
    "reduce_xor": "bit_xor",
}  # fmt: skip
ALIGNED = 64


def nodes_of(first: int, last: int) -> list[tuple[int, int]]:
    """The largest nodes (level, place) of a binary tree that cover the blocks from `first` up to `last`, excluded."""
    found = []
    while first < last:
        level = min((first & -first).bit_length() - 1 if first else 63, (last - first).bit_length() - 1)
        found.append((level, first >> level))
        first += 1 << level
    return found


def merged(states: Iterable[State], partials: Sequence[ChunkPartial]) -> State:
    """Join states; the result does not depend on their order."""
    known, found = {p.number: p for p in partials}, State()
    for state in states:
        for key, arrays in state.items():
            partial = known[key[0]]
            if partial.kind == TREE:
                _add_node(partial, key, arrays, found)
            elif partial.kind == MOMENTS and partial.block > 0:
                _join_nodes(key, arrays, found)
            elif partial.kind == POSITION and key in found:
                found[key] = _better(partial, found[key], arrays)
            elif partial.kind == EXACT and key in found:
                found[key] = (_combine(partial.op, found[key][0], arrays[0]),)
            else:
                found[key] = arrays
    return found


def finished(
    state: State, partials: Sequence[ChunkPartial], joins: Sequence[ChunkJoin] = (), runs: Sequence[Run] = ()
) -> dict[int, Array]:
    """The results of the reductions, by number; `runs` run the pieces of `joins`."""
    found, moments = dict[int, Array](), dict[int, Joined]()
    for partial in partials:
        if partial.kind in (PARTS, MOMENTS, TOTAL):
            if partial.of == partial.number:
                moments[partial.of] = _all_moments(partial, state)
            continue
        keys = sorted((k for k in state if k[0] == partial.number), key=lambda k: _place(partial, k))
        *others, last = keys
        total = state[last][0]
        if partial.kind == TREE:
            for key in reversed(others):
                total = _combine(partial.op, state[key][0], total)
            if partial.lanes >= 0:
                total = across(partial.op, np.moveaxis(total, partial.lanes, -1))
            if partial.keepdims:
                total = np.expand_dims(total, partial.axes)
        elif others:
            total = state[keys[0]][0]
            for key in keys[1:]:
                total = _combine(partial.op, total, state[key][0])
        found[partial.number] = total
    for partial in partials:
        if partial.kind == TOTAL:
            total = moments[partial.of][1][0]
            found[partial.number] = np.expand_dims(total, partial.axes) if partial.keepdims else total
    known = {p.number: p for p in partials}
    for join, run in zip(joins, runs, strict=True):
        partial = known[join.number]
        with np.errstate(all="ignore"):
            if partial.kind == MOMENTS:
                total = _moved(join, run, moments[partial.of], found)
            else:
                total = _joined(partial, join, run, state, found)
        found[join.number] = np.expand_dims(total, partial.axes) if partial.keepdims else total
    return found


def _joined(partial: ChunkPartial, join: ChunkJoin, run: Run, state: State, found: Mapping[int, Array]) -> Array:
    """Move the sums of powers of all parts to the common shift, and add them up."""
    keys = sorted(k for k in state if k[0] == partial.number)
    _, own, sums = (np.concatenate(arrays) for arrays in zip(*(state[k] for k in keys), strict=True))
    shift = np.broadcast_to(found[join.reference].reshape(own.shape[1:]), own.shape)
    (factor,) = run([own.reshape(-1), np.ascontiguousarray(shift).reshape(-1)])
    return tree.pairs(np.add, tree.moved_powers(own, sums, np.asarray(factor).reshape(own.shape)))


def _moved(join: ChunkJoin, run: Run, joined: Joined, found: Mapping[int, Array]) -> Array:
    """Move moments to the shift of a composite."""
    count, moments = joined
    given = [found[s.number] if s.kind == "merged" else s.number for s in join.piece.sources]
    shift = np.asarray(run(given)[0]).reshape(moments[1].shape)
    return tree.moved_moments(moments, count, shift)[join.kind == "moment2"]


def _join_nodes(key: Key, arrays: tuple[Array, ...], found: State) -> None:
    """Add a node of moments, and join it with its sibling if that is there."""
    number, level, place = key
    with np.errstate(all="ignore"):
        while (other := found.pop((number, level, place ^ 1), None)) is not None:
            arrays = _both(arrays, other) if place % 2 == 0 else _both(other, arrays)
            level, place = level + 1, place >> 1
    found[number, level, place] = arrays


def _both(older: tuple[Array, ...], newer: tuple[Array, ...]) -> tuple[Array, ...]:
    counts = int(older[0]), int(newer[0])
    return np.array(sum(counts)), *tree.both_moments(older[1:], counts[0], newer[1:], counts[1])


def _all_moments(partial: ChunkPartial, state: State) -> Joined:
    """Join the moments that are left, from the newest to the oldest."""
    keys = [k for k in state if k[0] == partial.number]
    keys = sorted(keys, key=lambda k: (k[2] << k[1],) if partial.block > 0 else k)
    total = state[keys[-1]]
    with np.errstate(all="ignore"):
        for key in reversed(keys[:-1]):
            total = _both(state[key], total)
    return int(total[0]), list(total[1:])


def across(op: str, lanes: Array) -> Array:
    """Combine the lanes of a sum's node to one number."""
    return np.asarray(tree.across(lambda a, b: _combine(op, a, b), lanes))


def _place(partial: ChunkPartial, key: Key) -> Key:
    return (key[2] << key[1],) if partial.kind == TREE else key


def _add_node(partial: ChunkPartial, key: Key, arrays: tuple[Array, ...], found: State) -> None:
    """Add a node to a tree, and join it with its sibling if that is there."""
    number, level, place = key
    (array,) = arrays
    while (other := found.pop((number, level, place ^ 1), None)) is not None:
        pair = (array, other[0]) if place % 2 == 0 else (other[0], array)
        array = _combine(partial.op, *pair)
        level, place = level + 1, place >> 1
    found[number, level, place] = (array,)


def _combine(op: str, a: Array, b: Array) -> Array:
    name = COMBINE[op]
    function = MEANINGS.get(name, TABLE[name].numpy)
    assert function is not None
    with np.errstate(all="ignore"):
        return np.asarray(function(a, b))


def _better(partial: ChunkPartial, a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    """The position of the better of two values. The first NaN wins, and of equal values the first."""
    (at, one), (to, two) = a, b
    wins = two > one if partial.op == "argmax" else two < one
    is_tie = two == one
    if one.dtype.kind == "f":
        wins, is_tie = (
            np.where(np.isnan(one), False, wins | np.isnan(two)),
            is_tie | (np.isnan(one) & np.isnan(two)),
        )
    wins = np.where(is_tie, to < at, wins)
    return np.where(wins, to, at), np.where(wins, two, one)


def packed(state: State) -> Array:
    """Write a state as bytes: the number of bytes of the heading, the heading, then the arrays."""
    items = [(k, x) for k, arrays in state.items() for x in arrays]
    text = json.dumps([(k, x.dtype.str, x.shape) for k, x in items]).encode()
    made = np.empty(_padded(8 + len(text)) + sum(_padded(x.nbytes) for _, x in items), np.uint8)
    made[:8] = np.frombuffer(np.int64(len(text)).tobytes(), np.uint8)
    made[8 : 8 + len(text)] = np.frombuffer(text, np.uint8)
    at = _padded(8 + len(text))
    made[8 + len(text) : at] = 0
    for _, x in items:
        made[at : at + x.nbytes] = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
        made[at + x.nbytes : at + _padded(x.nbytes)] = 0
        at += _padded(x.nbytes)
    return made


def unpacked(data: Array) -> State:
    """Read a state from bytes."""
    data = np.ascontiguousarray(data).reshape(-1)
    length = int(data[:8].view(np.int64)[0])
    found = State()
    at = _padded(8 + length)
    for key, dtype, shape in json.loads(data[8 : 8 + length].tobytes()):
        size = math.prod(shape) * np.dtype(dtype).itemsize
        array = data[at : at + size].view(dtype).reshape(shape)
        found[tuple(key)] = (*found.get(tuple(key), ()), array)
        at += _padded(size)
    return found


def _padded(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED

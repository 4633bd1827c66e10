"""Run a reduction by its tree, element by element, with the same bits as native code.

This is the code for the tree that `passes/lower_reductions.py` describes in words. NumPy only combines two elements;
the order is determined here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .fused import fma

Array = np.ndarray[Any, Any]
Combine = Callable[[Array, Array], Array]
Moments = Sequence[Array]  # the sum, the mean, the sum of differences from it, and that of their squares


def reduce(
    combine: Combine,
    identity: Any,
    x: Array,
    axes: tuple[int, ...],
    keepdims: bool,
    order: Sequence[tuple[int, ...]],
    lanes: int,
    steps: int,
) -> Array:
    """The elements of `x` over `axes`, combined in the tree of the plan."""
    runs = _runs(x, axes, order)
    blocks = [b for k in range(runs.shape[-2]) for b in _blocks(runs[..., k, :], lanes * steps)]
    if not blocks or not order:
        empty = np.full(runs.shape[:-2], identity, x.dtype)
        result = combine(empty, runs[..., 0, 0]) if blocks else empty
    else:
        result = _halve(combine, pairs(combine, [_block(combine, identity, b, lanes) for b in blocks]))
    return result.reshape(reduced_shape(x, axes, keepdims))


def chain(a: Array, b: Array, axes: tuple[int, ...], keepdims: bool, order: Sequence[tuple[int, ...]]) -> Array:
    """The products of two arrays over `axes`, added up one after another, each with one rounding."""
    left, right = (_runs(x, axes, order) for x in (a, b))
    total = np.zeros(left.shape[:-2], a.dtype)
    for run in range(left.shape[-2]):
        for k in range(left.shape[-1]):
            total = fma(left[..., run, k], right[..., run, k], total)
    return total.reshape(reduced_shape(a, axes, keepdims))


def composite(
    kind: str,
    exp: Callable[[Array], Array],
    u: Array,
    shift: Array,
    axes: tuple[int, ...],
    keepdims: bool,
    order: Sequence[tuple[int, ...]],
    lanes: int,
    steps: int,
    chunk: int,
) -> Array:
    """The sum of a kind (`ir/composites.py`) over `u - shift`, by parts of `chunk` blocks with their own shifts.

    `exp` is the function of the kinds that have one; a total has no shift.
    """
    runs, wanted = _runs(u, axes, order), shift.reshape(reduced_shape(u, axes, False))
    parts = [p for k in range(runs.shape[-2]) for p in _blocks(runs[..., k, :], chunk * lanes * steps)]

    def add(x: Array) -> Array:
        return _sum(x, lanes, steps)

    if not parts:
        result = np.zeros(wanted.shape, u.dtype)
    elif kind == "total":
        result = pairs(np.add, [add(p) for p in parts])
    elif kind.startswith("moment"):
        found = [np.array(same) for same in zip(*(_moments(p, add) for p in parts), strict=True)]
        joined = joined_moments(found, parts[0].shape[-1], parts[-1].shape[-1])
        result = moved_moments(joined, runs.shape[-2] * runs.shape[-1], wanted)[kind == "moment2"]
    else:
        owns = [np.maximum.reduce(p, axis=-1) for p in parts]
        sums = [add(exp(p - own[..., None])) for p, own in zip(parts, owns, strict=True)]
        moved = [moved_powers(own, x, exp(own - wanted)) for own, x in zip(owns, sums, strict=True)]
        result = pairs(np.add, moved)
    return result.reshape(reduced_shape(u, axes, keepdims))


def walked(combine: Combine, identity: Any, runs: Sequence[Array], lanes: int, steps: int) -> Array:
    """Return the lanes after a walk over runs: blocks of `steps` steps in pairs, or one block if `steps` is 0.

    Each run begins a block.
    """
    blocks = [b for run in runs if run.size for b in _blocks(run, lanes * steps or run.size)]
    if not blocks:
        return np.full(lanes, identity, runs[0].dtype)
    return pairs(combine, [_block(combine, identity, b, lanes) for b in blocks])


def across(combine: Combine, lanes: Array) -> Any:
    """Combines the lanes of a walk to one number."""
    return _halve(combine, lanes)


def _moments(part: Array, add: Callable[[Array], Array]) -> Moments:
    total = add(part)
    own = total / part.dtype.type(part.shape[-1])
    apart = part - own[..., None]
    return total, own, add(apart), add(apart * apart)


def moved_powers(own: Array, total: Array, factor: Array) -> Array:
    """Move a sum of powers from its own shift to the common one, by the power of their difference."""
    return np.asarray(np.where(own == -np.inf, own.dtype.type(1), total) * factor)


def joined_moments(parts: Moments, length: int, last: int) -> Moments:
    """Join the moments of parts, in the order of `pairs`: all have `length` elements, but the last one has `last`."""
    joined, rest, count = [x[-1] for x in parts], [x[:-1] for x in parts], last
    while len(rest[0]):
        if len(rest[0]) % 2:
            joined, count = both_moments([x[-1] for x in rest], length, joined, count), count + length
            rest = [x[:-1] for x in rest]
        rest = both_moments([x[::2] for x in rest], length, [x[1::2] for x in rest], length)
        length *= 2
    return joined


def both_moments(older: Moments, older_count: int, newer: Moments, count: int) -> list[Array]:
    """Join the moments of two parts with these numbers of elements."""
    total = older[0] + newer[0]
    mean = total / total.dtype.type(older_count + count)
    moved = [moved_moments(older, older_count, mean), moved_moments(newer, count, mean)]
    return [total, mean, *(x + y for x, y in zip(*moved, strict=True))]


def moved_moments(moments: Moments, count: int, shift: Array) -> tuple[Array, Array]:
    """The sum of differences from another shift, and that of their squares; a sum of squares that is infinite stays."""
    _, own, plain, squares = moments
    apart, is_here = own - shift, own == shift
    far = own.dtype.type(count) * apart
    moved = plain + far, squares + apart * (plain + plain + far)
    return np.where(is_here, plain, moved[0]), np.where(is_here | (squares == np.inf), squares, moved[1])


def _sum(run: Array, lanes: int, steps: int) -> Array:
    blocks = [_block(np.add, 0.0, b, lanes) for b in _blocks(run, lanes * steps)]
    return _halve(np.add, pairs(np.add, blocks))


def _runs(x: Array, axes: tuple[int, ...], order: Sequence[tuple[int, ...]]) -> Array:
    """Arrange the elements as the columns are walked: the last axis is a run of the innermost group."""
    kept = [a for a in range(x.ndim) if a not in axes]
    named = [a for group in order for a in group]
    unnamed = [a for a in axes if a not in named]  # axes of size 1 are in no loop
    moved = np.transpose(x, [*kept, *unnamed, *named])
    inner = int(np.prod([x.shape[a] for a in order[-1]], dtype=int)) if order else 1
    shape = tuple(x.shape[a] for a in kept)
    return moved.reshape(*shape, -1, inner) if x.size else moved.reshape(*shape, 0, max(1, inner))


def reduced_shape(x: Array, axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape of a reduction's result."""
    return tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)


def _blocks(run: Array, size: int) -> list[Array]:
    return [run[..., k : k + size] for k in range(0, run.shape[-1], size)]


def _block(combine: Combine, identity: Any, block: Array, lanes: int) -> Array:
    """Return a block's lanes: each takes every `lanes`-th element, one after another."""
    missing = -block.shape[-1] % lanes
    padding = np.full((*block.shape[:-1], missing), identity, block.dtype)
    steps = np.concatenate([block, padding], axis=-1).reshape(*block.shape[:-1], -1, lanes)
    total = np.full((*block.shape[:-1], lanes), identity, block.dtype)
    for k in range(steps.shape[-2]):
        total = combine(total, steps[..., k, :])
    return total


def pairs(combine: Combine, blocks: Sequence[Array] | Array) -> Array:
    """Combine blocks in pairs, pairs of pairs, and so on; the rest from the newest to the oldest."""
    total, rest = blocks[-1], np.asarray(blocks[:-1])
    while len(rest):
        if len(rest) % 2:
            total, rest = combine(rest[-1], total), rest[:-1]
        rest = combine(rest[::2], rest[1::2])
    return np.asarray(total)


def _halve(combine: Combine, lanes: Array) -> Array:
    """Combines the upper half of the lanes with the lower half until one is left."""
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = combine(lanes[..., :half], lanes[..., half:])
    return lanes[..., 0]

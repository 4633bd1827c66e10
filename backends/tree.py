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
    """The sum of a kind (`ir/composites.py`) over `u - shift`, by chunks with their own shifts.

    `exp` is the function of the kinds that have one.
    """
    runs, wanted = _runs(u, axes, order), shift.reshape(reduced_shape(u, axes, False))
    parts = [p for k in range(runs.shape[-2]) for p in _blocks(runs[..., k, :], chunk * lanes * steps)]
    totals = [_moved(kind, exp, part, wanted, lambda x: _sum(x, lanes, steps)) for part in parts]
    result = pairs(np.add, totals) if totals else np.zeros(wanted.shape, u.dtype)
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


def _moved(kind: str, exp: Callable[[Array], Array], part: Array, shift: Array, add: Callable[[Array], Array]) -> Array:
    """Moves a chunk's sum from its own shift to the common one."""
    if not kind.startswith("moment"):
        own = np.maximum.reduce(part, axis=-1)
        return moved_powers(own, add(exp(part - own[..., None])), exp(own - shift))
    length = part.dtype.type(part.shape[-1])
    own = add(part) / length
    differences = part - own[..., None]
    total = add(differences * differences) if kind == "moment2" else None
    return moved_moment(own, add(differences), total, length, shift)


def moved_powers(own: Array, total: Array, factor: Array) -> Array:
    """Move a sum of powers from its own shift to the common one, by the power of what is between them."""
    return np.asarray(np.where(own == -np.inf, own.dtype.type(1), total) * factor)


def moved_moment(own: Array, plain: Array, squares: Array | None, length: Array, shift: Array) -> Array:
    """Move a sum of differences from `own`, or of their `squares`, to the common shift."""
    apart = own - shift
    if squares is None:
        return np.where(own == shift, plain, fma(length, apart, plain))
    return np.where(own == shift, squares, fma(apart, fma(length, apart, plain + plain), squares))


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

"""Plan the points of a function and a format, in blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import pairs, points
from .emitted import thresholds
from .formats import F32, Array, Format
from .functions import Function
from .hard import hard_points

BLOCK = 1 << 17
PAIRS_OF_HALVES = 10_000_000


def is_exhaustive(function: Function, format: Format) -> bool:
    return function.arity == 1 and format.bits <= F32.bits and not format.is_complex


def planned_points(function: Function, format: Format, count: int, quick: bool = False) -> int:
    """Count the points of a measurement besides the hard ones. Halves have few numbers to make pairs of."""
    if is_exhaustive(function, format) and (not quick or format.count <= count):
        return format.count
    most = PAIRS_OF_HALVES if format.bits < F32.bits else function.most_points(format)
    return min(count, most)


def point_blocks(function: Function, format: Format, text: str, count: int) -> Iterator[tuple[Array, ...]]:
    """Yield blocks of every number, or of the hard points followed by `count` random points."""
    for inputs in _all_blocks(function, format, text, count):
        if function.kept is None:
            yield inputs
            continue
        kept = function.kept(*inputs)
        yield tuple(x[kept] for x in inputs)


def _all_blocks(function: Function, format: Format, text: str, count: int) -> Iterator[tuple[Array, ...]]:
    if is_exhaustive(function, format) and count == format.count:
        yield from ((x,) for x in format.every(BLOCK))
        return
    hard = hard_points(function, format, thresholds(text, format))
    for start in range(0, hard[0].size, BLOCK):
        yield tuple(x[start : start + BLOCK] for x in hard)
    for number, start in enumerate(range(0, count, BLOCK)):
        rng = np.random.default_rng([number, *function.name.encode()])
        size = min(BLOCK, count - start)
        if function.pairs:
            yield pairs.block(format, function.pairs(format), rng, size)
        else:
            any_bits = [] if format.is_complex else [points.patterns(format)]
            yield (points.block(format, [*any_bits, *function.sources(format)], rng, size),)

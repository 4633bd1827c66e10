"""Draw pairs of arguments for the functions of two numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .formats import Format
from .points import Array, Random, Source, interval, near, patterns, sizes

PairSource = Callable[[Random, int], tuple[Array, Array]]


def both(source: Source, other: Source | None = None) -> PairSource:
    """Draw two independent numbers."""
    return lambda rng, count: (source(rng, count), (other or source)(rng, count))


def times(source: Source, ratio: Source) -> PairSource:
    """Draw a number, and that number times a ratio."""

    def made(rng: Random, count: int) -> tuple[Array, Array]:
        x = source(rng, count)
        return x, x.astype(np.float64) * ratio(rng, count)

    return made


def plus(source: Source, distance: Source) -> PairSource:
    """Draw a number, and that number plus a distance."""

    def made(rng: Random, count: int) -> tuple[Array, Array]:
        x = source(rng, count)
        return x, x.astype(np.float64) + distance(rng, count)

    return made


def raised(format: Format, base: Source, exponent: Source) -> PairSource:
    """Draw a positive base, and the exponent that gives a result of a given size."""

    def made(rng: Random, count: int) -> tuple[Array, Array]:
        x = np.abs(base(rng, count).astype(format.dtype).astype(np.float64))
        return x, exponent(rng, count) / np.log2(x)

    return made


def whole(low: int, high: int) -> Source:
    return lambda rng, count: rng.integers(low, high, count, endpoint=True).astype(np.float64)


def powers(format: Format) -> list[PairSource]:
    """Draw results of any size from bases of any size, bases near 1 with huge exponents, results near overflow and
    underflow, negative bases, and exact powers."""
    low, high = format.least - format.bits - 1.0, format.most + 1.0
    any_base, near_one = patterns(format), near(1.0, format, 0.3)
    results = interval(low, high)
    return [
        both(any_base),
        raised(format, any_base, results),
        raised(format, near_one, results),
        raised(format, interval(0.5, 2), results),
        raised(format, sizes(2.0**-10, 2.0**10), interval(high - 0.1, high + 0.01)),
        raised(format, any_base, interval(low, format.least + 1.0)),
        raised(format, near_one, interval(-2, 2)),
        both(interval(0, 10), interval(-10, 10)),
        both(interval(-10, 0), whole(-40, 40)),
        both(whole(-99, 99), whole(-9, 9)),
        both(interval(0, 100), lambda rng, count: rng.choice([0.5, -0.5, 1.5, 2.0, 3.0, -1.0, 1 / 3], count)),
    ]


def angles(format: Format) -> list[PairSource]:
    """Draw points all around the origin, at all slopes, near the axes and the diagonals."""
    anywhere = patterns(format)
    return [
        both(anywhere),
        both(interval(-3, 3)),
        times(anywhere, sizes(2.0**-70, 2.0**70)),
        times(interval(-3, 3), sizes(2.0**-10, 2.0**10)),
        times(anywhere, near(1.0, format)),
        times(sizes(format.smallest, 2.0 ** (format.least + 3)), interval(-3, 3)),
        both(whole(-9, 9)),
    ]


def sides(format: Format) -> list[PairSource]:
    """Draw sides of any size, of similar size, near overflow, subnormal, and integers with exact results."""
    anywhere = patterns(format)
    return [
        both(anywhere),
        both(interval(-3, 3)),
        times(anywhere, sizes(2.0**-30, 2.0**30)),
        times(anywhere, sizes(0.25, 4)),
        times(interval(format.largest / 2, format.largest), interval(0, 1)),
        times(sizes(format.smallest, 2.0 ** (format.least + 3)), interval(-3, 3)),
        both(whole(-999, 999)),
    ]


def logarithms(format: Format) -> list[PairSource]:
    """Draw logarithms near each other, far apart, and with sums near 1, where the result cancels."""

    def probabilities(rng: Random, count: int) -> tuple[Array, Array]:
        p = rng.uniform(0, 1, count)
        return np.log(p), np.log1p(-p)

    return [
        both(interval(-30, 30)),
        both(interval(-3, 3)),
        plus(sizes(2.0**-20, 2.0**20), sizes(2.0**-20, 2.0**6)),
        both(patterns(format)),
        probabilities,
    ]


def block(format: Format, sources: Sequence[PairSource], rng: Random, count: int) -> tuple[Array, Array]:
    """Draw two arrays of `count` numbers, an equal share from every source."""
    share = -(-count // len(sources))
    with np.errstate(all="ignore"):
        made = [source(rng, share) for source in sources]
        first, second = (np.concatenate([p[i].astype(format.dtype) for p in made])[:count] for i in (0, 1))
    return first, second

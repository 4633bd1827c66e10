"""Draw random arguments of a format.

A source is a function `(rng, count) -> Array` of float64 or of the format's dtype. Sources fill a block in equal
shares. Together they cover all numbers, the range in which a function varies, and the points where it is hard to
compute.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np

from .formats import Format

Array = np.ndarray[Any, Any]
Random = np.random.Generator
Source = Callable[[Random, int], Array]


def patterns(format: Format) -> Source:
    """Draw any bits at all, so that every exponent is equally likely."""

    def source(rng: Random, count: int) -> Array:
        return rng.integers(0, format.count - 1, count, format.pattern, endpoint=True).view(format.dtype)

    return source


def interval(low: float, high: float) -> Source:
    return lambda rng, count: rng.uniform(low, high, count)


def sizes(smallest: float, largest: float) -> Source:
    """Draw numbers of both signs; every power of two between the bounds is equally likely."""
    low, high = np.log2(smallest), np.log2(largest)
    return lambda rng, count: np.exp2(rng.uniform(low, high, count)) * rng.choice([-1.0, 1.0], count)


def near(centre: float, format: Format, farthest: float = 0.5) -> Source:
    """Draw numbers on both sides of a centre, at all distances down to the last bit."""
    apart = sizes(abs(centre or 1.0) * 2.0 ** (-format.bits - 1), farthest)
    return lambda rng, count: centre + apart(rng, count)


def block(format: Format, sources: Sequence[Source], rng: Random, count: int) -> Array:
    """Draw `count` points, an equal share from every source."""
    share = -(-count // len(sources))
    with np.errstate(all="ignore"):
        parts = [np.asarray(source(rng, share)).astype(format.dtype) for source in sources]
    return np.concatenate(parts)[:count]


def steps(format: Format, centres: Array | Sequence[float], reach: int) -> Array:
    """Return each centre and its neighbours, `reach` numbers to each side, with both signs."""
    rounded = np.asarray(centres, np.float64).astype(format.dtype)
    bits = np.abs(rounded).view(format.pattern).astype(np.int64)[:, None] + np.arange(-reach, reach + 1)
    sizes_ = bits.clip(0, np.iinfo(format.pattern).max >> 1).astype(format.pattern).view(format.dtype).ravel()
    return np.concatenate([sizes_, -sizes_])


def binades(format: Format) -> list[float]:
    """Return every power of two of the format."""
    return [float(np.ldexp(1.0, k)) for k in range(format.least - format.bits + 1, format.most + 1)]


def quarter_turns(format: Format, count: int, seed: int = 0) -> Array:
    """Return numbers near multiples of pi/2: small multiples, and multiples of any size."""
    rng = np.random.default_rng(seed)
    multiples = [*range(1, count), *(int(2.0**e) for e in rng.uniform(1, format.most, count))]
    with mpmath.workprec(format.most + 2 * format.bits):
        return np.array([float(k * mpmath.pi / 2) for k in multiples])


@functools.cache
def nearest_to_quarter_turns(format: Format) -> Array:
    """Return the numbers that come closest to a multiple of pi/2, for each exponent.

    `m * 2**e` is close to `n * pi/2` where `n / m` is a convergent of the continued fraction of `2**e / (pi/2)`; the
    bits of such a number cancel, and a range reduction with too few digits of pi fails there first.
    """
    precision = format.most + 4 * format.bits
    with mpmath.workprec(precision):
        scaled = int(mpmath.floor(mpmath.ldexp(mpmath.pi / 2, precision)))
    found = []
    for exponent in range(1 - format.bits, format.most - format.bits + 2):
        numerator, denominator = 1 << (precision + exponent), scaled
        before, now = 1, 0
        while denominator:
            whole = numerator // denominator
            numerator, denominator = denominator, numerator - whole * denominator
            before, now = now, whole * now + before
            if now >> format.bits:
                break
            multiples = [times * now for times in (1, 2, 3)]
            found += [np.ldexp(float(m), exponent) for m in multiples if not m >> format.bits]
    return np.array(found)

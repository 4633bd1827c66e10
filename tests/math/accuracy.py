"""Check an emitter function at given points: error in ULP, NumPy's special values, equal bits.

Points and errors are those of `make accuracy`, with mpmath for the true values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from weft.backends.llvm.code.text import Val

from benchmarks.accuracy import exact, points
from benchmarks.accuracy.formats import F32, F64

from .harness import DTYPES, WIDTHS, Array, available, build

FORMATS = {"float": F32, "double": F64}


def spread(elem: str, smallest: float, largest: float, count: int, seed: int = 0) -> Array:
    """Magnitudes of every size from `smallest` to `largest`, of both signs."""
    return points.sizes(smallest, largest)(np.random.default_rng(seed), count).astype(DTYPES[elem])


def uniform(elem: str, low: float, high: float, count: int, seed: int = 0) -> Array:
    return points.interval(low, high)(np.random.default_rng(seed), count).astype(DTYPES[elem])


def around(elem: str, centres: list[float], steps: int = 20) -> Array:
    """The numbers next to each centre, a few steps to each side."""
    dtype = DTYPES[elem]
    found = []
    for centre in centres:
        up = down = dtype(centre)
        found.append(up)
        for _ in range(steps):
            up, down = np.nextafter(up, dtype(np.inf)), np.nextafter(down, dtype(-np.inf))
            found += [up, down]
    return np.array(found, dtype)


def specials(elem: str) -> Array:
    """Zeros, infinities, NaN, the smallest numbers and the largest, of both signs."""
    limits = np.finfo(DTYPES[elem])
    sizes = [0.0, limits.smallest_subnormal, limits.smallest_normal, 1.0, limits.max, np.inf, np.nan]
    return np.array([sign * size for size in sizes for sign in (1, -1)], DTYPES[elem])


def worst_error(
    emit: Callable[..., Val], true: Callable[..., Any], elem: str, *inputs: Array, lanes: int = 8
) -> tuple[float, tuple[float, ...]]:
    """The largest error in ULP of the true value, and where it is."""
    got = build(emit, elem, lanes, arity=len(inputs))(*inputs)
    errors = np.nan_to_num(exact.errors(true, FORMATS[elem], inputs, got), posinf=np.inf)
    worst = int(errors.argmax())
    return float(errors[worst]), tuple(float(x[worst]) for x in inputs)


def check_accuracy(emit: Callable[..., Val], true: Callable[..., Any], elem: str, *inputs: Array, bound: float) -> None:
    error, place = worst_error(emit, true, elem, *inputs)
    assert error <= bound, f"{error:.3f} ULP at {place}"


def check_same_as_numpy(emit: Callable[..., Val], function: Callable[..., Array], elem: str, *inputs: Array) -> None:
    """Check equal values, signs of zeros and NaN, at points where the result is exact."""
    got = build(emit, elem, 4, arity=len(inputs))(*inputs)
    with np.errstate(all="ignore"):
        expected = function(*inputs)
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))


def check_same_bits(emit: Callable[..., Val], elem: str, *inputs: Array) -> None:
    """Check that every vector width and instruction set gives the same bits; the payload of a NaN is free."""
    expected = build(emit, elem, 0, "avx2", arity=len(inputs))(*inputs)
    for features in available():
        for lanes in WIDTHS[features]:
            got = build(emit, elem, lanes, features, arity=len(inputs))(*inputs)
            same = (got.view(f"i{got.itemsize}") == expected.view(f"i{got.itemsize}")) | np.isnan(got) & np.isnan(
                expected
            )
            assert same.all(), f"{features} with {lanes} lanes differs at {[x[~same][:4] for x in inputs]}"

"""Check a complex function at given points: error, NumPy's special values, equal bits.

The error is normwise: the distance from the true value, which mpmath computes to sixty digits, in ULP of its magnitude.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from weft.backends.llvm.code.text import Val

from .accuracy import spread, uniform
from .harness import DTYPES, Array, available, build

COMPLEX_DTYPES = {"float": np.complex64, "double": np.complex128}
CLOSE = {"float": 1e-5, "double": 1e-13}

Emit = Callable[..., tuple[Val, ...]]


def compute(emit: Emit, elem: str, *parts: Array, results: int = 2, lanes: int = 8, features: str = "") -> list[Array]:
    return build(emit, elem, lanes, features or available()[-1], arity=len(parts)).parts(results, *parts)


def whole(re: Array, im: Array) -> Array:
    """Make complex numbers with these parts; arithmetic would turn infinities into NaN."""
    made = np.empty(re.shape, np.result_type(re.dtype, np.complex64))
    made.real, made.imag = re, im
    return made


def plane(elem: str, count: int = 40) -> tuple[Array, Array]:
    """Draw points of moderate, small and any size, near the unit circle, near 1 and i, near multiples of a quarter turn
    on both axes, and where exponentials are large or overflow."""
    limits = np.finfo(DTYPES[elem])
    angle = uniform("double", -np.pi, np.pi, count)
    radius = 1 + spread("double", limits.eps / 4, 0.5, count, seed=1)
    turns = np.pi / 2 * np.random.default_rng(2).integers(-6, 7, count) + spread("double", limits.eps, 0.1, count)
    near, small = spread("double", limits.eps / 4, 0.5, count, seed=3), spread("double", limits.eps, 0.5, count, seed=4)
    pairs = [
        (uniform(elem, -4, 4, count), uniform(elem, -4, 4, count, seed=5)),
        (spread(elem, 1e-6, 30, count), spread(elem, 1e-6, 30, count, seed=6)),
        (spread(elem, limits.tiny, 1, count), spread(elem, limits.tiny, 1, count, seed=7)),
        (spread(elem, limits.tiny, limits.max / 2, count), spread(elem, limits.tiny, limits.max / 2, count, seed=8)),
        (radius * np.cos(angle), radius * np.sin(angle)),
        (1 + near, small),
        (small, 1 + near),
        (near, turns),
        (turns, near),
    ]
    across, edge = uniform(elem, -4, 4, count, seed=9), float(np.log(limits.max))
    for low, high in ((0.0, 25.0), (0.0, 1.05 * edge), (0.995 * edge, 1.001 * edge)):
        far = uniform(elem, low, high, count, seed=10) * np.sign(uniform(elem, -1, 1, count, seed=11))
        pairs += [(far, across), (across, far)]
    re, im = (np.concatenate(side).astype(DTYPES[elem]) for side in zip(*pairs, strict=True))
    return re, im


def worst_error(emit: Emit, true: Callable[..., Any], elem: str, *parts: Array, results: int) -> tuple[float, Any]:
    """The largest error in ULP, and where it is; points whose true value is not finite are left out."""
    got = compute(emit, elem, *parts, results=results)
    columns = [side.tolist() for side in (*got, *parts)]
    worst, place = 0.0, None
    limits = np.finfo(DTYPES[elem])
    with mpmath.workdps(60):
        for row in zip(*columns, strict=True):
            value, point = row[:results], row[results:]
            exact = true(*(mpmath.mpc(*point[k : k + 2]) for k in range(0, len(point), 2)))
            size = abs(exact)
            if not mpmath.isfinite(size) or size == 0 or size > float(limits.max):
                continue
            last_place = max(mpmath.frexp(size)[1] - 1, int(limits.minexp)) - int(limits.nmant)
            error = abs(mpmath.mpc(*value) - exact) * mpmath.ldexp(1, -last_place)
            if not error <= worst:
                worst, place = float(error), point
    return worst, place


def check_normwise(
    emit: Emit, true: Callable[..., Any], elem: str, *parts: Array, bound: float, results: int = 2
) -> None:
    error, place = worst_error(emit, true, elem, *parts, results=results)
    assert error <= bound, f"{error:.3f} ULP at {place}"


def check_same_bits(emit: Emit, elem: str, *parts: Array, results: int = 2) -> None:
    """Scalar code for AVX2 gives the bits of the widest vectors; the payload of a NaN is free."""
    wide = compute(emit, elem, *parts, results=results)
    narrow = compute(emit, elem, *parts, results=results, lanes=0, features="avx2")
    for a, b in zip(wide, narrow, strict=True):
        same = (a.view(f"i{a.itemsize}") == b.view(f"i{b.itemsize}")) | np.isnan(a) & np.isnan(b)
        assert same.all(), f"differs at {[x[~same][:4] for x in parts]}"


def grid(elem: str, values: list[float], sides: int) -> list[Array]:
    """Every combination of the values, for each of the sides."""
    points = np.array(list(itertools.product(values, repeat=sides)), DTYPES[elem])
    return [points[:, k].copy() for k in range(sides)]


def unlike_numpy(got: list[Array], expected: Array) -> Array:
    """Find points where a part is infinite or NaN in only one result, has another sign, or is not close."""
    sides = [expected.real, expected.imag] if np.iscomplexobj(expected) else [expected]
    unlike = np.zeros(expected.shape, bool)
    for a, b in zip(got, sides, strict=True):
        step = np.finfo(b.dtype).smallest_subnormal
        close = (a == b) | (np.abs(a - b) <= CLOSE["float" if b.itemsize == 4 else "double"] * np.abs(b) + step)
        unlike |= ~(close & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b))
    return unlike

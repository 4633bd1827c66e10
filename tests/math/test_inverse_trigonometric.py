from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.arcsine import acos, asin
from weft.backends.llvm.math.arctangent import atan, atan2
from weft.backends.llvm.math.arctangent_nodes import NODES

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

RATIOS = [(asin, mpmath.asin, np.arcsin), (acos, mpmath.acos, np.arccos)]
LARGEST = {"float": 3e38, "double": 1e308}


# Where the rare branch begins.
EDGES = {elem: (2.0**bounds.least, 2.0**bounds.most) for elem, bounds in NODES.items()}
# Where one node gives way to the next: four times in an octave for `float`, twice for `double`.
NODE_CHANGES = [2.0**octave * quarter / 4 for octave in range(-4, 5) for quarter in (4, 5, 6, 7)]


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "numpy"), RATIOS)
def test_ratios_up_to_one(
    emit: Callable[..., Val], true: Callable[..., Any], numpy: Callable[..., Array], elem: str
) -> None:
    ends = around(elem, [1.0, -1.0])
    points = np.concatenate(
        [uniform(elem, -1, 1, 3000), spread(elem, 1e-30, 1, 500), around(elem, [0.5, -0.5]), ends[np.abs(ends) <= 1]]
    )
    check_accuracy(emit, true, elem, points, bound=0.75)
    check_same_bits(emit, elem, np.concatenate([points, specials(elem)]))
    check_same_as_numpy(emit, numpy, elem, np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan], DTYPES[elem]))


@pytest.mark.parametrize("elem", DTYPES)
def test_atan(elem: str) -> None:
    points = np.concatenate(
        [
            uniform(elem, -3, 3, 3000),
            spread(elem, 1e-37, LARGEST[elem], 500),
            around(elem, [*NODE_CHANGES, np.finfo(DTYPES[elem]).tiny]),
        ]
    )
    check_accuracy(atan, mpmath.atan, elem, points, bound=0.85)
    check_same_bits(atan, elem, np.concatenate([points, specials(elem)]))
    check_same_as_numpy(atan, np.arctan, elem, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], DTYPES[elem]))


def plane(elem: str) -> list[Array]:
    """Points all around the origin: near it, far from it, near the axes, the diagonals and `EDGES`."""
    count = 1500
    near = [uniform(elem, -2, 2, count, seed) for seed in (1, 2)]
    sizes = spread(elem, 1e-37, LARGEST[elem], count)
    slopes = spread(elem, 1e-3, 1e3, count, 3)
    far = [spread(elem, 1e-44, LARGEST[elem], count, seed) for seed in (4, 5)]
    edges = around(elem, [*EDGES[elem], np.finfo(DTYPES[elem]).tiny])
    with np.errstate(all="ignore"):
        ys = [near[0], sizes * slopes, far[0], sizes, edges, edges]
    xs = [near[1], sizes, far[1], np.nextafter(sizes, 0, dtype=sizes.dtype), edges[::-1], np.ones_like(edges)]
    y, x = np.concatenate(ys), np.concatenate(xs)
    fine = np.isfinite(y)
    return [y[fine], x[fine]]


@pytest.mark.parametrize("elem", DTYPES)
def test_atan2(elem: str) -> None:
    points = plane(elem)
    check_accuracy(atan2, mpmath.atan2, elem, *points, bound=0.9)
    pairs = list(itertools.product(specials(elem), repeat=2))
    every = [np.array(side, DTYPES[elem]) for side in zip(*pairs, strict=True)]
    check_same_bits(atan2, elem, *(np.concatenate([a, b]) for a, b in zip(points, every, strict=True)))
    exact = [(y, x) for y, x in pairs if y in (0, np.inf, -np.inf) or x in (np.inf, -np.inf) or np.isnan([x, y]).any()]
    check_same_as_numpy(atan2, np.arctan2, elem, *(np.array(side, DTYPES[elem]) for side in zip(*exact, strict=True)))

"""Test reductions over every set of axes, of arrays in every layout, empty ones, and the accuracy of long sums."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS, random, specials, whole
from .comparing import NATIVE, agrees, same

SHAPES = ((37,), (5, 33), (4, 3, 18), (3, 2, 4, 17))


def subsets(rank: int) -> list[tuple[int, ...]]:
    return [s for k in range(rank + 1) for s in itertools.combinations(range(rank), k)]


@pytest.mark.parametrize(("shape", "keepdims"), [*((shape, False) for shape in SHAPES), ((4, 3, 18), True)], ids=str)
def test_every_set_of_axes(shape: tuple[int, ...], keepdims: bool) -> None:
    """Sums and products of small whole numbers are exact in any order."""

    def everything(x: Any) -> Any:
        found = []
        for axes in [None, -1, *subsets(len(shape))]:
            found += [
                x.sum(axis=axes, keepdims=keepdims),
                x.max(axis=axes, keepdims=keepdims),
                (x > 1).any(axis=axes, keepdims=keepdims),
                (x + 1).min(axis=axes, keepdims=keepdims),
            ]
        return tuple(found)

    x = whole("float64", shape, 1)
    jitted = weft.jit(everything)
    few = ("C", "F") if keepdims or len(shape) > 3 else ("C", "F", "axes turned")
    for layout in few if len(shape) > 2 else ("C", "F", "strided", "repeated rows", "axes turned"):
        if len(shape) > 1 or layout not in ("F", "axes turned"):
            agrees(everything, LAYOUTS[layout](x), jitted=jitted)


@pytest.mark.parametrize("dtype", NATIVE)
def test_dtypes(dtype: str) -> None:
    def everything(x: Any) -> Any:
        functions = (np.sum, np.prod, np.min, np.max, np.any, np.all)
        found = [f(x, axis=axis) for axis in (None, 0, 1) for f in functions]
        return (*found, np.mean(x), np.sum(x, dtype=np.float64), np.sum(x, axis=0, keepdims=True))

    jitted = weft.jit(everything)
    for shape in ((1, 1), (2, 3), (16, 17), (65, 33)):
        x = random(dtype, shape, 2) if dtype[0] != "f" else np.sign(random(dtype, shape, 2)) * 2
        agrees(everything, x, jitted=jitted)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_special_numbers(dtype: str) -> None:
    def ordered(x: Any) -> Any:
        return x.min(), x.max(), x.min(axis=0), x.max(axis=1), x.any(axis=0), x.all(axis=1)

    jitted = weft.jit(ordered)
    few = specials(dtype)
    for size in (1, 15, 16, 17, 65, 130):
        for start in (0, 5, len(few) - 1):
            x = np.resize(np.roll(few, start), (3, size))
            same(jitted(x), ordered(x), zero_signs=False)
            same(jitted(x[:, :1]), ordered(x[:, :1]), zero_signs=False)


def test_integers_wrap_around() -> None:
    def everything(x: Any) -> Any:
        return x.sum(), x.prod(), x.sum(axis=0), x.prod(axis=1), x.mean(axis=1)

    agrees(everything, np.full((3, 70), np.iinfo(np.int64).max - 5))
    agrees(everything, np.full((3, 70), np.iinfo(np.int32).min, np.int32))


def test_zeros_keep_no_sign_in_sums() -> None:
    def sums(x: Any) -> Any:
        return x.sum(), x.sum(axis=0), x.sum(axis=1), x.sum(axis=()), x.prod(axis=()), x.mean(axis=0), x.sum(axis=2)

    for shape in ((1, 1, 1), (1, 5, 1), (3, 1, 40), (2, 70, 1)):
        agrees(sums, np.full(shape, -0.0))
        agrees(sums, np.full(shape, -0.0, np.float32))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3), (0, 0)], ids=str)
def test_of_nothing(shape: tuple[int, ...]) -> None:
    def sums(x: Any) -> Any:
        return tuple(
            f(x, axis=a, keepdims=True) for a in (None, *range(x.ndim)) for f in (np.sum, np.prod, np.any, np.all)
        )

    for dtype in NATIVE if shape == (0, 3) else ("float64",):  # shapes and dtypes do not know of one another
        agrees(sums, np.zeros(shape, dtype))
    for axis, name in itertools.product((None, *range(len(shape))), ("min", "max")):
        jitted = weft.jit(lambda x, axis=axis, name=name: getattr(np, name)(x * 1, axis=axis), static=("axis", "name"))
        x = np.zeros(shape)
        try:
            expected = getattr(np, name)(x, axis=axis)
        except ValueError as error:
            with pytest.raises(ValueError, match="no identity"):
                jitted(x)
            assert "no identity" in str(error)
        else:
            same(jitted(x), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_long_sums_are_as_accurate_as_numpys(axis: int, dtype: str) -> None:
    """NumPy adds in pairs only along memory; Weft does on every axis, so it is as accurate as NumPy's best case."""
    rng = np.random.default_rng(0)
    x = np.stack([rng.random(10**6), rng.normal(size=10**6), rng.random(10**6) * 10.0 ** rng.integers(-6, 6, 10**6)])
    x = x.astype(dtype)
    exact = np.array([math.fsum(row.astype(float)) for row in x])
    scale = np.array([math.fsum(np.abs(row).astype(float)) for row in x])
    best = x.sum(axis=1)
    jitted = weft.jit(lambda x, axis: (x.sum(axis=axis), x.mean(axis=axis) * x.shape[axis]), static=("axis",))
    memory = x if axis == 1 else np.ascontiguousarray(x.T)
    for found in jitted(memory, axis=axis):
        error = np.abs(found.astype(float) - exact) / scale
        assert (error <= np.maximum(np.abs(best.astype(float) - exact) / scale, 4 * np.finfo(dtype).eps)).all(), error


def test_means_and_variances() -> None:
    """Errors are no larger than NumPy's."""
    x = (random("float64", (7, 1000), 3) + 100).astype(np.float32)

    def moments(x: Any) -> Any:
        return tuple(f(x, axis=a) for a in (0, 1, None) for f in (np.mean, np.var, np.std))

    exact = moments(x.astype(np.longdouble))
    for found, numpys, true in zip(weft.jit(moments)(x), moments(x), exact, strict=True):
        assert found.dtype == numpys.dtype and np.shape(found) == np.shape(numpys)
        ours, theirs = (np.abs(np.asarray(y, float) - true) / np.abs(true) for y in (found, numpys))
        assert np.max(ours) <= max(float(np.max(theirs)), 4 * np.finfo(np.float32).eps)
    agrees(lambda x: (np.var(x, ddof=1), np.mean(x, axis=(), keepdims=True)), np.arange(8.0))


def test_many_short_rows_and_few_long_ones() -> None:
    def sums(x: Any) -> Any:
        return x.sum(axis=(0, 2)), x.sum(axis=1), x.max(axis=(0, 1)), (x * 2).sum(axis=(1, 2))

    jitted = weft.jit(sums)
    for shape in ((300, 2, 3), (2, 300, 3), (2, 3, 3000), (1, 1, 70), (70, 1, 1), (2, 2000, 2)):
        agrees(sums, whole("float32", shape, 4), jitted=jitted)

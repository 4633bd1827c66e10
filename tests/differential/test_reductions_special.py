"""Test reductions of NaN, infinities, zeros of both signs, the limits of each dtype, and empty arrays."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import specials
from .comparing import same

Array = np.ndarray[Any, Any]
ORDERED = (np.min, np.max, np.nanmin, np.nanmax, np.argmin, np.argmax, np.any, np.all, np.count_nonzero)
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor, np.fmin, np.fmax)


def quietly(function: Callable[[Any], Any], x: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(x)


def ordered(x: Any) -> Any:
    return tuple(f(x, axis=axis) for f, axis in itertools.product(ORDERED, (None, 0, 1)))


def bits(x: Any) -> Any:
    whole = (u.reduce(x, axis=axis) for u, axis in itertools.product(BITS, (0, 1, None)))
    return (*whole, *(u.accumulate(x, axis=1) for u in BITS), x.sum(), x.prod(), x.cumsum(axis=0), np.ptp(x, axis=1))


def mixed(few: Array, shape: tuple[int, int], seed: int, nan: bool) -> Array:
    """Make numbers with random special ones, NaN only if asked for."""
    if not nan and few.dtype.kind in "fc":
        few = few[~np.isnan(few)]
    return np.random.default_rng(seed).choice(few, shape)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "uint8", "int16", "bool"])
def test_order(dtype: str) -> None:
    """Among several NaN or equal numbers, the first counts."""
    jitted = weft.jit(ordered)
    for seed, shape in enumerate(((3, 5), (4, 33), (17, 2), (2, 130))):
        x = mixed(specials(dtype), shape, seed, nan=seed % 2 == 0)
        same(jitted(x), quietly(ordered, x), zero_signs=False)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_bits(dtype: str) -> None:
    jitted = weft.jit(bits)
    for seed, shape in enumerate(((3, 5), (4, 70), (40, 3))):
        x = mixed(specials(dtype), shape, seed, nan=False)
        same(jitted(x), quietly(bits, x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_nan_is_left_out(dtype: str) -> None:
    def without(x: Any) -> Any:
        functions = (np.nansum, np.nanprod, np.nanmin, np.nanmax, np.nanmean, np.nanvar, np.nanstd)
        found = [f(x, axis=axis) for f, axis in itertools.product(functions, (None, 0, 1))]
        return (*found, np.nancumsum(x), np.nancumprod(x, axis=1), np.nanvar(x, axis=0, ddof=1))

    jitted, rng = weft.jit(without), np.random.default_rng(2)
    for share in (0, 0.3, 0.8, 1.0):
        x = np.where(rng.random((5, 8)) < share, np.nan, rng.integers(-2, 3, (5, 8))).astype(dtype)
        for found, expected in zip(jitted(x), quietly(without, x), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_infinities(dtype: str) -> None:
    """Infinities meet in sums, means and norms; finite results are exact."""

    def totals(x: Any) -> Any:
        spread = (f(x, axis=1) for f in (np.sum, np.mean, np.var, np.std, np.nansum, np.nanmean, np.nanvar))
        return (*spread, np.linalg.norm(x, axis=1), np.linalg.norm(x, 1, axis=1), np.average(x, axis=0))

    few = np.array([1, 2, -1, 0, np.inf, -np.inf, np.nan], dtype)
    x = np.stack([few[list(chosen)] for chosen in itertools.product(range(7), repeat=2)] + [few[:2], few[:2]])
    for found, expected in zip(weft.jit(totals)(x), quietly(totals, x), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_zeros_and_starts() -> None:
    """A sum starts from 0.0 unless `initial` says otherwise; an initial -0.0 stays."""

    def starts(x: Any) -> Any:
        return (
            x.sum(), x.sum(axis=0, initial=-0.0), x.sum(initial=-1.0), x.prod(initial=-1.0), x.max(initial=-5.0),
            x.sum(axis=(), initial=0.0), x.sum(axis=1, where=x > 0), np.sum(x, initial=None), np.nansum(x, axis=0),
            np.add.reduce(x, initial=-0.0), np.multiply.reduce(x, axis=1, initial=-2),
        )  # fmt: skip

    def given(x: Any, start: Any) -> Any:
        options = ({}, {"axis": 0}, {"axis": ()}, {"where": x > 0}, {"axis": 1, "keepdims": True})
        return [x.sum(initial=start, **option) for option in options]

    jitted = weft.jit(given)
    for x in (np.full((3, 2), -0.0), np.zeros((3, 2)), np.array([[-0.0, 1.0], [2.0, -1.0]])):
        same(weft.jit(starts)(x), starts(x))
        for start in (-0.0, 0.0, -1.5, np.nan, -0.0j):
            y, first = (x.astype(complex), start) if isinstance(start, complex) else (x, start)
            same(jitted(y, first), given(y, first))
            same(jitted(y[:0], first), given(y[:0], first))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)], ids=str)
def test_of_nothing(shape: tuple[int, ...]) -> None:
    def everything(x: Any) -> Any:
        found = []
        for axis in (None, *range(len(shape))):
            found += [f(x, axis=axis) for f in (np.mean, np.var, np.std, np.nansum, np.nanmean, np.nanvar)]
            found += [x.max(axis=axis, initial=3), np.nanmin(x, axis=axis, initial=-1, keepdims=True)]
            found += [np.sum(x, axis=axis, initial=5), np.any(x, axis=axis, where=False), np.cumsum(x, axis=axis)]
            found += [np.count_nonzero(x, axis=axis), np.linalg.vector_norm(x, axis=axis, ord=np.inf)]
        return (*found, np.bitwise_and.reduce(x > 1), np.add.accumulate(x), np.logical_xor.reduce(x), np.linalg.norm(x))

    jitted = weft.jit(everything)
    for dtype in ("float64", "int16"):
        x = np.zeros(shape, dtype)
        same(jitted(x), quietly(everything, x))
    full = np.ones([n or 2 for n in shape])  # the same function serves arrays that have something
    same(jitted(full), everything(full), ulps=2)


def test_numbers() -> None:
    """Test arrays without dimensions and Python numbers."""

    def everything(x: Any) -> Any:
        return (
            np.sum(x), np.sum(x, axis=0), np.max(x, axis=-1), np.mean(x), np.var(x), np.any(x), np.argmax(x),
            np.argmin(x, axis=0), np.argmax(x, keepdims=True), np.cumsum(x), np.cumprod(x, axis=0), np.linalg.norm(x),
            np.count_nonzero(x), np.count_nonzero(x, axis=0), np.nanmax(x, axis=0), np.nanmean(x), np.ptp(x),
            np.sum(x, keepdims=True), np.sum(x, initial=2), np.average(x), np.cumulative_sum(x, include_initial=True),
            np.linalg.vector_norm(x), np.add.reduce(x), np.nanargmin(x), np.nanvar(x), np.add.outer(x, x),
        )  # fmt: skip

    for x in (np.array(3.0), np.array(-2, np.int8), np.float32(1.5), np.array(1 - 2j)):
        same(weft.jit(everything)(x), everything(x))
    same(weft.jit(lambda x: (np.nanmean(x, axis=0), np.nanvar(x, axis=-1)))(2.5), (np.float64(2.5), np.float64(0)))
    found = weft.jit(lambda x: (np.sum(x), np.max(x), np.mean(x), np.cumsum(x)))(3)
    same(found, (np.int64(3), np.int64(3), np.float64(3), np.array([3])))

"""Test the accuracy of sums, means, variances and norms: on every axis, and on difficult data.

The truth is `math.fsum`. The tree's bound counts the roundings on the longest path from an element to the sum: the
steps of a block, then halvings, of blocks or lanes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import weft
from weft.passes.lower_reductions import STEPS

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)
N = 50_000


def depth(n: int) -> int:
    """Return the number of roundings between an element and the sum of n, for any number of lanes."""
    return STEPS + math.ceil(math.log2(max(1, n / STEPS))) + 2


def unit(dtype: str) -> float:
    return float(np.finfo(dtype).eps) / 2


DATA: dict[str, Callable[[int], Array]] = {
    "uniform": lambda n: RNG.random(n),
    "normal": lambda n: RNG.normal(size=n),
    "magnitudes": lambda n: RNG.random(n) * 10.0 ** RNG.integers(-6, 7, n),
    "tenths": lambda n: np.full(n, 0.1),
    "cancelling": lambda n: np.tile([1e7, 1.0, -1e7, 1e-3], n // 4),
    "cancelling halves": lambda n: np.concatenate([RNG.normal(size=n // 2) * 1e6, np.zeros(n - n // 2)]),
    "growing": lambda n: np.sort(np.abs(RNG.normal(size=n)) ** 5),
    "falling": lambda n: np.sort(np.abs(RNG.normal(size=n)) ** 5)[::-1],
    "one large": lambda n: np.concatenate([[1e7], np.full(n - 1, 1e-2)]),
    "signs": lambda n: np.where(np.arange(n) % 2, -1.0, 1.0) * (1 + 1e-3 * RNG.random(n)),
}  # fmt: skip


def rows(dtype: str) -> Array:
    found = []
    for name, make in DATA.items():
        row = make(N).astype(dtype)
        if name == "cancelling halves":
            row[N // 2 :] = -row[: N // 2][::-1]
        found.append(row)
    return np.stack(found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_are_within_the_bound_of_the_tree(dtype: str) -> None:
    x = rows(dtype)
    exact = np.array([math.fsum(map(float, row)) for row in x])
    scale = np.array([math.fsum(np.abs(row.astype(float))) for row in x])
    bound = depth(N) * unit(dtype) * scale
    sums = weft.jit(lambda x, axis: (x.sum(axis), x.mean(axis), np.nansum(x, axis), x.sum(axis, where=x == x)),
                    static=("axis",))  # fmt: skip
    for axis, memory in ((1, x), (0, np.ascontiguousarray(x.T)), (0, x.T), (1, np.asfortranarray(x))):
        total, mean, without_nan, masked = sums(memory, axis=axis)
        for found in (total, without_nan, masked):
            assert (np.abs(found.astype(float) - exact) <= bound).all(), (axis, np.abs(found - exact) / scale)
        assert (np.abs(mean.astype(float) - exact / N) <= bound / N + unit(dtype) * np.abs(exact / N)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_axis_0_is_as_accurate_as_axis_1(dtype: str) -> None:
    """Compare many sums of random data; NumPy's own sums along axis 0 are far less accurate."""
    x = RNG.random((64, 20_000)).astype(dtype)
    exact = np.array([math.fsum(map(float, row)) for row in x])

    def error(found: Any) -> float:
        return float(np.sqrt(np.mean(((found.astype(float) - exact) / exact) ** 2)))

    columns = np.ascontiguousarray(x.T)
    sums = weft.jit(lambda x, axis: x.sum(axis), static=("axis",))
    along, across, pairwise = error(sums(x, axis=1)), error(sums(columns, axis=0)), error(x.sum(axis=1))
    assert along <= max(pairwise, unit(dtype)) and across <= max(pairwise, unit(dtype)), (along, across, pairwise)
    assert error(columns.sum(axis=0)) > 4 * across


@pytest.mark.parametrize(("dtype", "means"), [("float32", (0, 10, 1e3, 1e5, 1e6)), ("float64", (0, 1e6, 1e10, 1e14))])
def test_variances_do_not_cancel(dtype: str, means: tuple[float, ...]) -> None:
    n = 4000
    x = np.stack([(RNG.normal(size=n) + mean).astype(dtype) for mean in means])
    exact = [_variance(row) for row in x]
    spread = weft.jit(lambda x, axis: (x.var(axis), x.std(axis), np.nanvar(x, axis)), static=("axis",))
    for axis, memory in ((1, x), (0, np.ascontiguousarray(x.T))):
        var, std, without_nan = spread(memory, axis=axis)
        for k, true in enumerate(exact):
            off = depth(n) * unit(dtype) * abs(means[k])  # how far the centre may lie from the mean
            bound = (2 * depth(n) + 8) * unit(dtype) * (1 + off + off**2)
            for found in (var[k], without_nan[k], std[k] ** 2):
                assert abs(Fraction(float(found)) - true) <= bound * true, (means[k], float(found), float(true))


def test_variances_of_two_neighbours() -> None:
    """The mean of two neighbours lies between them, so a plain second pass would be off by as much as its result."""
    x = np.where(np.arange(1001) % 3 == 0, np.float32(1e6), np.nextafter(np.float32(1e6), np.float32(2e6)))
    true = float(_variance(x))
    assert abs(float(weft.jit(np.var)(x)) - true) <= 1e-6 * true < abs(float(np.var(x)) - true)
    assert weft.jit(np.var)(np.full(1001, 0.1, np.float32)) <= 1e-16
    assert weft.jit(np.std)(np.full(7, 0.1)) <= 1e-17


@pytest.mark.filterwarnings("ignore:Degrees of freedom")
def test_variances_of_large_numbers() -> None:
    """Overflow is as in NumPy."""
    x = np.array([[1e30, -1e30, 0], [3e38, 3e38, 3e38], [np.inf, 1, 2], [np.nan, 1, 2], [-0.0, 0.0, 0.0]], np.float32)
    with np.errstate(all="ignore"):
        expected = x.var(axis=1), x.std(axis=1), x.var(axis=1, ddof=3), x.T.var(axis=0, ddof=1)
    found = weft.jit(lambda x: (x.var(axis=1), x.std(axis=1), x.var(axis=1, ddof=3), x.T.var(axis=0, ddof=1)))(x)
    for ours, numpys in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, numpys)


def _variance(row: Array) -> Fraction:
    numbers = [Fraction(float(v)) for v in row]
    mean = sum(numbers) / len(numbers)
    return sum((v - mean) ** 2 for v in numbers) / len(numbers)


@pytest.mark.parametrize("axis", [0, 1])
def test_halves_are_rounded_once(axis: int) -> None:
    x = RNG.normal(size=(3, 5000)).astype(np.float16)
    memory = x if axis == 1 else np.ascontiguousarray(x.T)
    exact = np.array([math.fsum(map(float, row)) for row in x])
    scale = np.array([math.fsum(np.abs(row.astype(float))) for row in x])
    halves = weft.jit(lambda x, axis: (x.sum(axis), x.mean(axis), x.std(axis)), static=("axis",))
    total, mean, std = halves(memory, axis=axis)
    rounded = np.spacing(np.abs(exact).astype(np.float16)).astype(float) / 2
    assert (np.abs(total.astype(float) - exact) <= rounded + depth(5000) * unit("float32") * scale).all()
    np.testing.assert_array_max_ulp(mean, (exact / 5000).astype(np.float16), maxulp=1)
    np.testing.assert_array_max_ulp(std, x.astype(float).std(axis=1).astype(np.float16), maxulp=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_sums_are_as_accurate_as_numpys(dtype: str) -> None:
    x = rows(dtype)[:, :4000]
    running = weft.jit(lambda x, axis: (np.cumsum(x, axis), np.nancumsum(x, axis)), static=("axis",))
    exact = np.stack([_running(row) for row in x])
    scale = np.cumsum(np.abs(x.astype(float)), axis=1)
    numpys = np.max(np.abs(np.cumsum(x, axis=1).astype(float) - exact) / scale, axis=1)
    for axis, memory in ((1, x), (0, np.ascontiguousarray(x.T))):
        for found in running(memory, axis=axis):
            found = found if axis == 1 else found.T
            error = np.max(np.abs(found.astype(float) - exact) / scale, axis=1)
            assert (error <= np.maximum(numpys, 2 * unit(dtype))).all(), (error, numpys)


def _running(row: Array) -> Array:
    total, found = Fraction(0), []
    for v in row:
        total += Fraction(float(v))
        found.append(float(total))
    return np.array(found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_and_averages(dtype: str) -> None:
    x = rows(dtype)
    weights = (1 + RNG.random(N)).astype(dtype)
    norm, first, mean = weft.jit(
        lambda x, w: (np.linalg.norm(x, axis=1), np.linalg.norm(x, 1, axis=1), np.average(x, axis=1, weights=w))
    )(x, weights)
    wide, heavy = x.astype(float), weights.astype(float)
    relative = (depth(N) + 4) * unit(dtype)
    exact = np.array([math.sqrt(math.fsum(row**2)) for row in wide])
    assert (np.abs(norm - exact) <= relative * exact).all()
    exact = np.array([math.fsum(np.abs(row)) for row in wide])
    assert (np.abs(first - exact) <= relative * exact).all()
    total = math.fsum(heavy)
    exact = np.array([math.fsum(row * heavy) / total for row in wide])
    scale = np.array([math.fsum(np.abs(row) * heavy) / total for row in wide])
    assert (np.abs(mean - exact) <= 2 * relative * scale).all()

"""Test reductions that share a walk with the one they need: bits of the specification, special cases, accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference, stated
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.checked_sizes import bind_sizes
from weft.runtime.compiler import Lowered, Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

CHUNK = 32 * 64 * 16  # elements of f32
BOTH = (3, 4)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def logs(x: Any) -> Any:
    """Use both bases in one walk, and other reductions of the row."""
    top = x.max(axis=-1)[..., None]
    natural, binary = np.exp(x - top).sum(axis=-1), np.exp2(x - top).sum(axis=-1)
    return natural, binary, x.sum(axis=-1), x.argmax(axis=-1)


def moments(x: Any) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    return x.var(axis=-1), (x - mean).sum(axis=-1), x.mean(axis=-1)


def normalised(x: Any) -> Any:
    apart = x - x.mean(axis=-1, keepdims=True)
    return apart / np.sqrt((apart * apart).mean(axis=-1, keepdims=True) + 1)


def outlier(x: Any) -> Any:
    """The walk ends early for one row but not for others."""
    apart = x - x.mean(axis=-1, keepdims=True)
    return (apart > 1.6 * np.sqrt((apart * apart).mean(axis=-1, keepdims=True))).argmax(axis=-1)


FUNCTIONS = (softmax, logs, moments, normalised, outlier)


def columns(x: Any) -> Any:
    """Moments of columns: the vectors lie across them."""
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return z, x.var(axis=0), x.max(axis=0), ((x - x.sum(axis=0) / 7) ** 2).sum(axis=0), (2 * x).std(axis=0, ddof=1)


def kernel_of(function: Callable[[Any], Any], level: int) -> Any:
    source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
    return Kernel(source, Registry(), Options(target=target.x86(level), verify=True))


OWN = {name: kernel_of(function, 3) for name, function in (("exp", np.exp), ("exp2", np.exp2))}


def specified(lowered: Lowered, x: Any) -> list[Any]:
    """Return the results of the specification; functions with an error bound come from native code."""
    sizes: dict[str, int] = {}
    assert not lowered.fallbacks and bind_sizes(lowered.graph.inputs, [x], sizes)
    meanings = {**stated.MEANINGS, **{name: lambda v, k=k: np.asarray(k(v)) for name, k in OWN.items()}}
    return list(reference.run(lowered.graph, [x], sizes, meanings=meanings))


def results(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def numbers(shape: Any, dtype: str) -> Any:
    """Make rising rows, and a falling first one, so that no chunk has the maximum or mean of the whole row."""
    x = np.random.default_rng(8).standard_normal(shape) * 3 + np.linspace(0, 40, shape[-1])
    if x.ndim > 1:
        x[0] = x[0, ..., ::-1]
    return x.astype(dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bits_of_the_specification(function: Callable[[Any], Any]) -> None:
    """Test rows and whole arrays, around the lengths from which walks are shared, on both CPU levels."""
    from_ = (8 if function is softmax else 4) * CHUNK
    by_level = [kernel_of(function, level) for level in BOTH]
    for shape in ((2, from_ - 1), (2, from_), (2, 9 * CHUNK + 1031), (1000,), (CHUNK + 1,), (11 * CHUNK + 7,)):
        check(by_level, numbers(shape, "float32"))
    check([kernel_of(function, 4)], numbers((2, 3, 4 * CHUNK + 5), "float64"))


def test_moments_of_columns() -> None:
    """Test short and long columns in steps of one vector and of eight, far from zero, not finite, and empty."""
    by_level, rng = [kernel_of(columns, level) for level in BOTH], np.random.default_rng(5)
    for rows, width in ((2047, 3), (2048, 9), (2600, 70), (5001, 520)):
        x = (rng.normal(size=(rows, width)) + np.linspace(-1e3, 1e3, rows)[:, None]).astype(np.float32)
        x[5:7, 0] = np.inf, -np.inf
        x[7, 1] = np.nan
        check(by_level if width != 520 else by_level[1:], x)
    check(by_level[1:], rng.normal(1e8, 1, size=(2176, 3, 33)))
    vast = rng.normal(1e300, 1e290, size=(2176, 64))  # the squares of differences are infinite
    check(by_level[1:], vast)
    with np.errstate(over="ignore"):
        assert np.isinf(weft.jit(np.std, static=("axis",))(vast, axis=0)).all()
    x = rng.normal(1e8, 1, size=(300_000, 2))
    exact = [math.sqrt(math.fsum((c - math.fsum(c) / len(c)) ** 2) / len(c)) for c in x.T]
    np.testing.assert_allclose(weft.jit(np.std, static=("axis",))(x, axis=0), exact, rtol=1e-14)
    with np.errstate(all="ignore"):
        assert weft.jit(lambda x: ((x - x.mean(axis=0)) ** 2).sum(axis=0))(np.ones((0, 2))).tolist() == [0, 0]


def check(kernels: list[Any], x: Any) -> None:
    expected = specified(kernels[0].lower(x), x)
    for kernel in kernels:
        for a, b in zip(results(kernel(x)), expected, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_the_number_of_threads_does_not_matter() -> None:
    threads, x = weft.get_threads(), numbers((3, 9 * CHUNK + 11), "float32")
    try:
        for function in FUNCTIONS:
            kernel, found = weft.jit(function), []
            for count in (1, 2, 3, 8, 16):
                weft.set_threads(count)
                found.append([np.asarray(r).tobytes() for r in results(kernel(x))])
            assert all(f == found[0] for f in found)
    finally:
        weft.set_threads(threads)


def odd_rows() -> Any:
    """Make rows in which a whole chunk, some elements or everything is not finite."""
    x = numbers((8, 8 * CHUNK + 5), "float32")
    x[0] = -np.inf
    x[1, :CHUNK] = -np.inf
    x[2, -5:] = -np.inf
    x[3, 3 * CHUNK + 1] = np.inf
    x[4, 5 * CHUNK] = np.nan
    x[5, 7], x[5, -1] = np.inf, -np.inf
    x[6] = -np.inf
    x[6, CHUNK] = -1000
    x[7] = 3e38  # sums overflow
    return x


@pytest.mark.parametrize("level", BOTH)
def test_what_is_not_finite_gives_what_numpy_gives(level: int) -> None:
    x = odd_rows()
    with np.errstate(all="ignore"):
        for function in (softmax, logs, moments):
            for a, b in zip(results(kernel_of(function, level)(x)), results(function(x)), strict=True):
                assert (np.isnan(a) == np.isnan(b)).all()
                np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-30)


def test_accuracy_is_that_of_separate_walks() -> None:
    """Compare a variance far from zero and a sum of exponentials with exact sums."""
    n = 40 * CHUNK
    x = (1000 + np.random.default_rng(3).standard_normal(n) + np.linspace(-2, 2, n)).astype(np.float32)
    wide = x.astype(np.float64)
    mean = math.fsum(wide) / n
    exact = math.fsum((wide - mean) ** 2) / n
    assert abs(float(weft.jit(np.var)(x)) - exact) <= 4e-7 * exact
    y = x - 990
    total = math.fsum(np.exp(wide - 990 - float(y.max())))
    assert abs(float(weft.jit(logs)(y[None])[0][0]) - total) <= 4e-7 * total

"""Test reductions in the language, with arguments by name, and reductions that tracing leaves to NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

from .arrays import whole
from .comparing import agrees, same
from .reduction_cases import CORE, few

TEXT = """
kernel totals(x: any[n, m], keep: bool[n, m], start: i64) {
    let total = sum(x, where=keep, initial=start)
    let most = max(x, axis=1, initial=1, where=keep)
    let truths = any(x, axis=0, where=keep[0])
    let every = all(x, axis=None, keepdims=true)
    let narrow = sum(x, axis=0, dtype=i16)
    return total, prod(x, axis=(0, -1)), narrow, most, truths, every, count_nonzero(x, axis=1), amin(x)
}

kernel moments(x: float[n, m], keep: bool[n, m], w: float[m]) {
    let mu = mean(x, axis=1, keepdims=true)
    let spread = var(x, axis=1, ddof=1, mean=mu)
    let kept = mean(x, axis=0, where=keep)
    let weighted = average(x, axis=1, weights=w)
    return mu, spread, std(x, correction=1), kept, nanvar(x), weighted, nanmean(x, axis=(0, 1), dtype=f64)
}

kernel places(x: float[n, m]) {
    return argmin(x), argmax(x, axis=0), argmin(x, axis=-1, keepdims=true), nanargmax(x, axis=1), ptp(x, axis=0)
}

kernel running(x: float[n, m]) {
    let from_zero = cumulative_sum(x, axis=1, include_initial=true)
    return cumsum(x), cumprod(x, axis=0, dtype=f64), from_zero, nancumsum(x, axis=0)
}

kernel norms(x: float[n, m]) {
    let cubes = vector_norm(x, axis=0, ord=3)
    let rows = matrix_norm(x, ord=inf)
    return norm(x), norm(x, 1), norm(x, -inf, axis=1), norm(x, "fro", keepdims=true), cubes, rows, trace(x)
}
"""


def test_totals() -> None:
    module = weft.compile(TEXT)
    keep = np.random.default_rng(1).random((4, 6)) < 0.5
    for dtype in ("bool", "uint8", "int32", "float32"):
        x = few(dtype)
        expected = (
            np.sum(x, where=keep, initial=3), np.prod(x, axis=(0, -1)), np.sum(x, axis=0, dtype=np.int16),
            np.max(x, axis=1, initial=1, where=keep), np.any(x, axis=0, where=keep[0]), np.all(x, keepdims=True),
            np.count_nonzero(x, axis=1), np.amin(x),
        )  # fmt: skip
        same(module.totals(x, keep, 3), expected)


def test_moments_and_places() -> None:
    module = weft.compile(TEXT)
    keep, w = np.random.default_rng(2).random((4, 6)) < 0.8, np.arange(1.0, 7)
    x = whole("float64", (4, 6), 5)
    mu = x.mean(axis=1, keepdims=True)
    expected = (
        mu, np.var(x, axis=1, ddof=1, mean=mu), np.std(x, correction=1), np.mean(x, axis=0, where=keep), np.nanvar(x),
        np.average(x, axis=1, weights=w), np.nanmean(x, axis=(0, 1)),
    )  # fmt: skip
    same(module.moments(x, keep, w), expected, ulps=4)
    places = (
        x.argmin(), x.argmax(axis=0), x.argmin(axis=-1, keepdims=True), np.nanargmax(x, axis=1), np.ptp(x, axis=0),
    )  # fmt: skip
    same(module.places(x), places)


def test_running_and_norms() -> None:
    module, x = weft.compile(TEXT), few("float32")
    running = (
        np.cumsum(x), np.cumprod(x, axis=0, dtype=float), np.cumulative_sum(x, axis=1, include_initial=True),
        np.nancumsum(x, axis=0),
    )  # fmt: skip
    same(module.running(x), running)
    norm = np.linalg.norm
    norms = (
        norm(x), norm(x, 1), norm(x, -np.inf, axis=1), norm(x, "fro", keepdims=True),
        np.linalg.vector_norm(x, axis=0, ord=3), np.linalg.matrix_norm(x, ord=np.inf), np.trace(x),
    )  # fmt: skip
    same(module.norms(x), norms, ulps=4)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("sum(x, axis=2)", weft.errors.AxisProblem, "axis 2 is out of bounds"),
        ("sum(x, where=x)", weft.errors.TypeProblem, "Cannot cast array data"),
        ("sum(x, where=k)", weft.errors.ShapeProblem, "could not be broadcast"),
        ("max(x, where=x > 1)", weft.errors.ValueProblem, "specify 'initial'"),
        ("sum(x, axis=x)", weft.errors.TypeProblem, "'axis' must be known"),
        ("sum(x, keepdims=sum(x) > 0)", weft.errors.TypeProblem, "'keepdims' must be known"),
        ("norm(x, 2)", weft.errors.Unsupported, "needs singular values"),
        ("norm(x, sum(x))", weft.errors.TypeProblem, "'ord' must be known"),
        ("var(x, ddofs=1)", weft.errors.TypeProblem, "'var' has no argument 'ddofs'"),
    ],
)
def test_mistakes(text: str, error: type[Exception], says: str) -> None:
    kernel = weft.compile(f"kernel f(x: f32[n, m], k: bool[n]) = {text}").f
    with pytest.raises(error, match=says):
        kernel(np.ones((2, 3), np.float32), np.ones(2, bool))


def test_methods_and_forms() -> None:
    """Test methods, positional and computed arguments, and functions passed as values."""

    def forms(x: Any, start: Any) -> Any:
        methods = (
            x.sum(0, np.float64), x.max(1, None, True), x.mean(1, None, None, True), x.var(0, None, None, 1),
            x.argmax(1), x.cumsum(1), x.cumprod(0, np.float64), x.any(), x.all(0), x.std(ddof=start), x.trace(),
        )  # fmt: skip
        computed = (
            x.sum(initial=start), x.max(initial=x[0, 0] + start), x.sum(where=x > x.mean()), x.var(mean=x.mean()),
        )  # fmt: skip
        ufuncs = (
            np.add.reduce(x, 1, None, None, True), np.maximum.reduce(x), np.add.accumulate(x, 1),
            np.add.outer(x[0], x[1]), np.amax(x, 0),
        )  # fmt: skip
        return (*methods, *computed, *ufuncs)

    agrees(forms, few("float64"), 1, ulps=4)


def test_what_is_left_to_numpy() -> None:
    """The fallback is named, and its result is right."""

    def left(x: Any) -> Any:
        return (
            np.nanmedian(x * 2), np.linalg.norm(x, "nuc"), np.subtract.reduce(x, axis=1), np.add.reduceat(x, [0, 2]),
            np.var(x, axis=0, mean=np.ones((2, 1, 1))),
        )  # fmt: skip

    x = few("float64")
    agrees(left, x, ulps=8)
    assert set(weft.jit(left).lower(x).fallbacks) == {
        "numpy.nanmedian", "numpy.linalg.norm", "numpy.subtract.reduce", "numpy.add.reduceat", "numpy.var",
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_nothing_else_is(dtype: str) -> None:
    x = few(dtype)
    cases = [case for case in CORE if dtype != "float32" or "bitwise" not in case.label]
    assert weft.jit(lambda x: tuple(case.call(x) for case in cases)).lower(x).fallbacks == ()

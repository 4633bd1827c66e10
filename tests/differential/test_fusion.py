"""Test how many kernels a function becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS, random
from .programs import entropy, gelu, layernorm, logsumexp, moments, softmax

ONE: dict[str, Callable[..., Any]] = {
    "a chain": lambda x, b: np.sqrt(np.abs(x * 2 - b)) / (x + 1) > 0,
    "a long chain": lambda x, b: sum((x * k + b) ** 2 for k in range(30)),
    "a chain with broadcasts": lambda x, b: (x + b) * x[:1] - x[:, :1] + 3 * b[None, :],
    "a chain of views": lambda x, b: (x[::-1] + x)[:, ::-1] * b[::-1],
    "bias and gelu": lambda x, b: gelu(x + b),
    "softmax": lambda x, b: softmax(x, -1),
    "softmax of a chain": lambda x, b: softmax(x * 0.125 + b, -1) * 2,
    "softmax over the first axis": lambda x, b: softmax(x, 0),
    "layernorm": lambda x, b: layernorm(x, -1) * b + b,
    "logsumexp": lambda x, b: logsumexp(x, -1),
    "entropy": lambda x, b: entropy(x, -1),
    "mean and variance": lambda x, b: moments(x, None),
    "mean and variance by NumPy's functions": lambda x, b: (x.mean(), x.var()),
    "mean and variance of rows": lambda x, b: (x.mean(axis=-1), x.var(axis=-1), x.std(axis=-1)),
    "a sum and a maximum": lambda x, b: np.exp(x).sum() + x.max(),
    "two outputs": lambda x, b: (x + b, x * b),
    "four outputs": lambda x, b: (x + b, x * b, np.exp(x), (x - b).astype(np.int32)),
    "an output and its sum": lambda x, b: (np.exp(x), np.exp(x).sum(axis=-1)),
    "reductions of one array": lambda x, b: (x.min(), x.max(), x.sum(), (x > 0).any(), x.prod()),
    "a copy": lambda x, b: x,
}


@pytest.mark.parametrize("name", ONE)
def test_one_kernel(name: str) -> None:
    jitted = weft.jit(ONE[name])
    x, b = random("float32", (6, 9), 1), random("float32", (9,), 2)
    for args in ((x, b), (np.asfortranarray(x), b), (LAYOUTS["strided"](x), b), (x[:1], b)):
        lowered = jitted.lower(*args)
        assert len(lowered.kernels) == 1, str(lowered.explain())
        assert lowered.fallbacks == ()


def test_broadcast_of_sizes_that_are_one_only_when_called() -> None:
    jitted = weft.jit(lambda x, y, z: (x + y) * z - x)
    x, y, z = (random("float64", s, 1) for s in ((5, 7), (1, 7), (5, 1)))
    for args in ((x, y, z), (y, x, z), (z, y, x), (x[:1, :1], y, z)):
        assert len(jitted.lower(*args).kernels) == 1


def test_sums_over_different_axes() -> None:
    lowered = weft.jit(lambda a: (a.sum(axis=0), a.sum(axis=1))).lower(random("float32", (5, 6)))
    assert len(lowered.kernels) <= 2


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x: (x + 1).reshape(-1) * 2, 2),
        (lambda x: (x - x.mean(axis=0)) / x.sum(axis=1, keepdims=True), 3),
        (lambda x: np.sort(x * 2) + 1, 2),
        (lambda x: np.exp(x)[1:] + np.exp(x)[:-1], 2),
        (lambda x: (x * 2)[1:] + (x * 2)[:-1], 1),
    ],
)
def test_no_more_kernels_than_needed(function: Callable[..., Any], count: int) -> None:
    lowered = weft.jit(function).lower(random("float32", (5, 6)))
    assert len(lowered.kernels) <= count, str(lowered.explain())


def test_a_kernel_of_text() -> None:
    module = weft.compile(
        """
        fn gelu(x) = 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
        kernel bias_gelu(x: f32[n, m], b: f32[m]) -> f32[n, m] { return gelu(x + b) }
        kernel both(x: float[n]) -> (mean: float, var: float) { let mu = mean(x); return mu, mean((x - mu)**2) }
        """
    )
    assert len(module.bias_gelu.lower(np.ones((3, 4), np.float32), np.ones(4, np.float32)).kernels) == 1
    assert len(module.both.lower(np.ones(4)).kernels) == 1

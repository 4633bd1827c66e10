"""Test sums of products and other reductions over indices: how many kernels they become, and their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.ops import MATMUL

from .running import Kernels

RNG = np.random.default_rng(8)

TEXT = """
kernel mm(a: float[m, k], b: float[k, n]) -> float[m, n] {
    let c[i, j] = sum[p](a[i, p] * b[p, j])
    return c
}
kernel layer(a: f32[m, k], b: f32[n, k], bias: f32[n]) -> f32[n, m] {
    let c[j, i] = maximum(sum[p](2 * a[i, p] * b[j, p]) + bias[j], 0)
    return c
}
kernel stack(a: f64[b, m, k], c: f64[b, k, n], w: f64[k]) -> f64[b, m, n] {
    let d[z, i, j] = sum[p](a[z, i, p] * c[z, p, j] * w[p])
    return d
}
kernel two(a: f64[m, k, l], b: f64[k, l, n]) -> f64[m, n] {
    let d[i, j] = sum[p, q](a[i, p, q] * b[p, q, j])
    return d
}
kernel whole(a: int[m, k], b: int[k, n]) {
    let d[i, j] = sum[p](a[i, p] * b[p, j])
    return d
}
kernel mv(a: f64[m, k], x: f64[k]) -> f64[m] {
    let d[i] = sum[p](a[i, p] * x[p])
    return d
}
kernel filters(x: f32[c, h, w], f: f32[o, c, a, b]) -> f32[o, h - a + 1, w - b + 1] {
    let y[z, i in 0..h-a+1, j in 0..w-b+1] = sum[q, r, s](x[q, i + r, j + s] * f[z, q, r, s])
    return y
}
kernel softmax(a: f64[m, k]) -> f64[m, k] {
    let e[i, j] = exp(a[i, j] - max[p](a[i, p]))
    let d[i, j] = e[i, j] / sum[p](e[i, p])
    return d
}
kernel far(a: f64[m, k], b: f64[n, k]) -> i64[m] {
    let d[i, j] = sqrt(sum[p]((a[i, p] - b[j, p])**2))
    let c[i] = argmax[j in 1..n](d[i, j])
    return c
}
kernel counts(a: f64[m, k]) -> f64[m] {
    let c[i] = sum[p in 0..3](1.5) + count_nonzero[p](a[i, p] > 0) + mean[p in 0..k](p) + std[p](a[i, p], ddof=1)
    return c
}
kernel all_of(a: f64[m, k]) -> f64 = sum[i, j](a[i, j] * (i - j))
"""


@pytest.fixture(scope="module")
def kernels() -> Kernels:
    return Kernels(TEXT)


def lowered(name: str, *args: Any) -> Any:
    return getattr(weft.compile(TEXT), name).lower(*args)


def numbers(*shape: int, dtype: str = "f8") -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (3, 4, 5), (0, 3, 2), (3, 0, 2), (30, 33, 40)])
def test_products(kernels: Kernels, m: int, k: int, n: int) -> None:
    a, b, w = numbers(m, k), numbers(k, n), numbers(k)
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(kernels.mm(a, b), a @ b, **close)
    small, other = a.astype("f4"), b.T.copy().astype("f4")
    want = np.maximum(2 * small @ other.T + 1, 0).T
    np.testing.assert_allclose(kernels.layer(small, other, np.ones(n, "f4")), want, rtol=1e-4, atol=1e-4)
    pairs = np.stack([a, a + 1]), np.stack([b, b - 1])
    np.testing.assert_allclose(kernels.stack(*pairs, w), (pairs[0] * w) @ pairs[1], **close)
    np.testing.assert_allclose(
        kernels.two(pairs[0].transpose(1, 0, 2).copy(), pairs[1]), np.einsum("zik,zkj->ij", *pairs), **close
    )
    np.testing.assert_allclose(kernels.mv(a, w), a @ w, **close)
    for dtype in ("i4", "i8"):
        x, y = RNG.integers(-9, 9, (m, k)).astype(dtype), RNG.integers(-9, 9, (k, n)).astype(dtype)
        np.testing.assert_array_equal(kernels.whole(x, y), x.astype("i8") @ y)


def test_filters(kernels: Kernels) -> None:
    x, f = numbers(3, 9, 11, dtype="f4"), numbers(4, 3, 2, 3, dtype="f4")
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (1, 2))
    want = np.einsum("cijrs,ocrs->oij", windows, f)
    np.testing.assert_allclose(kernels.filters(x, f), want, rtol=1e-4, atol=1e-4)


def test_other_reductions(kernels: Kernels) -> None:
    a, b = numbers(6, 5), numbers(4, 5)
    distance = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    np.testing.assert_array_equal(kernels.far(a, b), 1 + distance[:, 1:].argmax(1))
    np.testing.assert_allclose(kernels.counts(a), 4.5 + (a > 0).sum(1) + 2 + a.std(1, ddof=1))
    np.testing.assert_allclose(kernels.all_of(a), (a * (np.arange(6)[:, None] - np.arange(5))).sum())


@pytest.mark.parametrize(
    ("name", "shapes", "dtype", "products"),
    [
        ("mm", [(5, 4), (4, 6)], "f8", 1),
        ("layer", [(5, 4), (6, 4), (6,)], "f4", 1),
        ("stack", [(2, 5, 4), (2, 4, 6), (4,)], "f8", 1),
        ("two", [(5, 2, 3), (2, 3, 6)], "f8", 1),
        ("mv", [(5, 4), (4,)], "f8", 0),
        ("filters", [(3, 9, 8), (4, 3, 2, 2)], "f4", 0),
        ("softmax", [(5, 4)], "f8", 0),
    ],
)
def test_each_is_one_kernel(name: str, shapes: list[tuple[int, ...]], dtype: str, products: int) -> None:
    (region,) = lowered(name, *(numbers(*shape, dtype=dtype) for shape in shapes)).kernels
    assert sum(node.op is MATMUL for node in region.body) == products

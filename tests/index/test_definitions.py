"""Test arrays defined by their elements against NumPy, also with empty ranges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
import weft

from .running import Kernels

RNG = np.random.default_rng(6)

TEXT = """
kernel heat(u: f64[n], r: f64) -> f64[n] {
    let w[i in 1..n-1] = u[i] + r * (u[i-1] - 2*u[i] + u[i+1]) else u[i]
    return w
}
kernel jacobi(u: f32[n, m]) -> f32[n, m] {
    let w[i in 1..n-1, j in 1..m-1] = 0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1]) else u[i, j]
    return w
}
kernel rows_only(u: f64[n, m]) -> f64[n, m] {
    let w[i in 1..n, j] = u[i, j] - u[i-1, j] else -u[i, j]
    return w
}
kernel inner(u: f64[n]) -> f64[n - 2] {
    let w[i in 1..n-1] = u[i+1] - u[i-1]
    return w
}
kernel transposed(a: f64[n, m]) -> f64[m, n] {
    let t[i, j] = a[j, i]
    return t
}
kernel pairs(a: f64[n]) -> f64[n // 2] {
    let c[i in 0..n//2] = a[2*i + 1] - a[2*i] * i
    return c
}
kernel from_first(a: f64[n]) -> f64[n] {
    let c[i] = a[i] - a[0]
    return c
}
kernel backwards(a: f64[n]) -> f64[n] {
    let c[i in 0..n] = a[n - 1 - i]
    return c
}
kernel outer_ids(a: f64[n], b: f64[m]) -> i64[m, n] {
    let c[j, i] = 10*j + i + i64(0*a[i] + 0*b[j])
    return c
}
kernel one_number(a: f64[n]) -> f64[n] {
    let c[i in 0..n] = 2.5
    return c
}
kernel zero_border(a: f64[n]) -> f64[n] {
    let c[i in 2..n-1]: f64[n] = a[i-2] + a[i+1] else 0
    return c
}
fn rectified(x) = x if x > 0 else 0 * x
kernel chain(a: f64[n]) -> f64[n] {
    let d[i] = rectified(a[i]) / max(a)
    let e[i] = d[n-1-i] + cumsum(d)[i] if i % 2 == 0 else d[i]
    return e
}
"""
SIZES = (0, 1, 2, 3, 5, 40)


@pytest.fixture(scope="module")
def kernels() -> Kernels:
    return Kernels(TEXT)


@pytest.mark.parametrize("n", SIZES)
def test_one_dimension(kernels: Kernels, n: int) -> None:
    a = RNG.standard_normal(n)
    want = a.copy()
    if n > 2:
        want[1:-1] = a[1:-1] + 0.1 * (a[:-2] - 2 * a[1:-1] + a[2:])
    assert np.array_equal(kernels.heat(a, 0.1), want)
    assert np.array_equal(kernels.inner(a), a[2:] - a[:-2] if n > 1 else [])
    half = n // 2
    assert np.array_equal(kernels.pairs(a), a[1::2] - a[: 2 * half : 2] * np.arange(half))
    assert np.array_equal(kernels.from_first(a), a - (a[0] if n else 0))
    assert np.array_equal(kernels.backwards(a), a[::-1])
    assert np.array_equal(kernels.one_number(a), np.full(n, 2.5))
    want = np.zeros(n)
    if n > 3:
        want[2:-1] = a[:-3] + a[3:]
    assert np.array_equal(kernels.zero_border(a), want)
    if n:
        d = np.where(a > 0, a, 0 * a) / a.max()
        np.testing.assert_array_equal(kernels.chain(a), np.where(np.arange(n) % 2 == 0, d[::-1] + d.cumsum(), d))


@pytest.mark.parametrize(("n", "m"), [*product((0, 1, 2, 5), (0, 1, 2, 3, 33))])
def test_two_dimensions(kernels: Kernels, n: int, m: int) -> None:
    u = RNG.standard_normal((n, m)).astype(np.float32)
    want = u.copy()
    if n > 2 and m > 2:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        want[1:-1, 1:-1] = np.float32(0.25) * around
    assert np.array_equal(kernels.jacobi(u), want)
    v = u.astype(np.float64)
    want = -v
    want[1:] = v[1:] - v[:-1]
    assert np.array_equal(kernels.rows_only(v), want)
    turned = kernels.transposed(v)
    assert np.array_equal(turned, v.T) and turned.flags.c_contiguous
    want = 10 * np.arange(m)[:, None] + np.arange(n)
    assert np.array_equal(kernels.outer_ids(np.ones(n), np.ones(m)), want)


@pytest.fixture
def threads() -> Iterator[None]:
    before = weft.get_threads()
    yield
    weft.set_threads(before)


def test_any_number_of_threads_gives_the_same_bits(threads: None) -> None:
    module = weft.compile(
        """
        kernel both(u: f32[n, m]) -> (step: f32[n, m], near: f32[n]) {
            let w[i in 2..n-1, j in 1..m-2] = u[i-2, j] - u[i+1, j] * u[i, j-1] + u[i, j+2] else -u[i, j]
            let s[i] = sum[j in 0..m-2](w[i, j] * sum[p in 0..3](u[i, j + p]))
            return w, s
        }
        """
    )
    u = RNG.standard_normal((900, 700)).astype(np.float32)
    found = []
    for count in (1, 2, 5):
        weft.set_threads(count)
        found.append(module.both(u))
    for step, near in found[1:]:
        assert np.array_equal(step, found[0][0]) and np.array_equal(near, found[0][1])


def test_pieces_are_written_in_place() -> None:
    """Three loop nests write the inside, the rows around it and the columns; nothing is copied."""
    lowered = weft.compile(TEXT).jacobi.lower(np.ones((5, 6), np.float32))
    assert len(lowered.kernels) == 3
    assert not lowered.fallbacks

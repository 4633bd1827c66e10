"""Test definitions inside loops, branches, inlined kernels and traced functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.errors import IndexProblem

from .running import Kernels

RNG = np.random.default_rng(9)

TEXT = """
fn steps_of(x: i64) -> i64 {
    var k = 0
    var y = x
    while y > 1 { y = y // 2 if y % 2 == 0 else 3*y + 1; k += 1 }
    return k
}
kernel step(u: f64[n, m], r: f64) -> f64[n, m] {
    let w[i in 1..n-1, j in 1..m-1] = u[i, j] + r * (u[i-1, j] - u[i, j+1]) else u[i, j]
    return w
}
kernel rows(a: f64[n, m], x: f64[m]) -> f64[m] {
    var v = x
    for t in 0..n {
        let w[i in 1..m] = v[i-1] * 0.5 + a[t, i] * t else a[t, i]
        v = w
    }
    return v
}
kernel power(a: f64[n, n]) -> f64[n] {
    var v = full(n, 1.0)
    var err = 1.0
    while err > 1e-13 {
        let w[i] = sum[p](a[i, p] * v[p])
        let u[i] = w[i] / max(w)
        err = max[i](abs(u[i] - v[i]))
        v = u
    }
    return v
}
kernel twice(u: f64[k, k], on: bool) -> f64[k, k] {
    var v = step(step(u, 0.5), 0.25)
    if on {
        let w[i, j] = v[j, i] + steps_of(i + 1)
        v = w
    }
    return v
}
kernel follow(v: f64[n], idx: i64[n], steps: i64) -> f64[n] {
    var u = v
    var k = idx
    for t in 0..steps {
        let w[i] = u[k[i]] + 1
        u = w
        k = k + 1
    }
    return u
}
"""


@pytest.fixture(scope="module")
def kernels() -> Kernels:
    return Kernels(TEXT)


def step(u: Any, r: float) -> Any:
    w = u.copy()
    w[1:-1, 1:-1] = u[1:-1, 1:-1] + r * (u[:-2, 1:-1] - u[1:-1, 2:])
    return w


def test_loops(kernels: Kernels) -> None:
    a, x = RNG.standard_normal((6, 9)), RNG.standard_normal(9)
    v = x
    for t, row in enumerate(a):
        v = np.concatenate([row[:1], v[:-1] * 0.5 + row[1:] * t])
    np.testing.assert_array_equal(kernels.rows(a, x), v)
    square = RNG.random((7, 7))
    values, vectors = np.linalg.eig(square)
    main = vectors[:, np.abs(values).argmax()].real
    np.testing.assert_allclose(weft.compile(TEXT).power(square), main / main[np.abs(main).argmax()], rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 6])
def test_calls_and_branches(kernels: Kernels, n: int) -> None:
    u = RNG.standard_normal((n, n))
    want = step(step(u, 0.5), 0.25) if n > 2 else u
    np.testing.assert_array_equal(kernels.twice(u, False), want)
    counts = np.array([0, 1, 7, 2, 5, 8])[:n]
    np.testing.assert_array_equal(kernels.twice(u, True), want.T + counts[:, None])


def test_a_traced_call() -> None:
    module = weft.compile(TEXT)
    u = RNG.standard_normal((5, 6))
    traced = weft.jit(lambda u: module.step(u * 2, 0.5) + 1)
    np.testing.assert_array_equal(traced(u), step(u * 2, 0.5) + 1)


def test_a_wrong_index_in_a_loop() -> None:
    follow = weft.compile(TEXT).follow
    np.testing.assert_array_equal(follow(np.zeros(4), np.zeros(4, np.int64), 4), np.full(4, 4.0))
    for _ in range(2):
        with pytest.raises(IndexProblem, match=r"'k\[i\]' is 4, outside of axis 0 of 'u', which has size 4"):
            follow(np.zeros(4), np.zeros(4, np.int64), 5)

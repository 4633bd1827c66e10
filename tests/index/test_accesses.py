"""Test windows, diagonals and lookups against NumPy; an index out of range raises an error and reads nothing."""

from __future__ import annotations

import numpy as np
import pytest
import weft
from weft.ir import dims
from weft.ir.errors import IndexProblem
from weft.ir.ops import GATHER

from .running import Kernels

RNG = np.random.default_rng(7)

TEXT = """
kernel conv(x: f64[n], w: f64[k]) -> f64[n - k + 1] {
    let y[i in 0..n-k+1] = sum[p](x[i + p] * w[p])
    return y
}
kernel strided(x: f64[n], w: f64[k]) -> f64[(n - k) // 2 + 1] {
    let y[i in 0..(n-k)//2 + 1] = max[p](x[2*i + k - 1 - p] - w[p])
    return y
}
kernel causal(x: f64[n], w: f64[k]) -> f64[n] {
    let y[i in k-1..n] = sum[p](x[i - p] * w[p]) else x[i]
    return y
}
kernel centred(x: f64[n], w: f64[k]) -> f64[n] {
    let y[i in k//2..n - k//2] = sum[p](x[i + p - k//2] * w[p]) else 0 * x[i]
    return y
}
kernel cut(x: f64[n], w: f64[k]) -> f64[n] {
    let y[i in 2..k] = 1.0 * i else x[i]
    return y
}
kernel last(x: f64[n]) -> f64[n] {
    let y[i in n-3..n] = -x[i] else x[n - 1]
    return y
}
kernel traced(x: f64[n, n]) -> f64[n] {
    let y[i] = x[i, i] - x[n - 1 - i, i]
    return y
}
kernel flat(y: f64[n, m]) -> f64[m, n] {
    let t[i in 0..n*m] = 1.5 * i
    let z[j, i] = t[i*m + j] + y[i, j]
    return z
}
kernel look(x: f64[n], idx: i32[k]) -> f64[k] {
    let d[i] = 2 * x[i]
    let y[i] = d[idx[i]] + x[idx[k - 1 - i]]
    return y
}
kernel rows(x: f32[n, m], idx: i64[k]) -> f32[m, k] {
    let y[j, i] = x[idx[i], j]
    return y
}
kernel own(x: c128[n, m], c: u8[n], shift: i64) -> c128[n] {
    let y[i] = x[i, c[i] + shift]
    return y
}
kernel around(x: f64[n]) -> f64[n] {
    let y[i in 0..n] = x[(i + 1) % n] - x[i // 2]
    return y
}
kernel periodic(x: f64[n, m]) -> f64[n, m] {
    let y[i, j] = x[(i + 1) % n, j] - 2*x[(i - 2) % n, (j + m - 1) % m] + x[i, (j + 3) % m]
    return y
}
kernel around_nine(x: f64[n, m]) -> f64[n, m] {
    let y[i, j] = sum[p in 0..3, q in 0..3](x[(i + p - 1) % n, (j + m - q) % m]) - x[i, j]
    return y
}
kernel other_period(x: f64[n], y: f64[m]) -> f64[m] {
    let z[i] = y[i] + x[(i + 1) % m]
    return z
}
kernel sparse(v: f64[n, k], c: i64[n, k], x: f64[m]) -> f64[n] {
    let y[i] = sum[p](v[i, p] * x[c[i, p]])
    return y
}
"""


@pytest.fixture(scope="module")
def kernels() -> Kernels:
    return Kernels(TEXT)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (5, 2), (40, 3), (3, 7), (4, 0), (0, 2)])
def test_windows(kernels: Kernels, n: int, k: int) -> None:
    x, w = RNG.standard_normal(n), RNG.standard_normal(k)
    places = range(n - k + 1)
    np.testing.assert_allclose(kernels.conv(x, w), [(x[i : i + k] * w).sum() for i in places], rtol=1e-12)
    if 0 < k <= n:
        want = [(x[i : i + k][::-1] - w).max() for i in range(0, n - k + 1, 2)]
        np.testing.assert_array_equal(kernels.strided(x, w), want)
    want = [(x[i - k + 1 : i + 1][::-1] * w).sum() if i >= k - 1 else x[i] for i in range(n)]
    np.testing.assert_allclose(kernels.causal(x, w), want, rtol=1e-12)
    half = k // 2
    inside = range(half, n - half)
    want = [sum(x[i + p - half] * w[p] for p in range(k)) if i in inside else 0 for i in range(n)]
    np.testing.assert_allclose(kernels.centred(x, w), want, rtol=1e-12)
    np.testing.assert_array_equal(kernels.last(x), [-x[i] if i >= n - 3 else x[-1] for i in range(n)])
    square = RNG.standard_normal((n, n))
    wide = RNG.standard_normal((n, k))
    np.testing.assert_array_equal(kernels.flat(wide), (1.5 * np.arange(n * k).reshape(n, k) + wide).T)
    np.testing.assert_array_equal(kernels.cut(x, w), [i * 1.0 if i in range(2, k) else x[i] for i in range(n)])
    np.testing.assert_array_equal(kernels.traced(square), square.diagonal() - square[::-1].diagonal())


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 3), (5, 4), (40, 17)])
def test_lookups(kernels: Kernels, n: int, k: int) -> None:
    x, wide, places = RNG.standard_normal(n), RNG.standard_normal((n, k)), RNG.integers(0, n, k)
    np.testing.assert_array_equal(kernels.look(x, places.astype(np.int32)), 2 * x[places] + x[places[::-1]])
    np.testing.assert_array_equal(kernels.rows(wide.astype(np.float32), places), wide.astype(np.float32)[places].T)
    columns = RNG.integers(0, k, n).astype(np.uint8)
    numbers = wide + 1j * wide[::-1]
    np.testing.assert_array_equal(kernels.own(numbers, columns, 0), numbers[np.arange(n), columns])
    np.testing.assert_array_equal(kernels.around(x), np.roll(x, -1) - x[np.arange(n) // 2])
    moved = np.roll(wide, -1, 0) - 2 * np.roll(wide, (2, 1), (0, 1)) + np.roll(wide, -3, 1)
    np.testing.assert_array_equal(kernels.periodic(wide), moved)
    nine = sum(np.roll(wide, (1 - p, q), (0, 1)) for p in range(3) for q in range(3)) - wide
    np.testing.assert_allclose(kernels.around_nine(wide), nine, rtol=1e-12, atol=1e-12)
    short = x[: n // 2 + 1]
    np.testing.assert_array_equal(kernels.other_period(x, short), short + np.roll(x[: len(short)], -1))
    where = RNG.integers(0, n, (n, k))
    np.testing.assert_allclose(kernels.sparse(wide, where, x), (wide * x[where]).sum(1), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("look", (np.ones(4), np.array([0, -1], np.int32)), "'idx[i]' is -1, outside of axis 0 of 'd', which has"),
        ("look", (np.ones(0), np.zeros(3, np.int32)), "'idx[i]' is 0, outside of axis 0 of 'd', which has size 0"),
        ("other_period", (np.ones(3), np.ones(5)), "'(i + 1) % m' is 3, outside of axis 0 of 'x'"),
        ("rows", (np.ones((4, 9), np.float32), np.array([3, 4])), "'idx[i]' is 4, outside of axis 0 of 'x'"),
        ("own", (np.ones((2, 3), complex), np.array([0, 1], np.uint8), 2), "'c[i] + shift' is 3, outside of axis 1"),
        ("own", (np.ones((2, 3), complex), np.array([0, 1], np.uint8), -1), "'c[i] + shift' is -1, outside of axis 1"),
    ],
)
def test_a_wrong_index_is_named(kernels: Kernels, name: str, args: tuple[object, ...], message: str) -> None:
    for kernel in kernels.ways(name):
        for _ in range(2):  # the second call is native
            with pytest.raises(IndexProblem) as caught:
                kernel(*args)
            assert message in str(caught.value) and "^" in str(caught.value)


@pytest.mark.parametrize("name", ["periodic", "around_nine"])
def test_what_wraps_around_is_looked_up_at_the_border_only(name: str) -> None:
    lowered = getattr(weft.compile(TEXT), name).lower(np.ones((20, 30)))
    inside = max(
        lowered.kernels,
        key=lambda region: dims.evaluate(dims.product(region.results[0].type.shape), {"n": 20, "m": 30}),
    )
    assert all(node.op is not GATHER for node in inside.body)

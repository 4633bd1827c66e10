"""Test kernels that change elements in loops, and that return inside loops, against plain Python."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import Unsupported
from weft.runtime.native.abi import is_known

KERNELS = weft.compile("""
const STEP = 2
fn half(v) = v / 2

kernel sieve(n: size) -> bool[n] {
    var prime = ones(n, dtype=bool)
    prime[:2] = false
    for i in 2..n {
        if prime[i] {
            var k = i * i
            while k < n { prime[k] = false; k += i }
        }
    }
    return prime
}
kernel counted(x: i64[n], bins: size) -> (i64[bins], i64) {
    var counts = zeros(bins, dtype=i64)
    var seen = 0
    for i in 0..n {
        if not (0 <= x[i] and x[i] < bins) { continue }
        counts[x[i]] += 1
        seen += 1
    }
    return counts, seen
}
kernel rows(x: float[n, m], a: float) {
    var y = x
    for i in 1..n { y[i] = a * y[i - 1] + half(x[i]) if i % STEP == 0 else y[i - 1] - exp(x[i]) * pi }
    y[0, :] *= 2
    return y, x
}
kernel bubble(x: f64[n]) -> f64[n] {
    var y = x
    for last in 1..n {
        var moved = false
        for i in 0..n - last {
            if y[i] > y[i + 1] {
                let t = y[i]
                y[i] = y[i + 1]
                y[i + 1] = t
                moved = true
            }
        }
        if not moved { break }
    }
    return y
}
kernel beyond(x: f64[n]) -> f64[n] {
    var y = x
    for i in 0..n { y[i] = x[i + 1] }
    return y
}
kernel first_above(x: f64[n], limit: f64) -> i64 {
    for i in 0..n { if x[i] > limit { return i } }
    return -1
}
kernel found(a: int[n, m], v: int) -> (i64, i64) {
    for i in 0..n {
        for j in 0..m { if a[i, j] == v { return i, j } }
    }
    return -1, -1
}
kernel root(a: float[n], steps: i64, tol: float) {
    var x = a
    for k in 0..steps {
        let y = (x + a / x) / 2
        if max(abs(y - x)) < tol { return y, k }
        x = y
    }
    return x, steps
}
kernel sign(k: i64) -> f64 {
    if k < 0 { return -1.5 } else if k == 0 { return 0 } else { return 1 }
}
kernel placed(a: int[n, m]) {
    let i, j = found(a, 5)
    return 100 * i + j + first_above(f64(a[0]), 1.0)
}
""")
RNG = np.random.default_rng(5)


def rows(x: Any, a: float) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + x[i] / 2 if i % 2 == 0 else y[i - 1] - np.exp(x[i]) * np.pi
    y[0, :] *= 2
    return y


def test_elements_that_change() -> None:
    for n in (0, 1, 3, 40):
        expected = [k > 1 and all(k % d for d in range(2, k)) for k in range(n)]
        np.testing.assert_array_equal(KERNELS.sieve(n), np.array(expected, bool))
        x = RNG.standard_normal(n)
        np.testing.assert_array_equal(KERNELS.bubble(x), np.sort(x))
        whole = RNG.integers(-2, 6, n)
        counts, seen = KERNELS.counted(whole, 4)
        kept = whole[(whole >= 0) & (whole < 4)]
        np.testing.assert_array_equal(counts, np.bincount(kept, minlength=4))
        assert seen == len(kept)
    for dtype in ("f8", "f4"):
        x = RNG.standard_normal((7, 5)).astype(dtype)
        before = x.copy()
        made, same = KERNELS.rows(x, 0.5)
        np.testing.assert_allclose(made, rows(x, 0.5), rtol=4 * np.finfo(dtype).eps)
        assert made.dtype == dtype and np.array_equal(x, before) and np.array_equal(same, before)
    with pytest.raises(IndexError):
        KERNELS.beyond(np.zeros(3))


def test_calls_after_the_first_are_native() -> None:
    """The graph has a recipe that calls the loop, which has one as well; Python says what is wrong."""
    x, m = RNG.standard_normal(40), RNG.standard_normal((7, 5))
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (KERNELS.sieve, (50,)), (KERNELS.counted, (RNG.integers(-2, 6, 9), 4)), (KERNELS.bubble, (x,)),
        (KERNELS.bubble, (x[::2],)), (KERNELS.rows, (m, 0.5)), (KERNELS.rows, (np.asfortranarray(m), 2)),
    ]  # fmt: skip
    for kernel, args in calls:
        first, given = kernel(*args), [np.array(a) for a in args]
        before, references = kernel.chain.calls, [sys.getrefcount(a) for a in args]
        for _ in range(10):
            again = kernel(*args)
        assert kernel.chain.calls == before + 10 * is_known(), kernel
        one, other = (x if isinstance(x, tuple) else (x,) for x in (again, first))
        assert all(map(np.array_equal, one, other))
        assert [sys.getrefcount(a) for a in args] == references
        assert all(map(np.array_equal, args, given))
    before = KERNELS.bubble.chain.calls
    for n in (2, 7, 300):
        y = RNG.standard_normal(n)
        np.testing.assert_array_equal(KERNELS.bubble(y), np.sort(y))
    assert KERNELS.bubble.chain.calls == before + 3 * is_known()
    shift = weft.compile("""kernel shift(x: f64[n], k: i64) -> f64[n] {
        var y = x
        for i in 0..n { y[i + k] = i }
        return y
    }""").shift
    for k in (0, 1, 0, 2, 0):
        if k:
            with pytest.raises(IndexError, match=f"index {len(x)} is out of bounds"):
                shift(x, k)
        else:
            np.testing.assert_array_equal(shift(x, k), np.arange(40.0))


def test_returns() -> None:
    x = np.array([1.0, 5, 2, 9])
    assert [int(KERNELS.first_above(x, limit)) for limit in (4.0, 8.0, 10.0)] == [1, 3, -1]
    assert KERNELS.first_above(np.zeros(0), 1.0) == -1
    a = np.arange(12).reshape(3, 4)
    assert [tuple(map(int, KERNELS.found(a, v))) for v in (7, 0, 70)] == [(1, 3), (0, 0), (-1, -1)]
    assert KERNELS.placed(a) == 103
    y, steps = KERNELS.root(np.full(3, 2.0), 20, 1e-9)
    assert steps < 10 and np.allclose(y, np.sqrt(2))
    y, steps = KERNELS.root(np.full(3, 2.0), 1, 1e-9)
    assert steps == 1 and np.array_equal(y, np.full(3, 1.5))
    assert [float(KERNELS.sign(k)) for k in (-3, 0, 3)] == [-1.5, 0, 1]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for i in 0..n { y[i] = 1; if x[i] > 0 { return y } }", "'return' can't be used in a loop"),
        ("for i in 0..n { y[i] = softmax(x)[i] }", "'softmax' can't be used in a loop"),
        ("for i in 0..n { let t: f32 = x[i]; y[i] = t }", "a declared type can't be used in a loop"),
    ],
)
def test_what_such_a_loop_can_not_have(body: str, message: str) -> None:
    kernel = weft.compile(f"kernel f(x: f64[n]) -> f64[n] {{\n var y = x\n {body}\n return y\n}}").f
    with pytest.raises(Unsupported, match=message) as caught:
        kernel(np.ones(3))
    assert caught.value.span is not None and caught.value.span.line == 3

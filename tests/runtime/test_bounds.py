"""Test Python integers that must fit a dtype, in the first call and in later ones."""

from __future__ import annotations

import numpy as np
import pytest
import weft
from weft.errors import OverflowProblem

SMALL = np.arange(3, dtype=np.int32)


def test_a_number_must_fit_the_array_it_meets() -> None:
    add = weft.jit(lambda x, k: x + k)
    whole = weft.jit(lambda x, k: x + k, whole=True)
    assert add(SMALL, 2**31 - 1).dtype == np.int32
    for number in (2**31, -(2**31) - 1, 2**40):
        with pytest.raises(OverflowError, match=f"Python integer {number} out of bounds for int32"):
            add(SMALL, number)
        with pytest.raises(OverflowProblem, match=f"'k': Python integer {number} out of bounds for i32"):
            whole(SMALL, number)
    assert add(SMALL.astype(np.int64), 2**40).tolist() == [2**40, 2**40 + 1, 2**40 + 2]
    assert add(SMALL.astype(np.float32), 2**40).dtype == np.float32


@pytest.mark.parametrize("number", [1, 2**31, -(2**40)])
def test_comparisons_and_where_take_any_number(number: int) -> None:
    both = weft.jit(lambda x, k: (x < k, k <= x, x == k, np.where(x > 1, x, k)))
    expected = (number > SMALL, number <= SMALL, number == SMALL, np.where(SMALL > 1, SMALL, number))
    for got, want in zip(both(SMALL, number), expected, strict=True):
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist()


def test_a_declared_scalar_is_checked_at_every_call() -> None:
    kernel = weft.compile("kernel times(x: f32[n], k: i32) -> f32[n] { return x * k }").times
    x = np.ones(2, np.float32)
    assert kernel(x, 3).tolist() == [3.0, 3.0]
    with pytest.raises(OverflowProblem, match="'k': Python integer 1099511627776 out of bounds for i32"):
        kernel(x, 2**40)


def test_a_number_beyond_64_bits() -> None:
    """It works with floats and, up to 2**64, with u64; a kernel for small numbers is unaffected."""
    add = weft.jit(lambda x, k: x + k)
    assert add(SMALL, 1).tolist() == [1, 2, 3]
    with pytest.raises(OverflowError):
        add(SMALL, 2**70)
    assert add(SMALL.astype(np.uint64), 2**64 - 3).tolist() == [2**64 - 3, 2**64 - 2, 2**64 - 1]
    assert add(SMALL.astype(np.float32), 2**70).tolist() == [2.0**70] * 3
    with pytest.raises(OverflowError):
        add(SMALL.astype(np.float32), 10**400)
    assert add(SMALL, 2).tolist() == [2, 3, 4]


def test_a_declared_scalar_beyond_64_bits() -> None:
    text = "kernel whole(x: u64[n], k: u64) = x + k; kernel wide(x: f64[n], k: f64) = x + k"
    kernels = weft.compile(text + "; kernel weak(x: f64[n], k: any) = x + k")
    x = SMALL.astype(np.uint64)
    for number in (5, 2**64 - 3):
        assert kernels.whole(x, number).tolist() == (x + np.uint64(number)).tolist()
    narrow = weft.compile("kernel narrow(x: i64[n], k: i64) = x + k").narrow
    for _ in range(4):  # at last natively
        assert narrow(x.astype(np.int64), -(2**63)).tolist() == [-(2**63) + k for k in range(3)]
        for number in (-(2**63) - 1, -(2**63) - 1025, 2**63, 2**64):  # the first of them is -2**63 as a float
            with pytest.raises(OverflowProblem, match=f"Python integer {number} out of bounds for i64"):
                narrow(x.astype(np.int64), number)
    for number in (2**64, -1):
        with pytest.raises(OverflowProblem):
            kernels.whole(x, number)
    for number in (5, 2**63, 2**80, -(2**80)):
        assert kernels.wide(x.astype(np.float64), number).tolist() == (x.astype(np.float64) + number).tolist()
    assert kernels.weak(np.ones(1), 2**62).tolist() == [2.0**62]
    with pytest.raises(OverflowProblem):
        kernels.weak(np.ones(1), 2**63)
    with pytest.raises(OverflowProblem, match="1329 bits"):
        kernels.wide(np.ones(1), 10**400)

"""Python integers that must fit a dtype, at the first call and at every later one."""

from __future__ import annotations

import numpy as np
import pytest
import weft
from weft.errors import OverflowProblem

SMALL = np.arange(3, dtype=np.int32)


def test_a_number_must_fit_the_array_it_meets() -> None:
    add = weft.jit(lambda x, k: x + k)
    assert add(SMALL, 2**31 - 1).dtype == np.int32
    for number in (2**31, -(2**31) - 1, 2**40):
        with pytest.raises(OverflowProblem, match=f"'k': Python integer {number} out of bounds for i32"):
            add(SMALL, number)
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


def test_a_number_beyond_64_bits_is_refused() -> None:
    with pytest.raises(OverflowProblem, match="does not fit 64 bits"):
        weft.jit(lambda x, k: x + k)(SMALL, 2**70)

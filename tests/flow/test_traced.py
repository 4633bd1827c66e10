"""`weft.while_loop`, `fori_loop` and `cond` in traced functions and on arrays, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import TraceProblem, TypeProblem, Unsupported


def steps(n: int) -> int:
    count = 0
    while n > 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return count


def collatz(n: Any) -> Any:
    def step(state: Any) -> Any:
        m, count = state
        return weft.cond(m % 2 == 0, lambda x: x // 2, lambda x: 3 * x + 1, m), count + 1

    return weft.while_loop(lambda state: state[0] > 1, step, (n, 0))[1]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_elements_leave_a_loop_by_themselves(backend: str) -> None:
    n = np.arange(-2, 95).reshape(1, -1)
    counts = weft.jit(collatz, backend=backend)
    want = np.vectorize(steps)(n)
    np.testing.assert_array_equal(counts(n), want)
    total = weft.jit(lambda n: collatz(n).sum(), backend=backend)
    assert total(n) == want.sum()
    assert len(total.lower(n).kernels) == 1


def test_what_the_step_reads_is_broadcast_and_numbers_stay_weak() -> None:
    @weft.jit
    def powers(x: Any, y: Any, k: Any) -> Any:
        return weft.fori_loop(0, k, lambda i, total: total * x + y, 1.0)

    x, y = np.linspace(-1, 1, 5, dtype=np.float32), np.arange(3, dtype=np.float32)[:, None]
    want = np.ones((3, 5), np.float32)
    for _ in range(4):
        want = want * x + y
    got = powers(x, y, 4)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, want)


def test_a_step_works_on_elements() -> None:
    x = np.arange(4.0)
    with pytest.raises(Unsupported, match="works on whole arrays"):
        weft.jit(lambda x: weft.while_loop(lambda v: v > 0, lambda v: v - np.sum(v), x))(x)
    with pytest.raises(TypeProblem, match="must return 1 value, like the state, not 2"):
        weft.jit(lambda x: weft.while_loop(lambda s: s[0] > 0, lambda s: (s[0], s[0]), (x,)))(x)
    with pytest.raises(TraceProblem, match="needs at least one traced value"):
        weft.while_loop(lambda v: v > 0, lambda v: v - 1, x)

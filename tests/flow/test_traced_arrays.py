"""`weft.while_loop`, `fori_loop` and `cond` over whole arrays, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import ShapeProblem, Unsupported

RNG = np.random.default_rng(11)


def diffuse(u: Any, r: Any, steps: Any, fori: Any) -> Any:
    return fori(0, steps, lambda i, v: v + r * (np.roll(v, 1) - 2 * v + np.roll(v, -1)), u)


def dominant(a: Any, tol: Any, loop: Any) -> Any:
    def step(state: Any) -> Any:
        v, _, k = state
        w = a @ v
        w = w / np.sqrt((w * w).sum())
        return w, np.abs(w - v).max(), k + 1

    return loop(lambda state: state[1] > tol, step, (np.ones(len(a)) / len(a), np.inf, 0))


def triangle(x: Any, n: Any, fori: Any) -> Any:
    """A loop in a loop; the inner one reads the index and the state of the outer one."""

    def outer(i: Any, state: Any) -> Any:
        v, total = state
        w = fori(0, i, lambda j, w: w + v[::-1] * j, v)
        return w / w.max(), total + w.sum()

    return fori(0, n, outer, (x, 0.0))


def plain_while(cond: Any, body: Any, state: Any) -> Any:
    while cond(state):
        state = body(state)
    return state


def plain_for(lo: Any, hi: Any, body: Any, state: Any) -> Any:
    for i in range(lo, hi):
        state = body(i, state)
    return state


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_whole_arrays_are_carried(backend: str) -> None:
    heat = weft.jit(lambda u, r, steps: diffuse(u, r, steps, weft.fori_loop), backend=backend)
    power = weft.jit(lambda a, tol: dominant(a, tol, weft.while_loop), backend=backend)
    nested = weft.jit(lambda x, n: triangle(x, n, weft.fori_loop), backend=backend)
    u, a = RNG.random((7, 9)), RNG.random((12, 12))
    for _ in range(3):
        for steps in (0, 1, 4):
            np.testing.assert_array_equal(heat(u, 0.1, steps), diffuse(u, 0.1, steps, plain_for))
        v, err, k = power(a, 1e-9)
        want = dominant(a, 1e-9, plain_while)
        np.testing.assert_allclose(v, want[0], rtol=1e-12)
        assert k == want[2] and err <= 1e-9
        found, want = nested(u[0], 5), triangle(u[0], 5, plain_for)
        np.testing.assert_allclose(found[0], want[0], rtol=1e-12)
        np.testing.assert_allclose(found[1], want[1], rtol=1e-12)
    if backend == "llvm":
        assert not heat.lower(u, 0.1, 3).fallbacks
        (loop,) = (n for n in heat.lower(u, 0.1, 3).graph if n.op.name == "loop")
        assert loop.attrs["carried"] == 2  # the array and the index: where it ends is read, not carried


def test_elements_stay_elements() -> None:
    """If both readings give the same result, the loop is one elementwise op, which fuses."""
    total = weft.jit(lambda x, n: weft.fori_loop(0, n, lambda i, v: v * 0.5 + i, x).sum())
    assert len(total.lower(np.ones(5), 3).kernels) == 1


def test_only_the_side_that_is_taken_loops() -> None:
    @weft.jit
    def grow(x: Any, p: Any) -> Any:
        def doubled(v: Any) -> Any:
            return weft.while_loop(lambda s: s.sum() < 100, lambda s: s * 2, v)

        return weft.cond(p > 0, np.cumsum, doubled, x)

    ones = np.ones(4)
    np.testing.assert_array_equal(grow(ones, 1), [1, 2, 3, 4])
    np.testing.assert_array_equal(grow(ones, -1), 32 * ones)
    np.testing.assert_array_equal(grow(-ones, 1), [-1, -2, -3, -4])  # the other side would not end


def test_what_can_not_be_carried_is_told() -> None:
    x = np.arange(4.0)
    with pytest.raises(
        ShapeProblem, match=r"value 0 of the state must keep its shape, but a step turns \(\) into \(4,\)"
    ):
        weft.jit(lambda x: weft.while_loop(lambda v: np.sum(v) < 9, lambda v: v + np.cumsum(x), 0.0))(x)
    with pytest.raises(Unsupported, match="works on whole arrays"):
        weft.jit(lambda x: weft.while_loop(lambda v: v > 0, lambda v: v - np.sum(v), x))(x)

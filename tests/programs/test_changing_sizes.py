"""Test arrays whose size changes in a loop, slices with a step from data, lists of indices, and powers of ints."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from tests.programs.running import assert_same, check_piece


def option(s: float, k: float, n: int) -> Any:
    up = np.exp(0.2 * np.sqrt(1.0 / n))
    down, p = 1 / up, 0.52
    v = np.maximum(k - s * down ** np.arange(n, -1, -1) * up ** np.arange(0, n + 1), 0)
    for i in range(n - 1, -1, -1):
        v = 0.99 * (p * v[1:] + (1 - p) * v[:-1])
        v = np.maximum(v, k - s * down ** np.arange(i, -1, -1) * up ** np.arange(0, i + 1))
    return v[0]


def haar(x: Any) -> Any:
    x = x.copy()
    energy = 0.0
    while len(x) > 1:
        d = (x[::2] - x[1::2]) / 2
        x = (x[::2] + x[1::2]) / 2
        energy += (d * d).sum()
    return energy, x


def fewer(x: Any, n: int) -> Any:
    y = x * 2
    for _ in range(n):
        y = y[1:] + y[:-1]
    return y, y.shape


def more(x: Any, n: int) -> Any:
    y, rows = x[:1] + 0.0, np.zeros((1, 2))
    for i in range(n):
        y = np.append(y, y[-1] + x[i])
        rows = np.vstack((rows, rows[-1] + i))
    return y, rows


def views(x: Any) -> Any:
    total = 0.0
    while x.size > 2:
        total += x.sum()
        x = x[1:-1]
    return total


def sieve(n: int) -> Any:
    found = np.ones(n + 1, dtype=bool)
    found[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if found[i]:
            found[i * i :: i] = False
    return found


def strides(x: Any, b: Any, n: int) -> Any:
    total = 0.0
    for k in range(1, n):
        total += x[::k].sum() + x[1:-1:k].max()
        b[k::k, 1] += k
        b[::k, :] = b[::k, :] * 2 + np.arange(3)
        b[0, ::k] = k
        x[k - 1 : 9 : k] = x[k - 1 : 9 : k] * 0.5
    return total


def swaps(a: Any, i: int, j: int) -> Any:
    order = np.arange(len(a))
    for k in range(3):
        a[[i, j]] = a[[j, i]]
        a[:, [i, j]] = a[:, [j, i]]
        a[[i, -1], [0, k]] += 1.0
        order[[i, k]] = order[[k, i]]
        a[(i, j), :] *= a[[k]]
    return order, a[[0, i]]


def powers(x: Any, base: int, n: int) -> Any:
    total = 0
    for i in range(n):
        x[i] = base**i + 2**i
        total += (i - 2) ** i
    return total


def pivoted(a: Any) -> Any:
    a, order = a.copy(), np.arange(len(a))
    for k in range(len(a) - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[[k, p]] = order[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, order


def by_another_name(x: Any, n: int) -> Any:
    y, z = x, x[::-1]
    for _ in range(n):
        x[0] += 1
        y = y * 2
        z = z + y
    return y, z


def unpacked(y: Any, n: int) -> Any:
    out = np.zeros((n, 3))
    for i in range(n):
        a, b, c = y
        y = y + 0.1 * np.array([-a * b, a * b - b, b + c])
        out[i] = y
    return out


RANDOM = np.random.default_rng(7)
CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (option, [(100.0, 105.0, 9), (90.0, 105.0, 1)]),
    (haar, [(RANDOM.random(16),), (RANDOM.random(12),), (RANDOM.random(0),), (RANDOM.random(1),)]),
    (fewer, [(RANDOM.random(9), 4), (RANDOM.random(9), 0), (RANDOM.random(3), 5)]),
    (more, [(RANDOM.random(9), 4), (RANDOM.random(9), 0), (RANDOM.random(3), 5)]),
    (views, [(RANDOM.random(9),), (RANDOM.random(0),)]),
    (sieve, [(100,), (3,), (0,)]),
    (strides, [(RANDOM.random(12), np.ones((12, 3)), 5), (RANDOM.random(2), np.ones((2, 3)), 3)]),
    (swaps, [(RANDOM.random((4, 4)), 1, 3), (RANDOM.random((4, 4)), 2, -1), (RANDOM.random((3, 4)), 1, 3)]),
    (powers, [(np.zeros(80), 3, 7), (np.zeros(80), 3, 70), (np.zeros(80), -3, 9), (np.zeros(80), 0, 5)]),
    (by_another_name, [(np.ones(3), 2), (np.ones(3), 1)]),
    (unpacked, [(np.array([0.9, 0.1, 0.0]), 4), (np.ones(3), 0), (np.ones(4), 2)]),
    (pivoted, [(RANDOM.random((7, 7)),), (np.eye(3)[::-1],)]),
]
COMPILED = (option, fewer, strides, swaps, haar)  # the others only save time


@pytest.mark.parametrize("function, calls", CASES, ids=[function.__name__ for function, _ in CASES])
def test_loops_with_changing_sizes(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    """Each is one native piece, and what the piece leaves is Python's."""
    check_piece(function, *calls[0], may_fail=False)
    jitted = weft.jit(function, backend="llvm" if function in COMPILED else "reference")
    for args in (*calls, calls[0]):
        plain, given = copy.deepcopy(args), copy.deepcopy(args)
        wanted, found = _outcome(function, plain), _outcome(jitted, given)
        assert_same(wanted, found)
        assert_same(plain, given)
    assert jitted._program.whole_piece.calls


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        try:
            return function(*args)
        except (IndexError, ValueError) as error:
            return str(error)


def test_an_array_that_is_returned_twice_is_one_object() -> None:
    def twice(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x[1:] * 2
        return x, x

    first, second = weft.jit(twice)(np.ones(5), 2)
    assert first is second and first.flags.owndata

"""Test arrays that a loop replaces: behind it they are the caller's, a view, or another variable's, as in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft


def swapped(m: Any, n: int) -> Any:
    a, b = m[0], m[1]
    for _ in range(n):
        a, b = b, a
    return a, b


def last_row(m: Any, n: int) -> Any:
    y = m[0]
    for i in range(n):
        y = m[i]
    return y


def changed_behind(m: Any, n: int) -> Any:
    y = np.zeros(4)
    for i in range(n):
        y = m[i]
        m[i] *= 2
    y[0] = 7
    return m


def seen_in_the_next_step(m: Any, n: int) -> Any:
    y, x = m[0], 0.0
    for i in range(n):
        m[i - 1] += 1
        x += y.sum()
        y = m[i]
    return x


def other_variable(m: Any, n: int) -> Any:
    y, z = np.zeros(4), np.ones(4)
    for _ in range(n):
        y = z
    y[0] = 7
    return z


def two_names(m: Any, n: int) -> Any:
    y, z = np.zeros(4), np.ones(4)
    for i in range(n):
        w = z + i
        y = w
        z = w
    y[0] = 7
    return y, z


def refilled(m: Any, n: int) -> Any:
    y, t = np.zeros(4), np.ones(4)
    for i in range(n):
        t[:] = m[i]
        y = t
    return y, t


def differences(m: Any, n: int) -> Any:
    before, x = m[0], 0.0
    for i in range(n):
        x += np.abs(m[i] - before).sum()
        before = m[i]
    return x


def rotated(m: Any, n: int) -> Any:
    a, b = np.zeros(4), np.ones(4)
    for i in range(n):
        a, b = b, a + 2.0 * i
    return a, b


def without_dimensions(m: Any, n: int) -> Any:
    y = None
    for i in range(n):
        y = m[i, 1, ...]
    return y


WHOLE = (differences, rotated)
FUNCTIONS = (swapped, last_row, changed_behind, seen_in_the_next_step, other_variable, two_names, refilled, *WHOLE)


def outcome(function: Any, n: int) -> Any:
    m = np.arange(12.0).reshape(3, 4)
    found = function(m, n)
    arrays = [x for x in (found if isinstance(found, tuple) else (found,)) if isinstance(x, np.ndarray)]
    return repr(found), repr(m), [np.shares_memory(x, y) for x in arrays for y in (m, *arrays)]


@pytest.mark.parametrize("function", [*FUNCTIONS, without_dimensions])
def test_arrays_that_a_loop_replaces(function: Any) -> None:
    jitted = weft.jit(function, backend="reference")
    for n in (3, 2, 3):
        assert outcome(jitted, n) == outcome(function, n)
    assert jitted.explain().is_whole or function not in WHOLE, jitted.explain()
    assert outcome(jitted, 0) == outcome(function, 0)

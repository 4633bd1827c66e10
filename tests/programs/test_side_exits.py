"""Test loops that leave their native piece at a branch that Python runs, and what `break` leaves behind."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest
import weft

LOG: list[Any] = []


def printing(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total += x[i % x.size] * 0.5
        if i % 100 == 0:
            print(i, total)
        x[i % x.size] += 1.0
    return total, i


def branching(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n, 0, -1):
        y = x[i % x.size]
        if y > 17:
            if y > 18:
                LOG.append(i)
                continue
            if i == 38:
                break
            print("mid", i)
        elif y < 1:
            total -= 1
        total += y
        z = total * 2
    else:
        total += 1000
    return total, z


def returning(x: Any, n: int) -> Any:
    k = 0
    while k < n:
        k += 1
        x[k % x.size] += k
        if k % 50 == 3:
            LOG.append(k)
            if k > 180:
                return k, x
        elif k == 149:
            break
    else:
        LOG.append("end")
    return -1


def raising(x: Any, n: int) -> Any:
    for i in range(n):
        if x[i % x.size] > 25:
            raise ValueError(f"{i} is wrong")
        x[i % x.size] += 1
    return x


def replacing(x: Any, n: int) -> Any:
    y = x
    for i in range(n):
        y = y * 1.01 + x
        if i % 30 == 7:
            LOG.append(y.sum() > 3)
            x = x + 1
    return y, x


def seen(function: Any, x: Any, n: int) -> Any:
    """What can be seen of a call: its result or error, what it prints and logs, and its argument."""
    LOG.clear()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            result = repr(function(x, n))
        except (ValueError, UnboundLocalError) as error:
            result = repr(error)
    return result, out.getvalue(), list(LOG), x.tolist()


@pytest.mark.parametrize("function", [printing, branching, returning, raising, replacing])
def test_python_goes_on_with_the_state_of_the_loop(function: Any) -> None:
    jitted = weft.jit(function)
    for n in (350, 0, 37, 149, 500):
        for _ in range(2):
            assert seen(jitted, np.arange(20.0), n) == seen(function, np.arange(20.0), n), n
    assert jitted.explain().pieces[0].calls >= 4, jitted.explain()


def test_a_piece_that_leaves_too_often_is_left_to_python() -> None:
    def every(x: Any, n: int) -> Any:
        for i in range(n):
            x[i] += 1
            if x[i] > 0:
                LOG.append(i)

    jitted = weft.jit(every)
    for _ in range(3):
        assert seen(jitted, np.arange(50.0), 50) == seen(every, np.arange(50.0), 50)
    assert jitted.explain().pieces[0].lines != (every.__code__.co_firstlineno + 1, every.__code__.co_firstlineno + 4)

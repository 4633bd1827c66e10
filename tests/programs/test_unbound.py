"""Test variables that only a loop or a branch binds: their values, and Python's error where they have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft


def loop_variable(a: Any, n: int) -> Any:
    for k in range(n):
        a[k] += 1
    return k


def last_value(a: Any, n: int) -> Any:
    for k in range(n):
        a[k] += 1
        last = a[k] * 2
    return last


def of_while(a: Any, n: int) -> Any:
    i = 0
    while i < n:
        a[i] += 1
        at = i
        i += 1
    a[0] = 99.0
    return at


def of_inner_loop(a: Any, n: int) -> Any:
    for i in range(n):
        for j in range(i):
            a[i] += j
    return i, j


def before_break(a: Any, n: int) -> Any:
    for i in range(n):
        if a[i] > 2:
            hit = i
            break
    return hit


def after_break(a: Any, n: int) -> Any:
    for i in range(n):
        if a[i] > 2:
            break
        last = a[i] * 3
    return i, last


def of_branch(a: Any, n: int) -> Any:
    for i in range(n):
        if a[i] > 2:
            hit = i
    else:
        other = 5
    a[0] = 7.0
    return hit + other


def used_in_branch(a: Any, n: int) -> Any:
    total = a[0] * 0
    for i in range(n):
        if i % 2 == 1:
            odd = a[i]
        if i > 2:
            total += odd
    return total


FUNCTIONS = [
    loop_variable, last_value, of_while, of_inner_loop, before_break, after_break, of_branch, used_in_branch,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_errors_are_those_of_python(function: Callable[..., Any]) -> None:
    own = weft.jit(function)
    for n in (4, 0, 1, 2, 3, 6, 0, 4):
        x, y = np.arange(6.0), np.arange(6.0)
        assert _outcome(own, y, n) == _outcome(function, x, n), n
        assert x.tobytes() == y.tobytes()
    piece = own.explain().pieces[0]
    assert piece.lines[1] - piece.lines[0] >= len(function.__code__.co_varnames) - 2 and piece.calls >= 2


def _outcome(function: Callable[..., Any], x: Any, n: int) -> tuple[str, str]:
    try:
        result = function(x, n)
    except UnboundLocalError as error:
        return "UnboundLocalError", str(error)
    return str([type(part) for part in (result if isinstance(result, tuple) else (result,))]), repr(result)

"""Test results that are a Python number or a NumPy scalar, depending on data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft


def conditional_sum(a: Any) -> Any:
    total = 0.0
    for v in a:
        if v > 3:
            total += v
    return total


def from_an_int(a: Any) -> Any:
    total = 0
    for v in a:
        if v > 3:
            total += v
    return total


def best_and_place(a: Any) -> Any:
    best, at = 0, -1
    for i in range(len(a)):
        if a[i] > best:
            best = a[i]
            at = i
    return best, at


def largest(a: Any) -> Any:
    found = -1.0
    for v in a:
        found = max(found, v)
    a[:1] = 9
    return found


def smallest(a: Any) -> Any:
    found, i = float("inf"), 0
    while i < len(a):
        if a[i] < found:
            found = a[i]
        i += 1
    return found, i


def in_inner_loop(a: Any) -> Any:
    count = 0
    for i in range(len(a)):
        for j in range(i):
            if a[i] * a[j] > 6:
                count = count + a[j]
    return count, [count]


def int_or_float(a: Any) -> Any:
    found = 0
    for v in a:
        if v > 4:
            found = 0.5
    return found


def two_unsure(a: Any) -> Any:
    u, w, i = 0.0, 0, 0
    while i < len(a):
        u = a[0]
        w = w + max(u, a[i])
        i += 1
    u -= w
    return u, w


def constants(a: Any) -> Any:
    found = 1 if len(a) > 3 and a[1] > 0 else 2.5
    a[:1] = 3
    return found


FUNCTIONS = [
    conditional_sum,
    from_an_int,
    best_and_place,
    largest,
    smallest,
    in_inner_loop,
    int_or_float,
    constants,
    two_unsure,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_have_the_types_of_python(function: Callable[..., Any]) -> None:
    own = weft.jit(function)
    for array in (np.arange(6.0), np.zeros(4), np.arange(3.0), np.empty(0), -np.ones(3), np.full(3, np.nan)):
        for _ in range(2):  # the second call is native
            x, y = array.copy(), array.copy()
            assert _shown(own(y)) == _shown(function(x))
            assert x.tobytes() == y.tobytes()
    assert own.explain().pieces[0].calls >= 8  # no elements may be another case


def _shown(result: Any) -> list[tuple[type, str]]:
    parts = result if isinstance(result, tuple) else (result,)
    return [(type(part), repr(part)) for part in parts]

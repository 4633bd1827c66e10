"""Test arrays that are returned from inside a loop: they are the caller's own objects, or new ones, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft


def relaxed(u: Any, b: Any, limit: float) -> Any:
    for step in range(20):
        largest = 0.0
        for i in range(1, len(u) - 1):
            old = u[i]
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
            largest = max(largest, abs(u[i] - old))
        if largest < limit:
            return u, step, True
    return u, 20, False


def alone(a: Any, b: Any, limit: float) -> Any:
    for i in range(len(a)):
        a[i] += 1
        if a[i] > limit:
            return a
    return a


def one_of_two(a: Any, b: Any, limit: float) -> Any:
    for i in range(len(a)):
        a[i] += 1
        if a[i] > limit:
            return a
        if b[i] > limit:
            return b
    return a


def from_while(a: Any, b: Any, limit: float) -> Any:
    doubled, i = np.zeros(len(a)), 0
    while True:
        doubled[i] = a[i] * 2
        if doubled[i] > limit:
            return doubled, i
        i += 1
        if i >= len(a):
            break
    return doubled, i


def replaced(a: Any, b: Any, limit: float) -> Any:
    for i in range(len(a)):
        a = a * 2
        if a[i] > limit:
            return a
    return a


@pytest.mark.parametrize("function", [relaxed, alone, one_of_two, from_while, replaced])
def test_returned_objects_are_those_of_python(function: Callable[..., Any]) -> None:
    own = weft.jit(function)
    for limit in (3.0, 1e-3, 100.0, -5.0, 7.0):
        for _ in range(2):  # the second call is native
            plain, given = ([np.arange(6.0) ** 2, np.arange(6.0)[::-1].copy(), limit] for _ in range(2))
            assert _shown(own(*given), given) == _shown(function(*plain), plain)
            assert repr(given) == repr(plain)
    if function in (relaxed, alone):
        assert own.explain().pieces[0].calls == 10 and not own.explain().cuts


def _shown(result: Any, given: list[Any]) -> list[Any]:
    parts = result if isinstance(result, tuple) else (result,)
    return [(type(part), repr(part), [part is x for x in given]) for part in parts]

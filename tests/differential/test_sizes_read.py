"""Test that every size that a trace reads becomes a guard: traced functions are called with many sizes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from weft.function import tracing as jit

from .sizes_read import arguments, functions


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return the results, or the kind of error."""
    try:
        with np.errstate(all="ignore"):
            found = function(*args)
    except (IndexError, ValueError, TypeError, ZeroDivisionError) as error:
        kinds = (IndexError, ValueError, TypeError, ZeroDivisionError)
        return [kind.__name__ for kind in kinds if isinstance(error, kind)][:1]
    return found if isinstance(found, list) else [found]


def compare(shown: str, have: Any, want: Any) -> None:
    assert len(have) == len(want), shown
    for x, y in zip(have, want, strict=True):
        if isinstance(x, str) or isinstance(y, str):
            assert type(x) is type(y) and x == y, shown
            continue
        assert np.shape(x) == np.shape(y) and np.asarray(x).dtype == np.asarray(y).dtype, shown
        assert np.allclose(x, y, rtol=1e-12, equal_nan=True), shown


def check(name: str, function: Callable[..., Any], backend: str, random: Random, calls: int) -> None:
    compiled, history = jit(function, backend=backend), []
    for args in arguments(random, calls):
        history.append(args)
        compare(f"{name}: {history}", outcome(compiled, args), outcome(function, args))


@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_random_functions(backend: str) -> None:
    random = Random(backend)
    for name, function in functions(random, 40 if backend == "reference" else 6):
        check(name, function, backend, random, 12)


def _window(a: Any, start: Any, stop: Any, step: Any) -> Any:
    part, total = a[start:stop:step], 0.0
    for i in range(part.shape[0]):
        total = total + part[i] * part[i]
    return total


def _sum_or_difference(a: Any, b: Any) -> Any:
    return a + b if b.shape[0] > 4 else a - b


UP, DOWN, MIXED = np.arange(1.0, 11), -np.arange(1.0, 11), np.array([-1.0, 2.0, -3.0])
CHOSEN: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "first": (lambda a: a[a > 0][0], [(UP,), (DOWN,), (MIXED,), (DOWN[:0],)]),
    "third": (lambda a: np.unique(a)[2], [(UP,), (np.ones(3),), (DOWN,)]),
    "edge": (lambda a: np.pad(a[a > 0], 1, mode="edge"), [(UP,), (DOWN,), (MIXED,)]),
    "window": (_window, [(UP, 0, 0, 1), (UP, 0, 10, 1), (UP, 2, 9, 3), (UP, 5, 2, -1), (UP, 0, 1, 1)]),
    "zeros": (lambda a: np.zeros(a[a > 0].size), [(UP,), (DOWN,), (MIXED,), (UP[:4],), (UP[:5],), (UP[:6],), (UP,)]),
    "branch": (lambda a: a if a[a > 0].size else -a, [(UP,), (DOWN,), (MIXED,), (UP[:0],)]),
    "rank": (lambda a, n: np.squeeze(a[:n]), [(UP, 3), (UP, 1), (UP, 0), (UP, 5)]),
    "renamed": (_sum_or_difference, [(UP, DOWN), (MIXED, MIXED), (UP[:5], UP[:5]), (UP[:4], UP[:4])]),
    "inner": (lambda a, k: np.convolve(a, k)[1:-1] * a, [(UP, np.ones(3)), (UP[:5], MIXED), (UP, np.ones(2))]),
    "appended": (lambda a, b: np.append(np.unique(a), 0) + b, [(MIXED, UP[:4]), (UP, UP), (np.ones(3), UP[:2])]),
    "divided": (lambda a, b: np.polydiv(a, b)[0] * b, [(UP[:3], UP[:2]), (UP[:5], UP[:3]), (UP[:3], UP[:3])]),
    "twice": (lambda a, b: np.repeat(np.unique(a), 2) * b, [(MIXED, UP[:6]), (UP, UP), (UP[:2], UP[:4])]),
    "parts": (
        lambda a, i: np.array_split(a, i),
        [(UP, np.array([2, 4])), (UP, np.array([2, 4, 6])), (UP, np.array([3]))],
    ),
    "dead": (lambda a: a + np.linalg.inv(a.reshape(1, 1))[0, 0] * 0, [(UP[:1],), (np.zeros(1),)]),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_functions(name: str) -> None:
    function, calls = CHOSEN[name]
    for compiled in (jit(function), jit(function, backend="reference")):
        for args in calls * 3:
            compare(name, outcome(compiled, args), outcome(function, args))


def test_nothing_beyond_the_end_is_read() -> None:
    """The elements would be far outside of the memory of the mask's result."""
    at = 1_500_000
    compiled = jit(lambda a: a[a > 0][at])
    a = np.ones(at + 1)
    assert compiled(a) == 1.0
    for _ in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(-a)


def test_more_sizes_than_rebuilds() -> None:
    """Every number of elements needs its own graph; graphs that do not fit are no reason to give up."""
    compiled = jit(lambda a: np.arange(a[a > 0].size), backend="reference")
    for n in (*range(9), *range(9)):
        a = np.where(np.arange(9) < n, 1.0, -1.0)
        assert compiled(a).shape == (n,)
    assert compiled.signature_cache.misses <= 10

"""Test arguments and results of jitted functions besides arrays: numbers that shapes need, containers, `None`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import weft
from weft import errors

from .arrays import random
from .comparing import same

X = np.abs(random("float64", (3, 4), 1)) + 0.25  # sums of which do not cancel


class Pair(NamedTuple):
    low: Any
    high: Any


def agree(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Call one jitted function several times, compare each call with NumPy, and repeat the first calls at the end."""
    jitted = weft.jit(function)
    for args in (*calls, *calls[:2]):
        with np.errstate(all="ignore"):
            same(jitted(*args), function(*args), ulps=4)
    return jitted


def steps(x: Any, n: int) -> Any:
    for k in range(n):
        x = x * 2 + k
    return x


NUMBERS: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = [
    (lambda x, axis: np.sum(x, axis=axis), ((X, 0), (X, 1), (X, -1), (X, None), (X, (0, 1)))),
    (lambda x, axis: np.expand_dims(x, axis), ((X, 0), (X, 2), (X, np.int64(1)))),
    (lambda x, n: x.reshape(n + 1, -1), ((X, 2), (X, 1), (X, 0), (X, 11))),
    (lambda n: np.zeros(n), ((3,), (0,), (1,), ((2, 3),))),
    (lambda n, fill: np.full(n, fill), ((3, 2), (2, 2.5), (0, True), (3, 7))),
    (lambda x, n: x[:n] + np.ones(n), ((X[0], 2), (X[0], 4), (X[0], 0))),
    (lambda n: (np.hanning(n), np.hamming(n), np.blackman(n), np.bartlett(n)), ((5,), (0,), (1,), (8,))),
    (lambda n, beta: np.kaiser(n, beta), ((5, 8.6), (5, 0.0), (3, 14))),
    (lambda a, b, n: np.linspace(a, b, n), ((0.0, 1.0, 5), (2, 3, 1), (0.5, 9.0, 4))),
    (lambda a, b: np.arange(a, b), ((0, 5), (2, 3), (1.5, 4.0))),
    (lambda n, k: np.eye(n, k=k) * 2, ((3, 0), (4, 1), (2, -1))),
    (lambda x, flag: -x if flag else x, ((X, True), (X, False), (X, 0), (X, 2))),
    (lambda x, deg: np.angle(x, deg), ((X, True), (X, False))),
    (lambda x, ord: np.linalg.norm(x, ord), ((X, 1), (X, np.inf), (X, -1), (X, None), (X[0], 3))),
    (steps, ((X, 0), (X, 3), (X, 1))),
    (lambda x, n: np.round(x, n), ((X, 0), (X, 2), (X, -1))),
    (lambda x, a, b: np.swapaxes(x, a, b), ((X, 0, 1), (X, 1, 1), (X, -1, 0))),
    (lambda x, n: x * float(n) + int(n / 2), ((X, 3), (X, 2.5), (X, np.float32(1.5)))),
]


@pytest.mark.parametrize(("function", "calls"), NUMBERS)
def test_numbers_that_python_needs(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> None:
    agree(function, *calls)


def test_other_numbers_stay_inputs() -> None:
    jitted = agree(lambda x, n, scale: x.sum(axis=n) * scale, *((X, 1, scale) for scale in (1.0, 2.0, 3.5, 4.25)))
    assert jitted.signature_cache.misses == 1


def test_a_number_that_an_array_decides_is_refused() -> None:
    with pytest.raises(errors.TraceProblem, match="the truth value of a traced value"):
        weft.jit(lambda x, n: x if x[0, 0] > n else -x)(X, 1)
    with pytest.raises(errors.TraceProblem, match="the truth value of a traced value"):
        weft.jit(lambda x, n: x if n else -x)(X, np.array(1))


def test_containers_among_the_arguments() -> None:
    agree(lambda a: (np.sum(a), np.mean(a)), ([1, 2, 3],), ([1, 2.5],), ([[1, 2], [3, 4]],), ((1, 2, 3),), ([True],))
    agree(lambda a, b: np.dot(a, b) + b, ([1.0, 2.0], np.ones(2)), ([3.0, 4.0], np.ones(2)))
    agree(lambda a: np.vstack(a) * 2, ((X, X),), ([X, X, X + 1],), ((X[0], X),))
    agree(lambda a: [x * 2 for x in a][::-1], ([X, X[0]],), ((X,),), ([X, 3, 2.5],), ([X, 4, 2.5],))
    agree(lambda d, name: d[name] + d["scale"], ({"x": X, "scale": 2}, "x"), ({"x": X, "scale": 3}, "x"))
    agree(lambda p: Pair(p.high, p.low - p.high), (Pair(X, 2 * X),), (Pair(X, 1.0),))
    agree(lambda *xs: np.atleast_1d(*xs), (X,), (1.0,), (X, 2), (X, X, 3.0))
    agree(lambda x, *more: x + sum(more), (X,), (X, 1), (X, 1, X[0]))
    agree(lambda a: np.sum(a[0], axis=a[1]), ([X, 0],), ([X, 1],))
    named = weft.jit(lambda x, **more: x * more["scale"])
    same(named(X, scale=2.0), X * 2.0)
    same(named(X, scale=X), X * X)


def test_a_list_is_read_at_each_call() -> None:
    jitted, numbers = weft.jit(lambda a, x: x + a[0] + len(a)), [1]
    same(jitted(numbers, X), X + 1 + 1)
    numbers[0] = 5
    numbers.append(2)
    same(jitted(numbers, X), X + 5 + 2)
    same(jitted([1], X), X + 1 + 1)


@pytest.mark.parametrize("change", [lambda a: a.append(1), lambda a: a.reverse(), lambda a: a.__setitem__(0, 9)])
def test_a_changed_list_is_refused(change: Callable[[Any], None]) -> None:
    def function(a: Any) -> Any:
        change(a)
        return a[0]

    for given in ([X, 2 * X], [1, 2]):
        with pytest.raises(errors.TraceProblem, match="changes its argument 'a', a list, in place"):
            weft.jit(function)(given)


def test_results_of_any_structure() -> None:
    square = X[:, :3] + 4 * np.eye(3)
    agree(lambda x: None, (X,))
    agree(lambda x: (), (X,))
    agree(lambda x: (x + 1, None, [x * 2, {"a": (x, "text")}], []), (X,), (X[0],))
    agree(lambda x: Pair(x, Pair(None, x + 1)), (X,))
    agree(lambda x: (np.linalg.slogdet(x), np.linalg.qr(x), np.linalg.eig(x + x.T)), (square,))
    agree(lambda x: np.linalg.svd(x * 2), (square,))
    agree(lambda x: np.unique_counts(np.rint(x)), (X,), (X[0],))
    jitted = weft.jit(lambda x: Pair(x + 1, None))
    assert all(type(jitted(X)) is Pair for _ in range(10))


def test_bools_of_python_numpy_and_arrays() -> None:
    for function in (
        lambda b: (b + X, b & True, np.isscalar(b)),
        lambda b: b,
        lambda b: np.asarray(b),
        lambda b: (isinstance(b, np.ndarray), isinstance(b, bool), isinstance(b, np.bool_)),
    ):
        agree(function, (True,), (np.array(True),), (np.bool_(False),), (False,))

"""Test functions that write into arrays: `out=` and in-place operators, on locals and on arguments, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft import errors

from .arrays import LAYOUTS, whole
from .comparing import same

X, Y = whole("float64", (3, 4), 1), whole("float64", (3, 4), 2)
ZERO, SMALL = np.zeros((3, 4)), np.zeros((3, 4), np.float32)


def copies(args: tuple[Any, ...]) -> list[Any]:
    return [np.copy(x, order="K") if isinstance(x, np.ndarray) else x for x in args]


def agree(function: Callable[..., Any], *calls: tuple[Any, ...]) -> None:
    """Check that results and arguments are NumPy's after the call; a result that is an argument stays that argument."""
    jitted = weft.jit(function)
    for args in (*calls, *calls[:1]):
        mine, theirs = copies(args), copies(args)
        with np.errstate(all="ignore"):
            expected, found = function(*theirs), jitted(*mine)
        same(found, expected, ulps=4)
        same(*([x for x in side if isinstance(x, np.ndarray)] for side in (mine, theirs)), ulps=4)
        assert [found is x for x in mine] == [expected is x for x in theirs]


def chain(a: Any, b: Any, out: Any) -> Any:
    np.add(a, b, out)
    np.multiply(out, 2, out=out)
    out -= a
    return out


def local(a: Any, b: Any) -> Any:
    made = np.empty_like(a)
    np.subtract(a, b, made)
    np.sqrt(np.abs(made, out=made), out=made)
    return made + 1


def masked(a: Any, out: Any) -> Any:
    return np.negative(a, out=out, where=a > 0)


def reduced(a: Any, out: Any) -> Any:
    np.sum(a, 0, None, out)
    np.maximum.accumulate(out, out=out)
    return a.max(axis=0, out=out) + a.cumsum(1, None, np.zeros_like(a))[0]


def pairs(a: Any, whole_part: Any) -> Any:
    fraction, _ = np.modf(a / 2, out=(None, whole_part))
    return fraction


def operators(a: Any, b: Any) -> Any:
    a += b
    a *= a
    b -= 1
    return a - b


def in_dots(a: Any, b: Any) -> None:
    a[...] = b
    b[:] = 7


def sorted_and_filled(a: Any, b: Any, v: Any) -> Any:
    a.sort()
    b.fill(v)
    return a + b


CASES: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = [
    (lambda a, b, out: np.add(a, b, out), ((X, Y, ZERO), (X, Y, SMALL), (X, Y, np.zeros((2, 3, 4))), (X, 2, ZERO))),
    (lambda a, out: np.rint(a, out), ((X, ZERO), (X[0], ZERO[0]), (X[:1], ZERO), (X[0, :0], ZERO[0, :0]))),
    (chain, ((X, Y, ZERO), (X, 2.5, ZERO), (X, Y, np.asfortranarray(ZERO)))),
    (local, ((X, Y), (X[0], 1.5), (np.asfortranarray(X), np.asfortranarray(Y)))),
    (masked, ((X, ZERO), (X, SMALL), (X.astype(np.int32), ZERO))),
    (reduced, ((X, ZERO[0]), (X, Y[0]))),
    (lambda a, out: np.sum(a, axis=0, out=out), ((X, ZERO[0]), (X.astype(np.int32), ZERO[0]), (X, SMALL[0]))),
    (lambda a, out: np.dot(a, a.T, out=out), ((X, np.zeros((3, 3))), (X[:2], np.zeros((2, 2))))),
    (lambda a, lo, hi, out: np.clip(a, lo, hi, out), ((X, -1, 2, ZERO), (X, 0.5, 1.5, ZERO))),
    (lambda a, k, out: np.take(a, k, out=out), ((X, np.array([1, 5]), ZERO[0, :2]),)),
    (pairs, ((X, ZERO), (X[0], ZERO[0]))),
    (operators, ((X, Y), (X[0], Y[0]), (X.astype(np.int32), Y.astype(np.int32)))),
    (in_dots, ((X, Y), (X, Y[0]), (X.astype(np.int8), Y))),
    (sorted_and_filled, ((X, Y, 3), (X[0], Y[0], 2.5), (X, Y.astype(np.int32), 2.5))),
    (lambda both: np.add(both[0], 1, out=both[1]), (([X, ZERO],),)),
]


@pytest.mark.parametrize(("function", "calls"), CASES)
def test_what_is_written(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> None:
    if function is CASES[-1][0]:  # arrays in a list
        out = np.zeros((3, 4))
        assert weft.jit(function)([X, out]) is out
        return same(out, X + 1)
    return agree(function, *calls)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative"])
def test_arguments_of_any_layout(layout: str) -> None:
    a, b, out = (LAYOUTS[layout](x) for x in (X, Y, np.zeros((3, 4))))
    assert weft.jit(chain)(a, b, out) is out
    same(np.ascontiguousarray(out), (X + Y) * 2 - X)


def test_arrays_that_can_not_be_changed() -> None:
    add = weft.jit(lambda a, b, out: np.add(a, b, out))
    outside = np.zeros((3, 4))
    with pytest.raises(errors.TraceProblem, match="share memory with 'a'"):
        add(X, Y, X)
    with pytest.raises(errors.TraceProblem, match="share memory with 'b'"):
        add(Y[1:], outside[1:], outside[:-1])
    with pytest.raises(errors.ValueProblem, match="'out' must be writable"):
        add(X, Y, np.broadcast_to(np.zeros(4), (3, 4)))
    with pytest.raises(errors.TypeProblem, match="would put f64 into i32"):
        add(X, Y, np.zeros((3, 4), np.int32))
    with pytest.raises(ValueError, match="broadcast"):
        add(X, Y, np.zeros(4))
    with pytest.raises(TypeError):
        add(X, Y, 3.0)
    with pytest.raises(errors.TraceProblem, match="would write a traced value into an array"):
        weft.jit(lambda x: np.add(x, 1, out=outside))(X)
    assert not outside.any()


def view_then_change(x: Any) -> Any:
    view = x[1:]
    x += 1
    return view


def change_a_window(x: Any) -> Any:
    window = np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)
    x += 1
    return window


def change_itself(x: Any) -> Any:
    y = x.astype(x.dtype, copy=False)
    y += 1
    return x


@pytest.mark.parametrize("function", [view_then_change, change_a_window, change_itself])
def test_views_of_what_changes_are_refused(function: Callable[..., Any]) -> None:
    for given in (X, X + 1):
        with pytest.raises(errors.TraceProblem, match="in place"):
            weft.jit(lambda x: function(x))(np.copy(given))
        with pytest.raises(errors.TraceProblem, match="in place"):
            weft.jit(lambda x: function(x * 2))(given)


def test_integers_must_fit_what_they_fill() -> None:
    for function in (lambda x, n: np.full_like(x, n), lambda x, n: np.full(3, n, x.dtype), lambda x, n: x.fill(n)):
        for number in (300, -129, 2**63):
            with pytest.raises(OverflowError):
                weft.jit(function)(np.zeros(3, np.int8), number)
    with pytest.raises(OverflowError):
        weft.jit(lambda x: np.full_like(x, 300))(np.zeros(3, np.int8))
    same(weft.jit(lambda x, n: np.full_like(x, n))(np.zeros(3, np.int8), 127), np.full(3, 127, np.int8))


def test_out_that_is_an_argument_of_the_function() -> None:
    def product(a: Any, b: Any, out: Any = None) -> Any:
        return np.dot(a, b, out=out)

    jitted, out = weft.jit(product), np.zeros((3, 3))
    assert jitted(X, X.T, out=out) is out
    same(out, X @ X.T)
    same(jitted(X, X.T), X @ X.T)
    agree(lambda a, lo, hi: (np.clip(a, lo, hi, None), a.clip(lo, hi, None)), (X, -1, 2))
    agree(lambda a, lo, out: np.clip(a, lo, 2.0, out), (X, -1.0, np.zeros((2, 3, 4))))


def test_views_of_memory() -> None:
    agree(lambda a: (a.view(np.int64), a.view()), (X,), (np.asfortranarray(X),))
    agree(lambda a: (a.view(np.int32), (a * 2).view("uint64")), (X,))
    agree(lambda a: [v * 2 for v in a.flat], (X[:2, :2],), (X[:2, :3].T,))
    with pytest.raises(errors.TraceProblem, match="view"):
        weft.jit(lambda a: (a * 2).view(np.int32))(X)

"""Test second calls: they give the same results as the first, and changes are noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.errors import ValueProblem

X = np.arange(12.0).reshape(3, 4)
WIDE = np.arange(2.0**15)
GLOBAL = 2.0


def repeated(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a repeated call."""
    function(*args, **kwargs)
    before = function.chain.calls
    result = function(*args, **kwargs)
    assert function.chain.calls == before + 1, "Python served the call"
    return result


@pytest.mark.parametrize(
    "args",
    [
        (X, X), (X.T, X.T), (X[::-1, ::2], X[:, :2]), (np.asfortranarray(X), X), (X[:0], X[:0]), (np.array(3.0), X),
        (X, X[0]), (np.array(2.0), np.array(5.0)), (X, 2.5), (X, -7), (X.astype("i2"), 300), (WIDE, WIDE), (X[:1], X),
    ],
    ids=lambda args: "-".join(f"{np.shape(x)}" for x in args),
)  # fmt: skip
def test_results_are_numpys(args: tuple[Any, ...]) -> None:
    def f(x: Any, y: Any) -> Any:
        return x * y + x, (x - y).sum(), x - y

    for found, expected in zip(repeated(weft.jit(f), *args), f(*args), strict=True):
        assert type(found) is type(expected) and found.dtype == expected.dtype and np.array_equal(found, expected)
        assert found.ndim == 0 or (found.strides == expected.strides and found.flags.owndata)


@pytest.mark.parametrize("x", [X, X.T, X[:, ::2], X[:0], np.float64(2.5)], ids=np.shape)
def test_equal_expressions_are_results_of_their_own(x: Any) -> None:
    def f(x: Any) -> Any:
        return (
            x * 2,
            (x * 2).T,
            [x + 1, x * 2],
            np.concatenate([x, x]) if x.ndim else x,
            np.concatenate([x, x]) if x.ndim else x,
        )

    def flat(results: Any) -> list[Any]:
        return [results[0], results[1], *results[2], *results[3:]]

    found, expected = flat(repeated(weft.jit(f), x)), flat(f(x))
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b) and np.array_equal(a, b)
        assert a.ndim == 0 or a.size == 0 or a.strides == b.strides
    arrays = [a for a in (found[0], found[3], *found[4:]) if x.ndim]
    assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_what_must_be_converted_is_no_repetition() -> None:
    f, swapped = weft.jit(lambda x: x + 1), X.astype(">f8")
    for x in (swapped, X, swapped, np.float64(3.0), np.float64(4.0), X, swapped):
        assert np.array_equal(f(x), x + 1)


def test_other_numbers_arrays_and_sizes() -> None:
    f = weft.jit(lambda x, k: np.exp(x * 0) * k)
    for x in (X, X + 1, WIDE, X[:2], X):
        for k in (2.0, 3.0, 4):
            assert np.array_equal(f(x, k), np.full(x.shape, float(k)))
    assert f.signature_cache.misses == 4  # two ranks, and k is a float or an int


def test_numbers_that_do_not_fit() -> None:
    f = weft.jit(lambda x, k: x + k)
    narrow = X.astype("i1")
    repeated(f, narrow, 5)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        f(narrow, 300)


def test_arrays_that_are_written() -> None:
    f = weft.jit(lambda x, y: x * y + x[::-1])
    out = np.empty_like(X)
    assert repeated(f, X, X, out=out) is out and np.array_equal(out, X * X + X[::-1])
    mine = X.copy()
    assert f(mine, X, out=mine) is mine and np.array_equal(mine, X * X + X[::-1])
    out.flags.writeable = False
    with pytest.raises(ValueProblem, match="out must be writable"):
        f(X, X, out=out)


def test_values_that_are_wrong() -> None:
    f = weft.jit(lambda x, i: x[i])
    good, bad = np.array([0, 2]), np.array([0, 3])
    assert np.array_equal(repeated(f, X, good), X[good])
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        f(X, bad)


def test_names_outside_are_read_again() -> None:
    inside = 1.0

    def f(x: Any) -> Any:
        return x * GLOBAL + inside

    jitted = weft.jit(f)
    assert np.array_equal(jitted(X), X * 2 + 1)
    inside = 5.0
    assert np.array_equal(jitted(X), X * 2 + 5)
    globals()["GLOBAL"] = 4.0
    try:
        assert np.array_equal(jitted(X), X * 4 + 5)
    finally:
        globals()["GLOBAL"] = 2.0


def test_the_registry_is_asked_again() -> None:
    f = weft.jit(lambda x: np.exp(x))
    repeated(f, X)
    with weft.registry.scope():
        weft.registry.register("exp", "f64 -> f64", lambda x: x * 0 + 7)
        assert np.array_equal(f(X), np.full(X.shape, 7.0)) and np.array_equal(f(X), np.full(X.shape, 7.0))
    assert np.allclose(f(X), np.exp(X))


def test_new_sizes_need_no_python() -> None:
    f = weft.jit(lambda x: x + 1)
    for n in range(2, 60):
        assert np.array_equal(f(WIDE[:n]), WIDE[:n] + 1)
    assert f.chain.calls == 57 and f.signature_cache.hits == 57

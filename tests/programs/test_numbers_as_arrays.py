"""Test that a jitted function treats Python's numbers, lists and names as Python does, whatever it does with arrays."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

ASKED: list[Callable[[Any], Any]] = [
    lambda x: x.shape, lambda x: x.ndim, lambda x: x.size, lambda x: x.dtype, lambda x: x.T, lambda x: x.nbytes,
    lambda x: x.sum(), lambda x: x.max() + 1, lambda x: x.astype(complex), lambda x: x.copy(), lambda x: x.conjugate(),
    lambda x: x[()], lambda x: x[...], lambda x: x.real, lambda x: x.imag, lambda x: x + 1.5,
    lambda x: x.dot(x), lambda x: np.isnan(x), lambda x: ~np.isnan(x), lambda x: np.less(x, 3), lambda x: x < 3,
    lambda x: np.add(x, x), lambda x: np.add(x, x) * 2, lambda x: 1j * np.sum(x), lambda x: x ** np.int8(2),
    lambda x: str(x), lambda x: str([x, 1]), lambda x: "%s" % x,  # noqa: UP031
    lambda x: TEXT % x, lambda x: str(x + 1) + "!",
    lambda x: np.shape(x), lambda x: np.ndim(x), lambda x: np.size(x), lambda x: np.iscomplexobj(x),
]  # fmt: skip
NUMBERS = (3, 2.5, 1j, True, np.float32(2), np.complex64(1 - 1j), np.array(3.0), [1, 2], [np.ones(3), np.ones(3)])
TEXT = "<%s>"


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        made = function(*args)
        return type(made), str(made)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", ASKED, ids=lambda f: str(f.__code__.co_names))
def test_numbers_have_what_they_have_in_python(function: Callable[..., Any]) -> None:
    for value in NUMBERS:
        jitted = weft.jit(function, backend="reference")
        for _ in range(2):
            assert outcome(jitted, value) == outcome(function, value), value


def test_bools_to_a_power() -> None:
    bools = np.array([True, False])
    for exponent in (2, 3, 1, 2.0):
        for x in (bools, bools[0], np.array(True), 3):
            for function in (lambda x: x**2, lambda x: x**exponent, lambda x, n=exponent: x**n):  # noqa: B023
                assert outcome(weft.jit(function, backend="reference"), x) == outcome(function, x), (x, exponent)
                made = weft.jit(function, backend="reference")(x)
                assert getattr(made, "dtype", None) == getattr(function(x), "dtype", None), (x, exponent)


def too_large(x: Any, v: Any) -> Any:
    x[:] = 300
    return x


def negative(x: Any, v: Any) -> Any:
    x[1:] = -1
    return x


def masked(x: Any, v: Any) -> Any:
    x[x > 0] = -1
    return x


def undefined(x: Any, v: Any) -> Any:
    x[1:] = np.nan
    return x


def imaginary(x: Any, v: Any) -> Any:
    x[:] = 1j
    return x


def copied(x: Any, v: Any) -> Any:
    np.copyto(x, 2.7)
    return x


def filled(x: Any, v: Any) -> Any:
    x.fill(v)
    return x


def stored(x: Any, v: Any) -> Any:
    x[:] = v
    return x


def stored_one_by_one(x: Any, v: Any) -> Any:
    for i in range(len(x)):
        x[i] = v
    return x


FIXED = [too_large, negative, masked, undefined, imaginary, copied]
GIVEN = [-1, 300, 2.7, 1j, float("nan"), np.uint8(255), True, np.array([1, 300, -1])]


@pytest.mark.parametrize("function", [*FIXED, filled, stored, stored_one_by_one])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_numbers_that_do_not_fit_are_stored_as_in_numpy(function: Callable[..., Any]) -> None:
    for value in [0] if function in FIXED else GIVEN:
        for dtype in (np.uint8, np.int8, np.int64, np.float32, np.complex128):
            jitted = weft.jit(function, backend="reference")
            for _ in range(2):
                x, y = np.array([3, 0, 5]).astype(dtype), np.array([3, 0, 5]).astype(dtype)
                assert outcome(jitted, x, value) == outcome(function, y, value), (value, dtype)
                assert str(x) == str(y), (value, dtype)


def ravelled(x: Any) -> Any:
    y = x.ravel()
    y[0] = 7
    return y


def ravelled_row(x: Any) -> Any:
    y = np.ravel(x[1:])
    y[0] = 7
    return y


def largest_row(x: Any) -> Any:
    return x[x.sum(axis=-1).argmax()]


@pytest.mark.parametrize("function", [ravelled, ravelled_row, largest_row, lambda x: x.ravel(), lambda x: x.squeeze()])
def test_copies_and_views_are_those_of_numpy(function: Callable[..., Any]) -> None:
    a = np.arange(12.0)
    made = [lambda: a.copy(), lambda: a.copy()[::2], lambda: a.copy()[::-1], lambda: a.copy().reshape(3, 4),
            lambda: a.copy().reshape(3, 4).T, lambda: a.copy().reshape(3, 4)[:, 1], lambda: a.copy()[2:7]]  # fmt: skip
    for make in made if function is not largest_row else made[3:5]:
        jitted = weft.jit(function, backend="reference")
        for _ in range(2):
            x, y = make(), make()
            found, wanted = jitted(x), function(y)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(x, y)
            assert np.shares_memory(found, x) == np.shares_memory(wanted, y) and found.strides == wanted.strides


@weft.jit
def transformed(x: Any) -> Any:
    n = x.shape[0]
    if n == 1:
        return x
    even, odd = transformed(x[::2]), transformed(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


def test_a_function_that_calls_itself_is_not_unrolled() -> None:
    for n in (4, 16, 128):
        x = np.linspace(0.0, 1.0, n) + 0j
        np.testing.assert_allclose(transformed(x), np.fft.fft(x), atol=1e-12)
    assert transformed._program.obstacle is not None  # type: ignore[attr-defined]
    assert transformed._program.obstacle.text == "'transformed' calls itself"  # type: ignore[attr-defined]


def test_looking_for_a_name_in_numpy_does_not_warn() -> None:
    def text(x: Any) -> Any:
        return bytes(x), operator.add(x, x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert weft.jit(text)(np.arange(3, dtype=np.uint8))[0] == b"\0\1\2"

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
    lambda x: x.sum(), lambda x: x.max() + 1, lambda x: x.astype(float), lambda x: x.copy(), lambda x: x.conjugate(),
    lambda x: x[()], lambda x: x[...], lambda x: x.real, lambda x: x.imag, lambda x: x + 1.5,
    lambda x: np.shape(x), lambda x: np.ndim(x), lambda x: np.size(x), lambda x: np.iscomplexobj(x),
]  # fmt: skip
NUMBERS = (3, 2.5, 1j, True, np.float32(2), np.array(3.0), [1, 2], [np.ones(3), np.ones(3)])


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

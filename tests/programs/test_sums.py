"""Test `sum(... for k in ...)`: a native loop, or unrolled in pieces that read data from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

TERMS = 6
taken = 3


def series(x: Any) -> Any:
    return sum(np.sin(x * k) / k for k in range(1, TERMS))


def in_the_middle(x: Any) -> Any:
    y = x * TERMS
    total = sum([y * k if k % 2 else y for k in range(1, TERMS - 1) if k != 2])
    print(end="")
    return total + y


def other_name(x: Any) -> Any:
    return sum(x * taken for taken in range(TERMS))


@pytest.mark.parametrize("function", [series, in_the_middle, other_name])
def test_as_python(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, kernel = np.linspace(0, 1, 9), weft.jit(function)
    for terms in (6, 6, 3, 8):
        monkeypatch.setitem(globals(), "TERMS", terms)
        np.testing.assert_allclose(kernel(x), function(x), rtol=4e-16)
    assert "native call" in str(kernel.explain())


@pytest.mark.parametrize("terms", [25, 400])
def test_many_terms_are_one_loop(terms: int) -> None:
    x = np.linspace(0, 1, 100)
    kernel = weft.jit(lambda x: sum(np.sin(x * k) / k for k in range(1, terms)))
    np.testing.assert_allclose(kernel(x), sum(np.sin(x * k) / k for k in range(1, terms)), rtol=1e-14)
    assert "piece of loops" in str(kernel.explain()) and "1 native call" in str(kernel.explain())


def with_a_start(x: Any, n: Any) -> Any:
    k = 7
    return sum((x * k for k in range(n)), 10) + k  # the comprehension's `k` is its own


def of_the_rows(x: Any, n: Any) -> Any:
    return sum(row * n for row in x)


def nested(x: Any, n: Any) -> Any:
    return sum(x * i + j for i in range(n) for j in range(3))


def inside_a_loop(x: Any, n: Any) -> Any:
    out = np.zeros(n)
    for i in range(n):
        out[i] = sum(x[0, j] * 2 for j in range(i + 1))
    return out


def added_in_place(x: Any, n: Any) -> Any:
    y = 0
    for k in range(n):
        y += x.T * k
    return y


def added_twice(x: Any, n: Any) -> Any:
    y = 0
    for _ in range(n):
        y = y + x.real.astype(np.int8)
        y = y + x
    return y


def floats_of_python(x: Any, n: Any) -> Any:
    return x + sum(0.1 * k for k in range(n))


KINDS = [np.float32, np.float64, np.int8, np.int64, np.complex128, np.bool_]


@pytest.mark.parametrize(
    "function", [with_a_start, of_the_rows, nested, inside_a_loop, added_in_place, added_twice, floats_of_python]
)
def test_kinds_and_orders_are_numpys(function: Callable[..., Any]) -> None:
    kernel = weft.jit(function)
    for dtype in KINDS if function is not inside_a_loop else KINDS[:2]:
        base = (-np.arange(150).reshape(10, 15) % 100).astype(dtype)
        for x in (base, np.asfortranarray(base)):
            for n in (12, 12, 1, 0):
                with np.errstate(all="ignore"):
                    found, wanted = kernel(x, n), function(x, n)
                assert type(found) is type(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype, (dtype, n)
                assert np.array_equal(found, wanted), (dtype, n)
                if isinstance(wanted, np.ndarray):
                    assert found.strides == wanted.strides, (dtype, n)


def test_a_sum_of_negative_zeros_is_zero() -> None:
    x, n = np.full(5, -0.0), 70
    kernel = weft.jit(lambda x: sum(x for k in range(n)))
    assert not np.signbit(kernel(x)).any()

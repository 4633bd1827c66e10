"""Test `sum(... for k in ...)` in functions that read data from outside: pieces unroll it."""

from __future__ import annotations

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
    is_native = "native call" in str(kernel.explain())
    assert is_native == (function is not other_name)  # a name that means something outside as well stays Python's

"""Test functions that functions define: `def` and `lambda` are inlined into pieces, with the variables around them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import weft

from tests.programs.running import assert_same


def lorenz(y: Any, n: int, h: float) -> Any:
    def f(y: np.ndarray, rho: float = 28.0) -> np.ndarray:
        return np.array([10 * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    out = np.empty((n + 1, 3))
    out[0] = y
    for i in range(n):
        k1 = f(y)
        k2 = f(y + h * k1)
        y = y + h / 2 * (k1 + k2)
        out[i + 1] = y
    return out


def gate(y: Any, n: int, h: float) -> Any:
    sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    twice = lambda g, v: g(g(v))  # noqa: E731
    for _ in range(n):
        y = twice(sig, y) - h
    return y, sig(y)


def late(y: Any, n: int, h: float) -> Any:
    """It reads variables as they are when it is called, not when it is defined."""

    def f(x: float) -> float:
        return x * k + h

    k = 1.0
    for i in range(n):
        h = h * 0.5
        k = f(k) + i
        y[i % 3] += f(y[0])
    return y, k, h


def loud(y: Any, n: int, h: float) -> Any:
    """Python runs the `print`; the loop behind it is native and has the definition to itself."""

    def scaled(x: Any) -> Any:
        out = np.zeros_like(x)
        for i in range(len(x)):
            out[i] = weight(x[i]) * h
        return out

    def weight(v: float) -> float:
        if v > 0:
            return v
        return -2 * v

    print("now")
    for _ in range(n):
        y = scaled(y)
    return y, weight(h), scaled


def own_names(y: Any, n: int, h: float) -> Any:
    """Its parameters and variables hide those around it."""
    box = BOX

    def f(box: Any) -> Any:
        h = 3.0
        n = box * h
        return n + 0

    for i in range(n):
        y[i % 3] = f(y[0]) * h + BOX.w + box.w
    return y, h, n


def chosen(y: Any, n: int, h: float) -> Any:
    if n > 3:

        def f(x: Any) -> Any:
            return x + 1
    else:

        def f(x: Any) -> Any:
            return x - 1

    for i in range(n):
        y = f(y)

        def f(x: Any, i: int = i) -> Any:
            return x * 0.5 + i

    return y


def recursive(y: Any, n: int, h: float) -> Any:
    def down(x: Any, k: int) -> Any:
        return x if k == 0 else down(x * h, k - 1)

    for _ in range(n):
        y = down(y, 2)
    return y


def counted(y: Any, n: int, h: float) -> Any:
    calls = 0

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x * h

    for _ in range(n):
        y = f(y)
    return y, calls


def changed(y: Any, n: int, h: float) -> Any:
    def f(x: Any, by: float = 1.0) -> Any:
        return x * by

    f.__defaults__ = (h,)
    for _ in range(n):
        y = f(y)
    return y


BOX = SimpleNamespace(w=2.0)
NATIVE = (lorenz, gate, late)
IN_PYTHON = (loud, own_names, chosen, recursive, counted, changed)


@pytest.mark.parametrize("function", [*NATIVE, *IN_PYTHON])
def test_functions_inside_are_as_in_python(function: Callable[..., Any]) -> None:
    jitted = weft.jit(function)
    for n in (5, 3, 0, 5):
        plain, given = copy.deepcopy((np.array([1.0, -2.0, 3.0]), n, 0.25)), (np.array([1.0, -2.0, 3.0]), n, 0.25)
        wanted, found = function(*plain), jitted(*given)
        if function is loud:
            assert found[2].__qualname__ == wanted[2].__qualname__
            assert_same(wanted[2](plain[0]), found[2](given[0]))
            wanted, found = wanted[:2], found[:2]
        assert_same(wanted, found)
        assert_same(plain, given)
    if function in NATIVE:
        assert jitted._program.whole_piece.native_calls
    if function is loud:
        assert any(piece.calls for piece in jitted._program.pieces)


def test_a_function_is_called_by_python_where_it_must(capsys: pytest.CaptureFixture[str]) -> None:
    def total(y: Any) -> float:
        def shown(x: float) -> float:
            print(x)
            return x

        s = 0.0
        for i in range(len(y)):
            s += shown(y[i])
        return s

    y = np.arange(3.0)
    assert weft.jit(total)(y) == total(y) == 3.0
    assert capsys.readouterr().out == "0.0\n1.0\n2.0\n" * 2

"""Test that names outside a function may change their meaning at any time, and that a wrong call harms no later one."""

from __future__ import annotations

import builtins
import contextlib
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import weft


class Settings:
    scale = 2.0


def doubled(x: Any, by: Any = 2.0, *, plus: Any = 1.0) -> Any:
    return x * by + plus


def tripled(x: Any, by: Any = 2.0, *, plus: Any = 1.0) -> Any:
    return x * 3 + by


def outer(x: Any) -> Any:
    return helper(x) + library.sqrt(x)


helper, library = doubled, np


def looped(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += outer(x[i]) + min(x[i], 2.0)
    return total


def pieced(x: Any) -> Any:
    y = outer(x) + len(x)
    print(end="")
    return y


def whole(x: Any) -> Any:
    return outer(x) + len(x) * math.sqrt(2.0)


def attributed(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        total += x[i] * Settings.scale
    return total


@contextlib.contextmanager
def _set(holder: Any, name: str, value: Any) -> Iterator[None]:
    before = vars(holder).get(name, holder)
    setattr(holder, name, value)
    yield
    if before is holder:
        delattr(holder, name)
    else:
        setattr(holder, name, before)


def _as_seen(name: str, result: Any) -> Any:
    """A builtin that gives something else to the functions of this file only: Weft itself calls it, too."""
    real = getattr(builtins, name)
    return lambda *args: result if sys._getframe(1).f_code.co_filename == __file__ else real(*args)


@contextlib.contextmanager
def _field(name: str, value: Any) -> Iterator[None]:
    before = getattr(doubled, name)
    setattr(doubled, name, value)
    yield
    setattr(doubled, name, before)


@contextlib.contextmanager
def _item() -> Iterator[None]:
    assert doubled.__kwdefaults__ is not None
    doubled.__kwdefaults__["plus"] = 4.0
    yield
    doubled.__kwdefaults__["plus"] = 1.0


HERE = sys.modules[__name__]
CHANGES = {
    "a helper": lambda: _set(HERE, "helper", tripled),
    "its code": lambda: _field("__code__", tripled.__code__),
    "its defaults": lambda: _field("__defaults__", (5.0,)),
    "its keyword defaults": lambda: _field("__kwdefaults__", {"plus": 3.0}),
    "one keyword default": _item,
    "len in the module": lambda: _set(HERE, "len", lambda x: 2),
    "min in the module": lambda: _set(HERE, "min", lambda a, b: 7.0),
    "len": lambda: _set(builtins, "len", _as_seen("len", 2)),
    "range": lambda: _set(builtins, "range", _as_seen("range", (0, 1))),
    "np.sqrt": lambda: _set(np, "sqrt", lambda v: v * 100),
    "a module": lambda: _set(HERE, "library", Settings),
    "math.sqrt": lambda: _set(math, "sqrt", lambda v: 3.0),
    "a class": lambda: _set(Settings, "scale", 5.0),
}


def test_names_that_change_and_change_back() -> None:
    x = np.arange(4.0)
    Settings.sqrt = staticmethod(lambda v: v * 50)  # type: ignore[attr-defined]
    functions: tuple[Any, ...] = (looped, pieced, whole)
    jitted = {function: weft.jit(function) for function in (*functions, attributed)}

    def check(what: str) -> None:
        for function in (attributed,) if what == "a class" else functions:
            compiled = jitted[function]
            for _ in (1, 2):
                assert np.allclose(compiled(x.copy()), function(x.copy())), (what, function.__name__)

    check("nothing")
    for what, change in CHANGES.items():
        with change():
            check(what)
        check(f"{what}, no more")
    for function in (looped, pieced):
        report = jitted[function].explain()
        native = report.pieces[0].calls
        jitted[function](x.copy())
        assert jitted[function].explain().pieces[0].calls == native + 1, report


def test_names_that_change_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    global helper
    monkeypatch.setattr("weft.programs.program.MOST_MEANINGS", 2)
    jitted, x = weft.jit(looped), np.arange(4.0)
    for k in range(5):
        helper = lambda v, k=k: v + k  # noqa: E731
        assert jitted(x) == looped(x)
    helper = doubled
    assert jitted(x) == looped(x)
    assert "change too often" in str(jitted.explain())


def test_own_defaults_that_change() -> None:
    def scaled(x: Any, by: Any = 2.0, *, plus: Any = 1.0) -> Any:
        return x * by + plus

    jitted, x = weft.jit(scaled), np.arange(3.0)
    for values in ((2.0, 1.0), (3.0, 1.0), (3.0, 5.0), (2.0, 1.0)):
        scaled.__defaults__ = values[:1]
        scaled.__kwdefaults__["plus"] = values[1]
        for _ in range(3):
            assert np.array_equal(jitted(x), scaled(x))


@pytest.mark.parametrize("wrong", [1, 10])
def test_wrong_calls_do_not_switch_a_piece_off(wrong: int) -> None:
    def element(a: Any, i: int) -> None:
        for k in range(3):
            a[i + k] += k

    def value(a: Any, b: Any) -> Any:
        y = np.exp(a) * b + 1
        print(end="")
        return y

    for function, right, bad in ((element, 1, 8), (value, np.ones(6), np.ones(5))):
        jitted: Any = weft.jit(function)
        for _ in range(4):
            jitted(np.ones(6), right)
        for _ in range(wrong):
            with pytest.raises((IndexError, ValueError)):
                jitted(np.ones(6), bad)
        before = jitted.explain().pieces[0]
        jitted(np.ones(6), right)
        after = jitted.explain().pieces[0]
        assert after.calls == before.calls + 1 and before.misses >= wrong


def scaled_loop(x: Any, by: Any = 2.0, *, plus: Any = 1.0) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * by + plus
    return total


def scaled_noise(x: Any, by: Any = 2.0, *, plus: Any = 1.0) -> Any:
    print(end="")
    return np.exp(x) * by + plus


plus = 100.0  # a parameter of the functions above has the same name


@pytest.mark.parametrize("function", [scaled_loop, scaled_noise])
def test_a_functions_own_code_and_defaults_may_change(function: Any) -> None:
    jitted, x = weft.jit(function), np.arange(3.0)
    before = function.__code__, function.__defaults__, function.__kwdefaults__

    def check() -> None:
        for _ in range(3):
            assert np.array_equal(jitted(x), function(x))

    check()
    function.__defaults__ = (3.0,)
    check()
    function.__kwdefaults__["plus"] = 4.0
    check()
    function.__kwdefaults__ = {"plus": 5.0}
    check()
    function.__code__ = tripled.__code__
    check()
    function.__code__, function.__defaults__, function.__kwdefaults__ = before
    check()
    assert jitted.explain().native_pieces

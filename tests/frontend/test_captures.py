"""Test guards of a trace: a change of anything that the function reads from outside is noticed, and nothing else."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from weft.frontend.tracing.captures import Captures
from weft.frontend.tracing.functions import TracedFunction

SCALE = 2.0
TABLE = {"rate": 0.5}
WEIGHTS = np.ones(3)
CONFIG = types.SimpleNamespace(scale=1.0, inner=types.SimpleNamespace(shift=1))
MODULE = types.ModuleType("settings_of_a_user")
MODULE.scale = 1.0  # type: ignore[attr-defined]


def helper(x: Any) -> Any:
    return x * SCALE


def other_helper(x: Any) -> Any:
    return x * TABLE["rate"]


def calls_helper(x: Any) -> Any:
    return helper(x) + 1


def changed(function: Callable[..., Any], change: Callable[[], None]) -> bool:
    captures = Captures(function)
    before = captures.describe()
    assert captures.describe() == before and hash(before) == hash(captures.describe())
    change()
    return captures.describe() != before


def setter(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setitem(globals(), name, value)


def test_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(lambda x: x * SCALE, setter("SCALE", 3.0, monkeypatch))
    assert changed(lambda x: x * SCALE, setter("SCALE", 3, monkeypatch))
    assert changed(lambda x: x * WEIGHTS, setter("WEIGHTS", np.ones(3), monkeypatch))
    assert not changed(lambda x: x + 1, setter("SCALE", 4.0, monkeypatch))


def test_an_equal_number_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not changed(lambda x: x * SCALE, setter("SCALE", float(str(SCALE)), monkeypatch))
    monkeypatch.setitem(globals(), "SCALE", 0.0)
    assert changed(lambda x: x * SCALE, setter("SCALE", -0.0, monkeypatch))


def test_the_contents_of_an_array_are_no_change() -> None:
    assert not changed(lambda x: x * WEIGHTS, lambda: WEIGHTS.__setitem__(0, 5))


def test_called_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(calls_helper, setter("SCALE", 9.0, monkeypatch))
    assert changed(calls_helper, setter("helper", lambda x: x, monkeypatch))


def test_a_new_function_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    captures = Captures(calls_helper)
    first = captures.describe()
    monkeypatch.setitem(globals(), "helper", other_helper)
    second = captures.describe()
    assert second != first
    monkeypatch.setitem(globals(), "TABLE", {"rate": 0.75})
    assert captures.describe() != second


def test_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(lambda x: x * TABLE["rate"], lambda: monkeypatch.setitem(TABLE, "rate", 0.25))


def test_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(lambda x: x * CONFIG.scale, lambda: monkeypatch.setattr(CONFIG, "scale", 2.0))
    assert changed(lambda x: x * CONFIG.inner.shift, lambda: monkeypatch.setattr(CONFIG.inner, "shift", 2))
    assert changed(lambda x: x * MODULE.scale, lambda: monkeypatch.setattr(MODULE, "scale", 2.0))
    assert not changed(lambda x: np.exp(x) * np.pi, lambda: None)


def test_a_new_object_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    captures = Captures(lambda x: x * CONFIG.scale)
    monkeypatch.setitem(globals(), "CONFIG", types.SimpleNamespace(scale=7.0))
    before = captures.describe()
    monkeypatch.setattr(CONFIG, "scale", 8.0)
    assert captures.describe() != before


def test_closures() -> None:
    factor, rows = 2, np.ones(2)

    def function(x: Any) -> Any:
        return [x * factor * f for f in rows]

    def change() -> None:
        nonlocal factor
        factor = 3

    assert changed(function, change)


def test_nested_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Any) -> Any:
        return sum((lambda y: y * SCALE)(x) for _ in range(2))

    assert changed(function, setter("SCALE", 5.0, monkeypatch))


class Model:
    def __init__(self) -> None:
        self.weights = np.ones(3)
        self.rate = 0.1

    def forward(self, x: Any) -> Any:
        return [self.step(x) for _ in range(2)]

    def step(self, x: Any) -> Any:
        return x * self.weights * SCALE


def test_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    assert changed(model.forward, lambda: setattr(model, "rate", 0.2))
    assert changed(model.forward, lambda: setattr(model, "weights", np.ones(3)))
    assert changed(model.forward, setter("SCALE", 6.0, monkeypatch))
    assert changed(model.forward, lambda: monkeypatch.setattr(Model, "step", lambda self, x: x))
    assert Captures(Model().forward).describe() != Captures(Model().forward).describe()


def test_recursion_and_empty_cells() -> None:
    def even(x: Any, n: int) -> Any:
        return x if n == 0 else odd(x, n - 1)

    captures = Captures(even)
    assert captures.describe() == captures.describe()

    def odd(x: Any, n: int) -> Any:
        return even(x, n - 1) * SCALE

    assert captures.describe() == captures.describe()


def test_a_wrapped_function_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Jitted:
        __wrapped__ = staticmethod(helper)

    inner = Jitted()
    assert changed(lambda x: inner(x), setter("SCALE", 8.0, monkeypatch))  # type: ignore[operator]


def test_through_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    source = TracedFunction(calls_helper)
    before = source.captures()
    monkeypatch.setitem(globals(), "SCALE", 11.0)
    assert source.captures() != before and source.select((np.ones(2),), {})[0].captures() == source.captures()

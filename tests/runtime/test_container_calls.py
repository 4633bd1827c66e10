"""Test calls with lists, tuples, dicts and objects: native once their structure is known, and right when it changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import weft
from weft.runtime.native.abi import is_known

X, Y = np.arange(4.0), np.array([3.0, -1.0, 0.5, 8.0])


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Settings:
    a: Any
    b: Any


def same(found: Any, expected: Any) -> bool:
    """Compare results with their types, bit by bit."""
    if type(found) is not type(expected):
        return False
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(same(found[k], expected[k]) for k in expected)
    return np.asarray(found).dtype == np.asarray(expected).dtype and (
        np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    )


def serves(kernel: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Check two calls, and tell whether the second was native."""
    assert same(kernel(*args, **kwargs), function(*args, **kwargs))
    before = kernel.chain.calls
    assert same(kernel(*args, **kwargs), function(*args, **kwargs))
    return bool(kernel.chain.calls == before + is_known())


CASES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "list": (lambda x, p: x * p[0] + p[-1], [(X, [Y, 2.0]), (X, [Y, -0.0]), (X, [2.0, Y]), (X, [Y, 1.0, X])]),
    "tuple": (lambda x, p: x * p[0] + p[-1], [(X, (Y, 2.0)), (X, (Y, 3)), (X, [Y, 3]), (Y, (X, True))]),
    "dict": (lambda p: p["a"] * p["b"], [({"a": X, "b": 2.0},), ({"b": 3.0, "a": X},), ({"a": X, "b": Y, "c": 1},)]),
    "order": (lambda p: sum(v / (k + 2) for k, v in enumerate(p.values())), [({1: X, 0: Y},), ({0: Y, 1: X},)]),
    "nested": (lambda p: p["q"][1]["r"] - p["s"], [({"q": [1, {"r": X}], "s": Y},), ({"q": [2, {"r": Y}], "s": Y},)]),
    "named tuple": (lambda p: p[0] - p[1], [(Pair(X, 2.0),), (Pair(Y, 1.0),), ((X, 2.0),), (Pair(2.0, X),)]),
    "spread": (lambda *p: p[0] - p[-1], [(X, Y), (Y, X), (X, 2.0), (X, 1, Y), (X, [Y][0], 2), (X,)]),
    "made": (lambda p: {k: v * 2 for k, v in p.items()}, [({"a": X, "b": Y},), ({"a": Y, "c": X},)]),
    "keys": (lambda n, x: {n: x * 2}, [(3, X), (4, X)]),
    "got": (lambda p: p.get("a") * 2 + p.get("z", 1.0), [({"a": X},), ({"a": X, "z": 2.0},)]),
    "string": (lambda x, kind: x * 2 if kind == "long" else x + 1, [(X, "long"), (X, "longer"[:4]), (X, "l")]),
    "size": (lambda x, n: np.zeros(n) + x[0], [(X, 1000), (X, int("1000")), (X, 1001)]),
    "many": (lambda x, p: x + p[0], [(X, [0.0] * 65), (X, [-0.0] * 65), (X, [float("0.0")] * 65), (X, [0] * 65)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_structures_and_values(name: str) -> None:
    function, calls = CASES[name]
    kernel = weft.jit(function)
    for args in calls:
        assert serves(kernel, function, *args)
    before = kernel.chain.calls
    for args in calls * 2:
        assert same(kernel(*args), function(*args))
    assert kernel.chain.calls == before + 2 * len(calls) * is_known()


def test_names() -> None:
    def function(x: Any, /, *p: Any, y: Any = 2.0, **more: Any) -> Any:
        return sum(p, x) * y + sum(k * v for k, v in enumerate(more.values()))

    kernel = weft.jit(function)
    for kwargs in ({"y": Y}, {"a": X, "b": Y}, {"b": X, "a": Y}, {"y": 3, "b": X, "a": Y}):
        assert serves(kernel, function, X, **kwargs)
        assert serves(kernel, function, X, Y, 3.0, **kwargs)
    assert not serves(kernel, function, X, x=Y)  # two arguments have this name
    assert serves(kernel, function, Y)


@pytest.mark.parametrize("kind", [Pair, Settings, SimpleNamespace, None])
def test_attributes(kind: Any) -> None:
    def function(x: Any, p: Any) -> Any:
        return x * p.a + p.b

    def made(a: Any, b: Any) -> Any:
        return Pair(a, b) if kind is Pair else (kind or SimpleNamespace)(a=a, b=b)

    kernel = weft.jit(function)
    if kind is None:  # another class has been seen before
        kernel(X, Settings(Y, 1.0))
    for a, b in [(Y, 2.0), (X, 3.0), (2.0, Y)]:
        assert same(kernel(X, made(a, b)), function(X, made(a, b)))
    assert kind is None or kernel._program.pieces[0].callable.signature_cache.misses == 2


def test_objects_are_released() -> None:
    leaf, key = np.ones(3), "a key"
    kernel = weft.jit(lambda p: p[key][0] + p[key][1])
    holder = {key: [leaf, 2.5]}
    out = np.empty(3)
    for _ in range(2):
        kernel(holder)
        kernel(holder, out=out)
    before = sys.getrefcount(leaf), sys.getrefcount(holder[key]), sys.getrefcount(out)
    for _ in range(50):
        kernel(holder)
        assert kernel(holder, out=out) is out
    assert (sys.getrefcount(leaf), sys.getrefcount(holder[key]), sys.getrefcount(out)) == before
    assert kernel.chain.calls >= 100 * is_known()


def test_a_failure_releases_and_says_what_is_wrong() -> None:
    leaf = np.array([0, 2, 1])
    kernel = weft.jit(lambda p: p["x"][p["at"]])
    for _ in range(3):
        kernel({"x": X, "at": leaf})
    leaf[1] = 4
    before = sys.getrefcount(leaf)
    for _ in range(5):
        with pytest.raises(IndexError, match="index 4 is out of bounds"):
            kernel({"x": X, "at": leaf})
    gc.collect()  # frames of tracebacks
    assert sys.getrefcount(leaf) == before


def test_a_changed_container_is_read_again() -> None:
    kernel = weft.jit(lambda p: p[0] * 2)
    held: list[Any] = [X]
    kernel(held), kernel(held)
    for value in (Y, np.arange(7.0), np.float32(2), 3, True, np.ones((2, 3)), np.ma.masked_array(X, [1, 0, 0, 1])):
        held[0] = value
        assert same(kernel(held), value * 2) and same(kernel(held), value * 2)
    held.append(1)
    assert same(kernel(held), held[0] * 2)

"""Test that numbers in containers are inputs: new values compile nothing, unless a shape or an axis needs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import weft

X = np.arange(24, dtype=np.float32).reshape(4, 6)


CASES: dict[str, tuple[Callable[..., Any], Sequence[Any], int]] = {
    "items": (lambda x, p: x * p[0] + p[1], [(2.0, 3.0), (4.0, 5.0), (-1.0, 0.5)], 1),
    "kinds": (lambda x, p: x * p[0] + p[1], [(2, 3.0), (4, 5.0), (4, 5)], 2),
    "array": (lambda x, p: x * np.array(p)[0], [[2.0, 3.0], [4.0, 5.0]], 1),
    "broadcast": (lambda x, p: x[:, :2] * p, [(2.0, 3.0), (4.0, 5.0)], 1),
    "added": (lambda x, p: p + x[:, :2], [[2, 3], [4, 5]], 1),
    "indices": (lambda x, p: x[:, p], [[2, 3], [4, 5]], 1),
    "taken": (lambda x, p: np.take(x, p, axis=1), [(2, 3), (4, 5)], 1),
    "nested": (lambda x, p: x[:2, :2] @ np.asarray(p), [[[2.0, 3.0], [1.0, 2.0]], [[2.0, 4.0], [1.0, 0.0]]], 1),
    "loop": (lambda x, p: sum(x * c for c in p), [[2.0, 3.0], [4.0, 5.0]], 1),
    "polynomial": (lambda x, p: np.polyval(p, x), [[2.0, 3.0], [4.0, 5.0]], 1),
    "dict": (lambda x, p: x * p["a"] + p["b"], [{"a": 2, "b": 3.0}, {"a": 4, "b": 3.5}], 1),
    "axes": (lambda x, p: x.sum(axis=p), [(0, 1), (0,), (1,)], 3),
    "shape": (lambda x, p: x.reshape(p), [(6, 4), (8, 3)], 1),
    "many": (lambda x, p: x + np.array(p).sum(), [list(range(65)), list(range(1, 66))], 2),
}


@pytest.mark.parametrize("name", CASES)
def test_new_numbers(name: str) -> None:
    function, values, compiled = CASES[name]
    kernel = weft.jit(function, whole=True)
    for value in values:
        made, expected = kernel(X, value), function(X, value)
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
    assert len(kernel.signature_cache) == compiled

"""Test `weft.scan` against the loop in plain Python, and that its loop is native."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import WeftError
from weft.scans import _loop


def average(y: Any, v: Any) -> Any:
    return 0.9 * y + 0.1 * v


def bounded(y: Any, v: Any) -> Any:
    return np.minimum(np.maximum(y + v, -1.0), 1.0)


def plain(f: Any, init: Any, x: Any, axis: int) -> Any:
    moved, y, found = np.moveaxis(x, axis, 0), init, []
    for element in moved:
        y = f(y, element)
        found.append(y)
    return np.moveaxis(np.array(found), 0, axis)


@pytest.mark.parametrize("f", [average, bounded, np.maximum, lambda y, v: y * 2 - v])
def test_against_python(f: Any) -> None:
    rng = np.random.default_rng(4)
    for shape, axis, dtype in (
        ((7,), 0, "f8"),
        ((1,), -1, "f8"),
        ((5, 40), 0, "f4"),
        ((5, 40), -1, "f8"),
        ((3, 9, 4), 1, "f8"),
    ):
        x = rng.standard_normal(shape).astype(dtype)
        found, wanted = weft.scan(f, 0.5, x, axis), plain(f, 0.5, x, axis)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_array_equal(found, wanted)


def test_the_loop_is_native() -> None:
    x = np.random.default_rng(4).random((50, 6))
    weft.scan(average, np.zeros(6), x, axis=0)
    assert "native call" in str(_loop(average).explain()) and "Python:" not in str(_loop(average).explain())


def test_edges() -> None:
    assert weft.scan(average, 0.0, np.empty((0, 3)), axis=0).shape == (0, 3)
    assert weft.scan(np.add, 0, [1, 2, 3]).tolist() == [1, 3, 6]
    with pytest.raises(WeftError, match="axis 2 is out of range for an array of 1 dimensions"):
        weft.scan(average, 0.0, np.ones(3), axis=2)
    with pytest.raises(WeftError, match="the same dtype and shape in each step"):
        weft.scan(lambda y, v: np.append(y, v), 0.0, np.ones(3))
    with pytest.raises(ZeroDivisionError):
        weft.scan(lambda y, v: 1 // 0, 0.0, np.ones(3))

"""Test that NumPy scalars and arrays without dimensions are distinguished as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x,
    lambda x: x + 1,
    lambda x: x.astype(np.float32),
    lambda x: x.T,
    lambda x: x.real,
    lambda x: x[()],
    lambda x: x[...],
    lambda x: x.reshape(1),
    lambda x: x.sum(),
    lambda x: np.where(x > 0, x, x),
    lambda x: np.squeeze(x),
    lambda x: np.round(x),
    lambda x: np.transpose(x),
    lambda x: np.ravel(x),
)


@pytest.mark.parametrize(
    "x", [np.float64(0.5), np.array(0.5), np.int8(3), np.array(3, np.int8), np.uint64(7), np.bool(True)]
)
def test_numbers_and_arrays_without_dimensions(x: Any) -> None:
    for number, function in enumerate(FUNCTIONS):
        expected, found = function(x), weft.jit(function)(x)
        assert type(found) is type(expected), number
        assert found.dtype == expected.dtype and np.array_equal(found, expected), number


def test_one_function_for_both() -> None:
    jitted = weft.jit(lambda x: x.astype(np.float32))
    for _ in range(3):
        assert isinstance(jitted(np.float64(1.5)), np.float32)
        assert isinstance(jitted(np.array(1.5)), np.ndarray)

"""Test jitted methods: compiled for each object, with a bounded number of objects kept alive."""

from __future__ import annotations

import array
import gc
import weakref
from typing import Any

import numpy as np
import pytest
import weft
from weft.function import MAX_INSTANCES


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    @weft.jit
    def apply(self, x: Any) -> Any:
        return x * self.factor


def test_each_object_has_its_own_numbers() -> None:
    double, triple = Scale(2.0), Scale(3.0)
    x = np.arange(3.0)
    assert double.apply(x).tolist() == [0.0, 2.0, 4.0]
    assert triple.apply(x).tolist() == [0.0, 3.0, 6.0]
    double.factor = 10.0
    assert double.apply(x).tolist() == [0.0, 10.0, 20.0]


def test_objects_are_not_kept_for_ever() -> None:
    first = Scale(1.0)
    gone = weakref.ref(first)
    assert first.apply is first.apply
    del first
    others = [Scale(float(k)) for k in range(MAX_INSTANCES)]
    assert all(o.apply is not None for o in others)
    gc.collect()
    assert gone() is None


class Tools:
    factor = 3.0

    @weft.jit
    @staticmethod
    def doubled(x: Any) -> Any:
        return x * 2

    @weft.jit
    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x * cls.factor


def test_the_order_of_decorators_does_not_matter() -> None:
    x = np.arange(3.0)
    for owner in (Tools, Tools()):
        assert owner.doubled(x).tolist() == [0.0, 2.0, 4.0]
        assert owner.scaled(x).tolist() == [0.0, 3.0, 6.0]


def test_a_buffer_is_not_mistaken_for_an_array() -> None:
    with pytest.raises(weft.errors.WeftError, match="must be an array of NumPy or a number, not an array"):
        weft.kernels.relu(array.array("d", [1.0]))

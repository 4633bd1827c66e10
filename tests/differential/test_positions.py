"""Test positions of extremes, and reductions that ignore NaN or look at bits, against NumPy on every path."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from weft.ir.builder import Builder
from weft.ir.errors import ValueProblem
from weft.ir.graph import Value
from weft.ir.ops import TABLE

from .arrays import LAYOUTS, random, specials
from .building import Compiled

SHAPES = ((3, 5), (7, 100), (130, 33), (2, 1100), (1, 9), (9, 1), (1, 1))
STRANGE = ("F", "strided", "negative", "repeated columns", "unaligned")


def reduction(name: str, axes: tuple[int, ...], keepdims: bool = False) -> Compiled:
    def make(b: Builder, x: Value) -> Value:
        return b.op(TABLE[name], x, axes=axes, keepdims=keepdims)

    return Compiled(make, 1)


def few(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Make numbers of which many are equal."""
    return np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)], ids=str)
def test_positions(name: str, axes: tuple[int, ...]) -> None:
    function, axis = getattr(np, name), axes[0] if len(axes) == 1 else None
    compiled = reduction(name, axes, keepdims=True)
    for dtype in ("float32", "float64", "int64", "uint8", "bool"):
        for shape in SHAPES:
            x = few(dtype, shape, 3)
            (found,) = compiled.checked(x)
            np.testing.assert_array_equal(found, function(x, axis=axis, keepdims=True))
            assert found.dtype == np.int64
    for layout in STRANGE:
        x = LAYOUTS[layout](few("float32", (19, 70), 4))
        np.testing.assert_array_equal(compiled.checked(x)[0], function(x, axis=axis, keepdims=True))


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_special_numbers(name: str) -> None:
    """The first NaN wins, zeros of either sign are equal, infinities are numbers."""
    function = getattr(np, name)
    for dtype, axes in itertools.product(("float32", "float64"), [(0,), (1,)]):
        compiled = reduction(name, axes)
        numbers = specials(dtype)
        for part in (numbers, numbers[:-1], np.array([np.nan], dtype), np.array([0.0, -0.0], dtype)):
            rng = np.random.default_rng(5)
            x = rng.choice(part, (13, 37))
            np.testing.assert_array_equal(compiled.checked(x)[0], function(x, axis=axes[0]))


def test_several_axes_count_in_c_order() -> None:
    compiled = reduction("argmax", (0, 2))
    x = few("float32", (3, 4, 5), 6)
    rows = np.moveaxis(x, 1, 0).reshape(4, 15)
    np.testing.assert_array_equal(compiled.checked(x)[0], np.argmax(rows, axis=1))


def test_position_is_one_kernel_with_what_is_around_it() -> None:
    def make(b: Builder, x: Value) -> Value:
        return b.op(TABLE["argmax"], b.op(TABLE["square"], x), axes=(1,))

    compiled = Compiled(make, 1)
    x = random("float32", (9, 40), 7)
    np.testing.assert_array_equal(compiled.checked(x)[0], np.argmax(np.square(x), axis=1))
    assert len(compiled.kernel.lower(x).kernels) == 1


def test_nothing_has_no_position() -> None:
    for name in ("argmin", "argmax"):
        compiled = reduction(name, (1,))
        for shape in ((3, 0), (0, 0)):
            with pytest.raises(ValueProblem, match=f"attempt to get {name} of an empty sequence"):
                compiled.kernel(np.ones(shape))
        assert compiled.checked(np.ones((0, 4)))[0].shape == (0,)


@pytest.mark.parametrize("name", ["fmin", "fmax"])
def test_ignoring_nan(name: str) -> None:
    ufunc = getattr(np, name)
    for axes, dtype in itertools.product([(0,), (1,), (0, 1)], ["float32", "float64", "uint16"]):
        compiled = reduction(f"reduce_{name}", axes)
        for shape in SHAPES:
            x = few(dtype, shape, 8)
            if x.dtype.kind == "f":
                x[np.random.default_rng(9).random(shape) < 0.4] = np.nan
            np.testing.assert_array_equal(compiled.checked(x)[0], ufunc.reduce(x, axis=axes))
        if np.dtype(dtype).kind == "f":
            compiled.checked(np.resize(specials(dtype), (13, 37)))
            compiled.checked(np.resize(np.array([np.nan], dtype), (3, 70)))
    with pytest.raises(ValueProblem, match=f"zero-size array to reduction operation {name} which has no identity"):
        reduction(f"reduce_{name}", (1,)).kernel(np.ones((3, 0)))


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_bits(name: str) -> None:
    ufunc = getattr(np, f"bitwise_{name}")
    for axes, dtype in itertools.product([(0,), (1,), (0, 1)], ["int64", "int8", "bool"]):
        compiled = reduction(f"reduce_{name}", axes)
        for shape in (*SHAPES, (0, 3), (3, 0)):
            x = np.random.default_rng(10).integers(0, 255, shape).astype(dtype)
            found = compiled.checked(x)[0]
            np.testing.assert_array_equal(found, ufunc.reduce(x, axis=axes))
            assert found.dtype == x.dtype

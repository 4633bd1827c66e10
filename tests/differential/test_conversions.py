"""Test `astype` between every two dtypes: NumPy's numbers, or Weft's rule if NumPy has several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import weft
from weft.backends import stated

from .arrays import random, specials
from .comparing import Everywhere, bits, same_numbers

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def numbers(dtype: str) -> Any:
    """Special numbers, numbers of every size, and halfway cases of the narrower floats."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return specials(dtype)
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 256, 400 * kind.itemsize, dtype=np.uint8).view(kind)
    sizes = (rng.uniform(1, 2, 200) * 2.0 ** rng.integers(-30, 70, 200)) * rng.choice([-1, 1], 200)
    ties = np.concatenate([(1 + k * 2.0**-12) * 2.0 ** np.arange(-26, 17) for k in (1, 3, 5)])
    nearly = np.concatenate([ties * (1 + 2.0**-30), ties * (1 - 2.0**-30)])
    with np.errstate(all="ignore"):
        return np.concatenate([specials(dtype), raw, *(x.astype(kind) for x in (sizes, ties, nearly))])


def to_all(x: Any) -> Any:
    return tuple(x.astype(dtype) for dtype in DTYPES)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_pair(dtype: str) -> None:
    x = numbers(dtype)
    kernel = weft.jit(to_all)
    assert kernel.lower(x).fallbacks == ()
    for part in (x, x[::-1], x[3::7], x[:1], x[:0]):
        found = kernel(part)
        with np.errstate(all="ignore"):
            expected = to_all(part)
        for name, a, b in zip(DTYPES, found, expected, strict=True):
            if name == "uint32" and dtype in FLOATS:
                b = stated.cast(part.real, np.dtype(name))
            assert a.dtype == b.dtype
            same_numbers(a, b)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_everywhere(dtype: str) -> None:
    Everywhere(to_all).check(numbers(dtype))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_all_halves(name: str) -> None:
    """Compute with every 16-bit float through arithmetic that NumPy does in f32."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.dtype(name))
    y = np.roll(x, 12345)

    def mix(x: Any, y: Any) -> Any:
        return x + y, x - y, x * y, x / y, -x, abs(x), np.sqrt(x), x < y, x == y, x.astype(np.float32)

    with np.errstate(all="ignore"):
        expected = mix(x, y)
    for a, b in zip(weft.jit(mix)(x, y), expected, strict=True):
        assert a.dtype == b.dtype
        same_numbers(a, b)


def test_f32_rounds_to_f16_once() -> None:
    """Convert every f32 between two neighbouring halves and at both ends of the range."""
    steps = np.arange(0, 1 << 14, dtype=np.uint32)
    starts = [0x38800000, 0x33000000, 0x33800000, 0x477FE000, 0x387FC000, 0x3F800000, 0x7F800000]
    x = np.concatenate([start + steps - np.uint32(1 << 13) for start in starts]).view(np.float32)
    found = weft.jit(lambda x: (x.astype(np.float16), x.astype(ml_dtypes.bfloat16)))(x)
    with np.errstate(all="ignore"):
        expected = x.astype(np.float16), x.astype(ml_dtypes.bfloat16)
    for a, b in zip(found, expected, strict=True):
        same_numbers(a, b)


def test_sums_of_halves_are_rounded_once() -> None:
    for name in ("float16", "bfloat16"):
        x = np.abs(random("float32", 3000, 5)).astype(name)
        found = weft.jit(lambda x: x.sum())(x)
        assert found.dtype == x.dtype
        assert bits(found) == bits(np.asarray(x.astype(np.float64).sum(), x.dtype))


def test_byte_orders_go_through_what_keeps_them() -> None:
    """What NumPy converts to another byte order keeps it in views and copies, and loses it in arithmetic."""
    functions: dict[str, Any] = {
        "back": lambda x: x.astype("f8"), "again": lambda x: x.astype(">f4"), "view": lambda x: x.view("i8"),
        "turned": lambda x: x.T[1:], "copy": lambda x: x.copy(), "sum": lambda x: x.sum() + x, "itself": lambda x: x,
        "folded": lambda x: np.where(x > 1, x, x), "asarray": lambda x: np.asarray(x, dtype="f8"),
        "like": lambda x: np.zeros_like(x), "taken": lambda x: x[[1, 0]],
    }  # fmt: skip
    x = np.arange(6.0).reshape(2, 3)
    for name, function in functions.items():
        found, expected = (f(x) for f in (weft.jit(_swapped_first(function)), _swapped_first(function)))
        assert found.dtype.str == expected.dtype.str, name
        np.testing.assert_array_equal(found, expected)


def _swapped_first(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x.astype(">f8"))

"""Test that `argmin` and `argmax` find the first extreme, wherever vectors, watched steps and chunks end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

STEP, CHUNK = 64, 32 * 64 * 16  # elements of f32
LENGTHS = (1, 2, 15, 16, 17, STEP - 1, STEP, STEP + 1, 4 * STEP, 4 * STEP + 1, 9 * STEP - 3, CHUNK - 1, CHUNK + 1)
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "bool")


@pytest.fixture(params=[3, 4], ids=["avx2", "avx512"])
def compiled(request: pytest.FixtureRequest) -> Callable[[Any], Kernel]:
    def make(function: Callable[..., Any]) -> Kernel:
        source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
        return Kernel(source, Registry(), Options(target=target.x86(request.param), verify=True))

    return make


def both(axis: int | None) -> Callable[[Any], Any]:
    return lambda x: (np.argmin(x, axis=axis), np.argmax(x, axis=axis))


def check(kernel: Kernel, function: Callable[..., Any], *args: Any) -> None:
    for found, expected in zip(kernel(*args), function(*args), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def few(shape: Any, dtype: str, seed: int) -> Any:
    """Make numbers of which many are equal, with zeros of either sign."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-2, 3, shape)
    if np.dtype(dtype).kind == "f":
        return np.where((numbers == 0) & (rng.random(shape) < 0.5), -0.0, numbers).astype(dtype)
    return (numbers if np.dtype(dtype).kind == "i" else np.abs(numbers)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(compiled: Callable[[Any], Kernel], dtype: str) -> None:
    shapes = [(3, 5), (13, 300), (300, 13), (1100, 40)]
    if dtype in ("float32", "int8"):  # what sizes of 1 change is alike for all dtypes
        shapes += [(1, 70), (70, 1), (1, 1)]
    for axis in (None, 0, 1):
        kernel = compiled(both(axis))
        for seed, shape in enumerate(shapes):
            check(kernel, both(axis), few(shape, dtype, seed))
        if axis is None:
            for seed, length in enumerate(LENGTHS):
                check(kernel, both(axis), few((length,), dtype, seed))


def places(length: int) -> Iterator[int]:
    """Return positions at the ends of vectors, steps and chunks, and some between."""
    ends = {0, 1, 16, STEP, 4 * STEP, 8 * STEP, CHUNK, length // 2, length}
    return (place for place in sorted({end + k for end in ends for k in (-1, 0)}) if 0 <= place < length)


@pytest.mark.parametrize("length", LENGTHS)
def test_every_end(compiled: Callable[[Any], Kernel], length: int) -> None:
    """Test the extreme twice, NaN twice, and an array of equal numbers."""
    kernel = compiled(both(None))
    for value, second in itertools.product((2.0, -2.0, np.nan, np.inf, -np.inf), (False, True)):
        for place in places(length):
            x = np.ones(length, np.float32)
            x[place] = value
            if second:
                x[place + (length - place) // 2 :] = value
            check(kernel, both(None), x)
    for value in (0.0, -0.0, np.inf, -np.inf, np.nan):
        check(kernel, both(None), np.full(length, value, np.float32))


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_layouts(compiled: Callable[[Any], Kernel], axis: int | None) -> None:
    """Positions are counted in C order, whatever order memory is walked in."""
    kernel = compiled(both(axis))
    for seed, shape in enumerate(((5, 7, 40), (40, 3, 70), (2, 130, 3))):
        x = few(shape, "float64", seed)
        wide = few(tuple(2 * n for n in shape), "float32", seed)
        x[x.shape[0] // 2, -1, 1] = np.nan
        orders = (
            x,
            np.asfortranarray(x),
            x[::-1, ::-1, ::-1],
            x.transpose(2, 0, 1),
            wide[::2, ::2, ::2],
            wide[:, ::2].T,
        )
        for array in (*orders, np.broadcast_to(x[:, :1], shape)):
            check(kernel, both(axis), array)


def test_one_walk_with_other_reductions(compiled: Callable[[Any], Kernel]) -> None:
    def together(x: Any, y: Any) -> Any:
        z = x * y
        return (
            np.argmax(z, axis=1),
            z.max(axis=1),
            np.argmin(z, axis=1),
            np.argmax(np.abs(x), axis=1),
            np.exp(z)[:, ::1],
        )

    kernel = compiled(together)
    x = np.random.default_rng(1).standard_normal((30, 700)).astype(np.float32)
    y = np.random.default_rng(2).standard_normal((30, 700)).astype(np.float32)
    found, expected = kernel(x, y), together(x, y)
    for a, b in zip(found[:-1], expected[:-1], strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    assert len(kernel.lower(x, y).kernels) == 1


def test_the_search_reads_what_the_walk_read(compiled: Callable[[Any], Kernel]) -> None:
    """`e` must not be kept in memory that the last walk overwrites with a result."""

    def scaled(x: Any) -> Any:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        total = e.sum(axis=1, keepdims=True)
        return e / total, np.argmax(e * total, axis=1), np.argmin(e * total, axis=1)

    x = np.random.default_rng(3).standard_normal((20, 700)).astype(np.float32)
    kernel = compiled(scaled)
    for found, expected in zip(kernel(x)[1:], (x.argmax(axis=1), x.argmin(axis=1)), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(kernel.lower(x).kernels) == 1


@pytest.mark.parametrize("axis", [0, 1])
def test_of_running_values(compiled: Callable[[Any], Kernel], axis: int) -> None:
    """The elements are running values, which only the walk itself knows."""

    def highest(x: Any) -> Any:
        return np.argmax(np.cumsum(x, axis=axis), axis=axis), np.cumsum(x, axis=axis)

    kernel = compiled(highest)
    for shape in ((30, 500), (500, 30), (3, 2), (150, 67)):
        x = few(shape, "float64", 4)
        check(kernel, highest, x)
        check(kernel, highest, np.asfortranarray(x))
    assert len(kernel.lower(x).kernels) == 1


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_the_same_for_every_number_of_threads(dtype: str) -> None:
    """The first of equals may be in any chunk."""
    before = weft.get_threads()
    x = few((1301, 998), dtype, 5)
    kernels = {axis: weft.jit(both(axis)) for axis in (None, 0, 1)}
    try:
        for count, (axis, kernel) in itertools.product((1, 2, 8), kernels.items()):
            weft.set_threads(count)
            for array in (x, np.asfortranarray(x), x * (np.arange(1301 * 998).reshape(x.shape) > 1_000_000)):
                for found, expected in zip(kernel(array), both(axis)(array), strict=True):
                    np.testing.assert_array_equal(found, expected, strict=True)
    finally:
        weft.set_threads(before)


def test_bools_end_early(compiled: Callable[[Any], Kernel]) -> None:
    """Elements after the first true one are neither read nor returned."""
    kernel = compiled(lambda x: (np.argmax(x), np.argmax(x != 0), np.argmin(~x)))
    rows = compiled(both(1))
    for length in (3, 255, 256, 257, 5000, 300_007):
        for place in (0, 1, 70, 255, 256, 4095, 131_072, 200_000, length - 1):
            if place < length:
                x = np.zeros(length, bool)
                x[place] = True
                check(kernel, lambda x: (np.argmax(x), np.argmax(x), np.argmax(x)), x)
                x[place + (length - place) // 2 :] = True
                check(kernel, lambda x: (np.argmax(x), np.argmax(x), np.argmax(x)), x)
                if length < 10_000:
                    check(rows, both(1), np.stack([x, ~x, x | True, x & False]))
                    check(rows, both(1), np.stack([x, ~x])[:, ::-1])


@pytest.mark.parametrize("count", [1, 2, 8])
def test_bools_end_early_in_whatever_thread(count: int) -> None:
    before = weft.get_threads()
    kernel = weft.jit(lambda x: (np.argmax(x), np.argmin(x)))
    try:
        weft.set_threads(count)
        for place in (0, 5, 131_071, 131_072, 1_500_000, 2_999_999):
            x = np.zeros(3_000_000, bool)
            x[[place, (place + 3_000_000) // 2, -1]] = True
            for _ in range(4):
                assert kernel(x) == (place, 1 if place == 0 else 0)
    finally:
        weft.set_threads(before)


def test_masked_stores_of_few_bytes_keep_to_their_lanes(compiled: Callable[[Any], Kernel]) -> None:
    """Vectors as wide as a count's i64 hold few bools; memory after the last result must not be written."""
    flags = (np.min, np.max, np.nanmin, np.nanmax, np.any, np.all)
    kernel = compiled(lambda x: (*(f(x, axis=0) for f in flags), np.count_nonzero(x, axis=0)))
    for columns in (2, 3, 5, 7, 9, 35):
        kept = [np.full(columns + 64, 7, np.uint8) for _ in flags]
        kernel(np.ones((4, columns), bool), out=(*(k[:columns].view(bool) for k in kept), np.empty(columns, np.int64)))
        assert all((k[:columns] == 1).all() and (k[columns:] == 7).all() for k in kept)

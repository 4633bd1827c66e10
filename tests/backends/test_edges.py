"""Test rows that begin and end anywhere in a cache line: nothing around them is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

LENGTHS = (1, 15, 16, 17, 127, 128, 129, 143, 200, 1031)


def kernel(level: int, function: Callable[..., Any] = lambda x, y: x * y + x) -> Kernel:
    source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
    return Kernel(source, Registry(), Options(target=target.x86(level)))


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_every_begin(dtype: str, level: int) -> None:
    """The result lies in the middle of other memory, one element further each time."""
    compiled = kernel(level)
    for length in LENGTHS:
        x, y = np.arange(length).astype(dtype), np.full(length, 3, dtype)
        for begin in range(64 // x.itemsize + 1):
            around = np.full(length + 130, 7, dtype)
            compiled(x, y, out=around[begin + 1 : begin + 1 + length])
            expected = np.full(length + 130, 7, dtype)
            expected[begin + 1 : begin + 1 + length] = x * y + x
            np.testing.assert_array_equal(around, expected, f"{length} from {begin}")


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
def test_every_row(level: int) -> None:
    """Rows have odd lengths, so each begins at another offset; a column is constant along them."""
    compiled = kernel(level)
    for length in LENGTHS:
        x, y = (np.random.default_rng(k).standard_normal(s).astype("f") for k, s in enumerate(((9, length), (9, 1))))
        around = np.full((9, length + 3), 7, "f")
        compiled(x, y, out=around[:, 1:-2])
        np.testing.assert_array_equal(around[:, 1:-2], x * y + x)
        np.testing.assert_array_equal(around[:, [0, -2, -1]], 7)


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int64", "bool"])
def test_reductions(dtype: str, level: int) -> None:
    """Reduce an array in any order, from every offset in a cache line; reading around it would change the result."""
    compiled = kernel(level, lambda x: (np.max(x), np.min(x), np.any(x), np.all(x), np.sum(x > 0)))
    places = kernel(level, lambda x: (np.argmax(x), np.argmin(x)))
    for length in (1, 129, 200, 33000):
        for begin in range(0, 64 // np.dtype(dtype).itemsize + 1, 1 if length < 1000 else 7):
            for inside, first, last in ((1, 1, 1), (0, 0, 0), (1, 0, 1), (1, 1, 0), (0, 1, 0), (0, 0, 1)):
                around = np.full(length + 130, 1 - inside, dtype)
                x = around[begin : begin + length]
                x[:], x[0], x[-1] = inside, first, last
                around[:begin] = around[begin + length :] = 9
                expected = (np.max(x), np.min(x), np.any(x), np.all(x), np.sum(x > 0))
                assert compiled(x) == expected, (length, begin, inside, first, last)
                assert places(x) == (np.argmax(x), np.argmin(x)), (length, begin, inside, first, last)

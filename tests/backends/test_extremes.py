"""Test `min` and `max` of floats: NaN anywhere, and zeros of both signs, at all ends of vectors and blocks."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from weft.backends import reference, stated
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

STEP, CHUNK = 64, 32 * 64 * 16  # elements of f32
LENGTHS = (1, 2, 15, 16, 17, STEP - 1, STEP, STEP + 1, 3 * STEP + 5, CHUNK + STEP + 1)


def both(x: Any) -> Any:
    return np.min(x), np.max(x)


def both_of_rows(x: Any) -> Any:
    return np.min(x, axis=1), np.max(x, axis=1), np.argmax(x, axis=1)


def kernel(function: Any, level: int) -> Kernel:
    source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
    return Kernel(source, Registry(), Options(target=target.x86(level)))


def bits(x: Any) -> tuple[bool, float, bool]:
    """Return the bits, with all NaNs alike."""
    return (True, 0.0, False) if np.isnan(x) else (False, float(x), bool(np.signbit(x)))


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_and_nan(dtype: str, level: int) -> None:
    """Put one element that differs from all others at the ends of vectors, steps and blocks."""
    compiled = kernel(both, level)
    cases = [  # the others, the one, the smallest and the largest
        (-0.0, 0.0, -0.0, 0.0), (0.0, -0.0, -0.0, 0.0), (-1.0, -0.0, -1.0, -0.0), (-1.0, 0.0, -1.0, 0.0),
        (1.0, -0.0, -0.0, 1.0), (1.0, 0.0, 0.0, 1.0), (np.inf, np.nan, np.nan, np.nan), (-0.0, np.nan, np.nan, np.nan),
        (0.0, -np.inf, -np.inf, 0.0), (-5.0, 3.0, -5.0, 3.0),
    ]  # fmt: skip
    for length in LENGTHS[1:]:
        places = sorted({p for p in (0, 1, 14, 15, 16, STEP - 1, STEP, CHUNK, length - 1) if p < length})
        for (others, one, smallest, largest), place in ((c, p) for c in cases for p in places):
            x = np.full(length, others, dtype)
            x[place] = one
            found = [bits(v) for v in compiled(x)]
            assert found == [bits(smallest), bits(largest)], (others, one, length, place)


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
def test_rows(level: int) -> None:
    """Compute an extreme beside a position in the same walk, which ends its steps more often."""
    compiled, rng = kernel(both_of_rows, level), np.random.default_rng(0)
    for length in LENGTHS[:-1]:
        x = rng.choice(np.array([-0.0, 0.0, -1.0, np.nan], "float32"), (40, length), p=[0.4, 0.1, 0.45, 0.05])
        smallest, largest, place = compiled(x)
        expected = stated.MEANINGS
        np.testing.assert_array_equal(place, np.argmax(x, axis=1))
        for found, name in ((smallest, "min"), (largest, "max")):
            assert [bits(v) for v in found] == [bits(v) for v in expected[name](x, axes=(1,))]


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
def test_columns(level: int) -> None:
    """Vectors along rows combine in three instructions: zeros, NaN and infinities of any column and in any order."""
    compiled, rng = kernel(lambda x: (np.min(x, axis=0), np.max(x, axis=0)), level), np.random.default_rng(1)
    values, chances = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf], [0.3, 0.3, 0.1, 0.1, 0.02, 0.1, 0.08]
    for dtype, (rows, columns) in product(("float32", "float64"), ((1, 17), (2, 5), (3, 64), (50, 130), (700, 33))):
        x = rng.choice(np.array(values, dtype), size=(rows, columns), p=chances)
        is_zero = x == 0
        for found, expected, sign in zip(
            compiled(x),
            (x.min(axis=0), x.max(axis=0)),
            ((is_zero & np.signbit(x)).any(axis=0), ~(is_zero & ~np.signbit(x)).any(axis=0)),
            strict=True,
        ):
            np.testing.assert_array_equal(found, expected)
            assert np.array_equal(np.signbit(found)[expected == 0], sign[expected == 0])
            assert not np.signbit(found[np.isnan(found)]).any()

"""Test accesses at affine indices against the reference: alone, in windows, and reduced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from weft.ir.builder import Builder
from weft.ir.dims import floordiv
from weft.ir.graph import Value
from weft.ir.ops import ACCESS, BROADCAST, TABLE, TRANSPOSE
from weft.ir.types import Sizes

from .arrays import LAYOUTS, random, whole
from .building import Compiled

ADD, MUL, SUM, MAX = (TABLE[n] for n in ("add", "mul", "sum", "max"))


def access(b: Builder, x: Value, shape: Any, starts: Any, steps: Any) -> Value:
    return b.op(ACCESS, x, shape=Sizes(shape), starts=Sizes(starts), steps=Sizes(steps))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "bool", "complex64"])
def test_every_kind_of_index(dtype: str) -> None:
    """Test shifted, strided, backward, diagonal, repeated, single and transposed accesses."""

    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        n, m = x.type.shape
        half = floordiv(m, 2)
        return (
            access(b, x, (n - 1, m - 2), (1, 2), (1, 0, 0, 1)),
            access(b, x, (n, half), (0, 0), (1, 0, 0, 2)),
            access(b, x, (m, n), (n - 1, 0), (0, -1, 1, 0)),
            access(b, x, (n, 3), (0, 0), (1, 0, 1, 1)),
            access(b, x, (n, 5, m), (0, 0), (1, 0, 0, 0, 0, 1)),
            access(b, x, (), (n - 1, m - 1), ()),
        )

    compiled = Compiled(make, 1)
    for n, m in ((5, 40), (33, 70)):
        x = random(dtype, (n, m), 1)
        found = compiled.checked(x)
        i = np.arange(n)[:, None]
        expected = (
            x[1:, 2:],
            x[:, : m // 2 * 2 : 2],
            x[::-1].T,
            x[i, i + np.arange(3)],
            np.repeat(x[:, None], 5, 1),
            x[-1, -1],
        )
        for a, e in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("layout", ["F", "strided", "negative", "axes turned", "unaligned"])
def test_layouts(layout: str) -> None:
    """A result is in C order, whatever the operand's order is."""

    def make(b: Builder, x: Value) -> Value:
        n, m = x.type.shape
        return access(b, x, (n - 2, 3, m), (0, 0), (1, 1, 0, 0, 0, 1))

    x = LAYOUTS[layout](random("float32", (9, 35), 9))
    (found,) = Compiled(make, 1).checked(x)
    np.testing.assert_array_equal(found, sliding_window_view(x, 3, 0).transpose(0, 2, 1))
    assert found.flags.c_contiguous


def test_accesses_of_accesses_and_of_what_is_computed() -> None:
    """Accesses of accesses and of computed values are one kernel without a copy."""

    def make(b: Builder, x: Value) -> Value:
        (n,) = x.type.shape
        windows = access(b, b.op(ADD, x, x), (n - 4, 5), (0,), (1, 1))
        again = access(b, windows, (n - 6, 3, 2), (0, 1), (1, 1, 0, 0, 0, 3))
        return b.op(TRANSPOSE, again, order=(2, 0, 1))

    compiled, x = Compiled(make, 1), random("float64", (77,), 3)
    (found,) = compiled.checked(x)
    i, j, k = np.ogrid[:71, :3, :2]
    np.testing.assert_array_equal(found, (x + x)[1 + i + j + 3 * k].transpose(2, 0, 1))
    lowered = compiled.kernel.lower(x)
    assert len(lowered.kernels) == 1 and lowered.ir(after="drop-dead").count("weft.access") == 1


def test_nothing_is_read_of_nothing() -> None:
    compiled = Compiled(lambda b, x: access(b, x, (x.type.shape[0], 3), (0,), (1, 0)), 1)
    assert compiled.checked(np.ones(0))[0].shape == (0, 3)
    assert compiled.checked(np.ones(1))[0].shape == (1, 3)


def test_windows_are_reduced_by_vectors_along_what_is_kept() -> None:
    """A convolution and a pooling do not copy their windows, and vectors run along the image's rows."""

    def make(b: Builder, x: Value, w: Value) -> tuple[Value, ...]:
        (n, m), (p, q) = x.type.shape, w.type.shape
        space = (n - p + 1, m - q + 1, p, q)
        windows = access(b, x, space, (0, 0), (1, 0, 1, 0, 0, 1, 0, 1))
        weights = b.op(BROADCAST, w, shape=Sizes(space))
        pools = access(b, x, (floordiv(n, 2), floordiv(m, 2), 2, 2), (0, 0), (2, 0, 1, 0, 0, 2, 0, 1))
        return b.op(SUM, b.op(MUL, windows, weights), axes=(2, 3)), b.op(MAX, pools, axes=(2, 3))

    compiled = Compiled(make, 2)
    for shape, kernel in (((20, 40), (3, 3)), ((9, 131), (5, 2)), ((6, 7), (3, 7))):
        x, w = whole("float32", shape, 4), whole("float32", kernel, 5)
        found, pooled = compiled.checked(x, w)
        np.testing.assert_array_equal(found, (sliding_window_view(x, kernel) * w).sum((2, 3)))
        even = x[: shape[0] // 2 * 2, : shape[1] // 2 * 2]
        np.testing.assert_array_equal(pooled, even.reshape(shape[0] // 2, 2, shape[1] // 2, 2).max((1, 3)))
    lowered = compiled.kernel.lower(whole("float32", (20, 40), 4), whole("float32", (3, 3), 5))
    assert len(lowered.kernels) == 2 and lowered.ir().count("vector = 1") == 2

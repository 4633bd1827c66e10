"""Test windows: totals in registers, several rows together, and the bits of the chain or tree in the plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.ir.builder import Builder
from weft.ir.dims import floordiv
from weft.ir.graph import Value
from weft.ir.ops import ACCESS, RESHAPE, TABLE
from weft.ir.types import Sizes
from weft.ir.windows import unrolled_lengths

from ..differential.building import Compiled

ADD, MUL, SUM, MAX, MIN, SQUARE = (TABLE[n] for n in ("add", "mul", "sum", "max", "min", "square"))


def access(b: Builder, x: Value, shape: Any, starts: Any, steps: Any) -> Value:
    return b.op(ACCESS, x, shape=Sizes(shape), starts=Sizes(starts), steps=Sizes(steps))


def same_bits(compiled: Compiled, *args: Any) -> list[Any]:
    """Return native results after checking that all CPU levels have the bits of the lowered graph."""
    found: list[Any] = []
    for level, kernel in compiled.kernels.items():
        given = kernel(*args)
        found = list(given) if isinstance(given, tuple) else [given]
        stated = reference.run(kernel.lower(*args).graph, args)
        for a, b in zip(found, stated, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"level {level}")
    return found


def conv2d(b: Builder, x: Value, w: Value) -> Value:
    (n, m), (p, q) = x.type.shape, w.type.shape
    windows = access(b, x, (n - p + 1, m - q + 1, p, q), (0, 0), (1, 0, 1, 0, 0, 1, 0, 1))
    return b.op(SUM, b.op(MUL, windows, w), axes=(2, 3))


def test_convolutions_of_every_size() -> None:
    """Test unrolled and looped windows, rows and columns left over by steps, and a single row."""
    compiled, rng = Compiled(conv2d, 2), np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        for shape, window in (
            ((12, 70), (3, 3)), ((9, 41), (2, 5)), ((23, 33), (9, 3)), ((11, 29), (3, 10)), ((7, 9), (7, 9)),
            ((3, 100), (3, 3)), ((40, 5), (3, 3)), ((6, 20), (1, 4)), ((10, 10), (8, 8)),
        ):  # fmt: skip
            x, w = rng.standard_normal(shape).astype(dtype), rng.standard_normal(window).astype(dtype)
            (found,) = same_bits(compiled, x, w)
            seen = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), window)
            np.testing.assert_allclose(
                found, (seen * w).sum((2, 3)), rtol=0, atol=1e-5 if dtype == "float32" else 1e-13
            )


def test_one_row_of_vectors_and_another_order() -> None:
    """Test a one-dimensional filter from the right: `sum[k](x[i - k] * w[k])`."""

    def make(b: Builder, x: Value, w: Value) -> Value:
        (n,), (m,) = x.type.shape, w.type.shape
        return b.op(SUM, b.op(MUL, access(b, x, (n - m + 1, m), (m - 1,), (1, -1)), w), axes=(1,))

    compiled, rng = Compiled(make, 2), np.random.default_rng(1)
    for n, m in ((300, 4), (300, 30), (17, 3)):
        x, w = rng.standard_normal(n), rng.standard_normal(m)
        (found,) = same_bits(compiled, x, w)
        np.testing.assert_allclose(found, np.convolve(x, w, "valid"), atol=1e-13)


@pytest.mark.parametrize("channels_last", [False, True])
def test_channels(channels_last: bool) -> None:
    """Rows along the output channels share loads, and later operations are in the same kernel."""

    def first(b: Builder, x: Value, w: Value, bias: Value) -> Value:
        (c, n, m), (o, _, p, q) = x.type.shape, w.type.shape
        space = (o, n - p + 1, m - q + 1, c, p, q)
        taps = access(b, x, space, (0, 0, 0), (0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1))
        weights = b.op(RESHAPE, w, shape=Sizes((o, 1, 1, c, p, q)))
        total = b.op(SUM, b.op(MUL, taps, weights), axes=(3, 4, 5))
        return b.op(TABLE["maximum"], b.op(ADD, total, b.op(RESHAPE, bias, shape=Sizes((o, 1, 1)))), bias_zero(b))

    def last(b: Builder, x: Value, w: Value, bias: Value) -> Value:
        (n, m, c), (p, q, _, o) = x.type.shape, w.type.shape
        space = (n - p + 1, m - q + 1, o, p, q, c)
        taps = access(b, x, space, (0, 0, 0), (1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1))
        weights = access(
            b, w, space, (0,) * 4, (*(0, 0, 0, 1, 0, 0), *(0, 0, 0, 0, 1, 0), *(0,) * 5, 1, 0, 0, 1, 0, 0, 0)
        )
        total = b.op(SUM, b.op(MUL, taps, weights), axes=(3, 4, 5))
        return b.op(TABLE["maximum"], b.op(ADD, total, bias), bias_zero(b))

    def bias_zero(b: Builder) -> Value:
        from weft.ir.dtypes import F32

        return b.constant(0.0, F32)

    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, 9, 40)).astype(np.float32)
    w = rng.standard_normal((11, 3, 3, 2)).astype(np.float32)
    bias = rng.standard_normal(11).astype(np.float32)
    seen = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (1, 2))
    wanted = np.maximum(np.einsum("cyxpq,ocpq->oyx", seen, w) + bias[:, None, None], 0)
    if channels_last:
        x, w, wanted = (
            np.ascontiguousarray(a) for a in (x.transpose(1, 2, 0), w.transpose(2, 3, 1, 0), wanted.transpose(1, 2, 0))
        )
    compiled = Compiled(last if channels_last else first, 3)
    (found,) = same_bits(compiled, x, w, bias)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert len(compiled.kernel.lower(x, w, bias).kernels) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8", "bool"])
def test_pooling(dtype: str) -> None:
    """Test several reductions of one window with step 2; a plain sum keeps its tree of blocks."""

    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        n, m = x.type.shape
        space = (floordiv(n - 1, 2), floordiv(m - 1, 2), 3, 3)
        windows = access(b, x, space, (0, 0), (2, 0, 1, 0, 0, 2, 0, 1))
        return tuple(b.op(op, windows, axes=(2, 3)) for op in (MAX, MIN, SUM))

    compiled, rng = Compiled(make, 1), np.random.default_rng(3)
    for shape in ((12, 75), (41, 8)):
        x = (rng.standard_normal(shape) * 50).astype(dtype)
        found = same_bits(compiled, x)
        seen = np.lib.stride_tricks.sliding_window_view(x, (3, 3))[::2, ::2]
        np.testing.assert_array_equal(found[0], seen.max((2, 3)))
        np.testing.assert_array_equal(found[1], seen.min((2, 3)))


def test_short_axes_that_are_kept_are_no_windows() -> None:
    """A correlation at a few lags reduces the long axis, so vectors run along it."""

    def make(b: Builder, x: Value, lags: Value) -> Value:
        (n,), (m,) = x.type.shape, lags.type.shape
        moved = access(b, x, (m, n - m + 1), (0,), (1, 1))
        still = access(b, x, (m, n - m + 1), (0,), (0, 1))
        return b.op(SUM, b.op(MUL, moved, still), axes=(1,))

    compiled, x = Compiled(make, 2), np.random.default_rng(4).standard_normal(500)
    (found,) = same_bits(compiled, x, np.zeros(4))
    np.testing.assert_allclose(found, [(x[k : 497 + k] * x[:497]).sum() for k in range(4)])
    assert "vector = 1" in compiled.kernel.lower(x, np.zeros(4)).ir()


def test_what_becomes_straight_code() -> None:
    assert unrolled_lengths([3, 3]) == (3, 3)
    assert unrolled_lengths([9, 7]) == (0, 7)
    assert unrolled_lengths([8, 8]) == (0, 8)
    assert unrolled_lengths([2, 9, 3]) == (0, 0, 3)
    assert unrolled_lengths([0, 3]) == (0, 3)


def test_index_notation_is_one_chain() -> None:
    """The product and its sum are found whatever views the front end puts between them."""
    kernel = weft.kernels.conv2d_nchw
    x, w = (np.random.default_rng(5).standard_normal(s).astype(np.float32) for s in ((1, 5, 9, 40), (7, 5, 3, 3)))
    lowered = kernel.lower(x, w)
    np.testing.assert_array_equal(kernel(x, w), reference.run(lowered.graph, [x, w])[0])
    assert "chained" in lowered.ir() and "rows together" in str(lowered.explain())


def test_an_axis_that_is_cut_is_no_window() -> None:
    """Rows of a reshape follow one another, so they keep their vectors and their tree."""
    lowered = weft.jit(lambda x: (x * x).reshape(-1, 32).sum(axis=1)).lower(np.ones(320))
    assert "vector = 1" in lowered.ir() and "chained" not in lowered.ir()

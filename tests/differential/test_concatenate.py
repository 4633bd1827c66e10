"""Test concatenations: every piece is written directly into its place, and nothing else is allocated."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.builder import Builder
from weft.ir.dtypes import F32
from weft.ir.graph import Value
from weft.ir.ops import BROADCAST, CAST, CONCATENATE, IOTA, TABLE, TRANSPOSE
from weft.ir.types import Sizes

from .arrays import LAYOUTS, random, whole
from .building import Compiled
from .comparing import same

EXP, ADD, SUM, SQUARE = (TABLE[n] for n in ("exp", "add", "sum", "square"))
DTYPES = ("float32", "float64", "int8", "uint16", "bool", "float16", "complex64", "complex128")


def join(b: Builder, *pieces: Value, axis: int = 0) -> Value:
    return b.op(CONCATENATE, *pieces, axis=axis)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_arguments(axis: int) -> None:
    compiled = Compiled(lambda b, x, y: join(b, x, y, axis=axis), 2)
    shapes = [((2, 3, 4), (2, 3, 4)), ((1, 1, 5), (1, 1, 5)), ((3, 1, 1), (3, 1, 1)), ((0, 3, 2), (0, 3, 2))]
    for dtype in DTYPES:
        for first, second in shapes if dtype in ("float32", "int8", "complex64") else shapes[:1]:
            longer = tuple(n + 2 if k == axis else n for k, n in enumerate(second))
            x, y = random(dtype, first, 1), random(dtype, longer, 2)
            same(compiled.checked(x, y)[0], np.concatenate([x, y], axis))
    for layout, other in (("F", "F"), ("C", "F"), ("negative", "strided"), ("axes turned", "C"), ("F", "strided")):
        x, y = LAYOUTS[layout](random("float32", (5, 6, 17), 3)), LAYOUTS[other](random("float32", (5, 6, 17), 4))
        same(compiled.checked(x, y)[0], np.concatenate([x, y], axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_computed_pieces(axis: int) -> None:
    """Pieces are elementwise, broadcast, reduced, numbered and constant, with an argument among them."""

    def make(b: Builder, x: Value, y: Value) -> Value:
        total = b.op(SUM, x, axes=(axis,), keepdims=True)
        count = b.op(CAST, b.op(IOTA, shape=Sizes(x.type.shape), axis=1), to=F32)
        ones = b.op(BROADCAST, b.constant(1.0, F32), shape=Sizes(x.type.shape))
        return join(b, b.op(SQUARE, x), total, y, b.op(ADD, x, total), count, ones, axis=axis)

    compiled = Compiled(make, 2)
    for shape in ((3, 5), (17, 33), (1, 4), (70, 2)):
        x, y = whole("float32", shape, 5), whole("float32", shape, 6)
        found = compiled.checked(x, y)[0]
        total = x.sum(axis=axis, keepdims=True)
        count = np.broadcast_to(np.arange(shape[1], dtype=np.float32), shape)
        expected = np.concatenate([np.square(x), total, y, x + total, count, np.ones_like(x)], axis)
        same(found, expected)


def test_one_piece_twice() -> None:
    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        piece = b.op(SQUARE, x)
        return join(b, piece, x, piece, x, axis=1), join(b, piece, piece)

    compiled = Compiled(make, 1)
    x = random("float64", (4, 9), 7)
    wide, tall = compiled.checked(x)
    square = np.square(x)
    same(wide, np.concatenate([square, x, square, x], 1))
    same(tall, np.concatenate([square, square]))


def test_a_piece_that_is_a_result_too() -> None:
    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        piece = b.op(SQUARE, x)
        return piece, join(b, piece, x), x

    compiled = Compiled(make, 1)
    x = random("float32", (4, 9), 8)
    square, both, copy = compiled.checked(x)
    same((square, both, copy), (np.square(x), np.concatenate([np.square(x), x]), x))
    assert not any(np.shares_memory(a, b) for a, b in ((square, both), (both, x), (copy, x)))


def test_inside_one_another() -> None:
    def make(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
        inner = join(b, x, b.op(SQUARE, y), axis=1)
        other = join(b, y, y, axis=1)
        return join(b, inner, other, inner), other, b.op(SUM, inner, axes=(0,))

    compiled = Compiled(make, 2)
    x, y = random("int64", (3, 7), 9), random("int64", (3, 7), 10)
    inner, other = np.concatenate([x, np.square(y)], 1), np.concatenate([y, y], 1)
    same(tuple(compiled.checked(x, y)), (np.concatenate([inner, other, inner]), other, inner.sum(0)))


def test_what_reads_the_whole() -> None:
    """Consumers read the whole, one through a view, and a piece is read beside it."""

    def make(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
        piece = b.op(SQUARE, x)
        joined = join(b, piece, y, axis=1)
        turned = b.op(TRANSPOSE, joined, order=(1, 0))
        return b.op(ADD, joined, joined), b.op(SUM, turned, axes=(0,)), b.op(ADD, piece, y)

    compiled = Compiled(make, 2)
    x, y = random("int32", (5, 6), 11), random("int32", (5, 6), 12)
    joined = np.concatenate([np.square(x), y], 1)
    found = compiled.checked(x, y)
    same(found[0], joined + joined)
    np.testing.assert_array_equal(found[1], joined.T.sum(0))
    same(found[2], np.square(x) + y)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative", "rows with gaps", "unaligned"])
def test_out(layout: str) -> None:
    for axis in (0, 1):
        compiled = Compiled(lambda b, x, y, axis=axis: join(b, b.op(SQUARE, x), y, axis=axis), 2)
        x, y = random("float32", (5, 6), 13), random("float32", (5, 6), 14)
        expected = np.concatenate([np.square(x), y], axis)
        for kernel in compiled.kernels.values():
            out = LAYOUTS[layout](np.zeros_like(expected))
            assert kernel(x, y, out=out) is out
            np.testing.assert_array_equal(out, expected)


def test_out_that_is_an_argument() -> None:
    compiled = Compiled(lambda b, x, y: join(b, y, x), 2)
    memory = np.arange(12.0)
    x, y = memory[:6], memory[6:]
    compiled.kernel(x, y, out=memory)
    np.testing.assert_array_equal(memory, [*range(6, 12), *range(6)])


def test_a_size_that_numpy_makes() -> None:
    """The whole is allocated once all its sizes are known, also if the NumPy function needs the first piece."""

    @weft.jit
    def kernel(x: Any) -> Any:
        piece = x * 2
        return np.concatenate([piece, np.unique(piece), piece + 1])

    for values in ([1, 2, 2, 3], [5, 5, 5], [1.0]):
        x = np.array(values, float)
        same(kernel(x), np.concatenate([x * 2, np.unique(x * 2), x * 2 + 1]))


def test_nothing_but_the_result_is_allocated() -> None:
    compiled = Compiled(lambda b, x, y: join(b, b.op(EXP, x), join(b, b.op(SQUARE, y), x), axis=0), 2)
    x, y = random("float64", (300, 400), 15), random("float64", (300, 400), 16)
    compiled.kernel(x, y)
    tracemalloc.start()
    result = compiled.kernel(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.nbytes <= peak < 1.1 * result.nbytes
    assert len(compiled.kernel.lower(x, y).kernels) <= 3

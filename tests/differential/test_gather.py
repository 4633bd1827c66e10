"""Test lookups and `iota` against NumPy: elements and errors, for all kinds of operands and indices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.builder import Builder
from weft.ir.dtypes import F32, F64, I64
from weft.ir.errors import IndexProblem
from weft.ir.graph import Value
from weft.ir.ops import CAST, CONCATENATE, GATHER, IOTA, RESHAPE, SLICE, TABLE, TRANSPOSE
from weft.ir.types import Sizes

from .arrays import LAYOUTS, random, whole
from .building import Compiled
from .comparing import same

ADD, MUL, NEG, SQUARE, SUB, SUM = (TABLE[n] for n in ("add", "mul", "neg", "square", "sub", "sum"))
DTYPES = ("float32", "float64", "float16", "int8", "uint16", "int64", "bool", "complex64", "complex128")


def lookup(*axes: int) -> Compiled:
    return Compiled(lambda b, x, *indices: b.op(GATHER, x, *indices, axes=axes), 1 + len(axes))


def places(size: int, shape: tuple[int, ...], seed: int) -> Any:
    """Make indices from both ends."""
    return np.random.default_rng(seed).integers(-size, size, shape)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_index_array(dtype: str, axis: int) -> None:
    compiled = lookup(axis)
    shapes, targets = [(5, 6, 7), (33, 2, 19), (1, 4, 1), (3, 1, 70)], [(9,), (2, 17), (1,), ()]
    if dtype not in ("float32", "int8", "complex64"):  # what sizes of 1 change is alike for all dtypes
        shapes, targets = shapes[:2], targets[:2]
    for shape, target in itertools.product(shapes, targets):
        x = random(dtype, shape, 1)
        i = places(shape[axis], target, 2)
        np.testing.assert_array_equal(compiled.checked(x, i)[0], x[(slice(None),) * axis + (i,)])


def test_nothing_to_look_up_or_nobody_who_asks() -> None:
    compiled = lookup(0)
    assert compiled.checked(np.ones((5, 3)), np.zeros(0, int))[0].shape == (0, 3)
    assert compiled.checked(np.ones((0, 3)), np.zeros(0, int))[0].shape == (0, 3)
    assert compiled.checked(np.ones((5, 0)), np.array([1, 2]))[0].shape == (2, 0)


def test_several_index_arrays_broadcast() -> None:
    x = random("float32", (5, 6, 7), 3)
    for axes in ((0, 1), (1, 2)):
        i, j = places(x.shape[axes[0]], (9, 1), 4), places(x.shape[axes[1]], (8,), 5)
        (found,) = lookup(*axes).checked(x, i, j)
        same(found, x[(slice(None),) * axes[0] + (i, j)])
    i, j, k = places(5, (2, 1, 1), 6), places(6, (3, 1), 7), places(7, (40,), 8)
    same(lookup(0, 1, 2).checked(x, i, j, k)[0], x[i, j, k])


@pytest.mark.parametrize("layout", ["F", "strided", "rows with gaps", "negative", "axes turned", "unaligned"])
def test_layouts(layout: str) -> None:
    x = LAYOUTS[layout](random("float32", (9, 35), 9))
    for axis in (0, 1):
        i = LAYOUTS["strided"](places(x.shape[axis], (6, 20), 10))
        same(lookup(axis).checked(x, i)[0], x[(slice(None),) * axis + (i,)])


def test_views_are_looked_up_without_a_copy() -> None:
    """Views by transpose, slice and reshape are gathered in one kernel, without a copy."""

    def make(b: Builder, x: Value, i: Value) -> Value:
        n, m = x.type.shape
        turned = b.op(TRANSPOSE, x, order=(1, 0))
        part = b.op(SLICE, turned, starts=Sizes((m - 1, 0)), steps=(-1, 1), sizes=Sizes((m, n)))
        return b.op(GATHER, b.op(RESHAPE, part, shape=Sizes((m, 1, n))), i, axes=(0,))

    compiled = Compiled(make, 2)
    x, i = random("float64", (7, 50), 11), places(50, (33,), 12)
    np.testing.assert_array_equal(compiled.checked(x, i)[0], x.T[::-1].reshape(50, 1, 7)[i])
    assert len(compiled.kernel.lower(x, i).kernels) == 1


def test_one_kernel_with_indices_and_consumers() -> None:
    def make(b: Builder, x: Value, i: Value) -> tuple[Value, ...]:
        found = b.op(GATHER, x, b.op(SUB, i, b.constant(1, I64)), axes=(0,))
        return b.op(SQUARE, found), b.op(SUM, found, axes=(1,))

    compiled = Compiled(make, 2)
    x, i = whole("float64", (9, 33), 13) / 8, places(8, (20,), 14)
    found = compiled.checked(x, i)
    same(tuple(found), (np.square(x[i - 1]), x[i - 1].sum(1)))
    assert len(compiled.kernel.lower(x, i).kernels) == 1


def test_computed_arrays_and_an_array_that_looks_itself_up() -> None:
    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        negative = b.op(NEG, x)
        total = b.op(SUM, x, axes=(0,), keepdims=True)
        first = b.op(GATHER, negative, x, axes=(0,))
        return b.op(GATHER, x, x, axes=(0,)), b.op(ADD, first, negative), b.op(MUL, b.op(GATHER, total, b.op(
            SUB, x, x), axes=(0,)), x)  # fmt: skip

    compiled = Compiled(make, 1)
    x = places(40, (40,), 15)
    same(tuple(compiled.checked(x)), (x[x], (-x)[x] - x, x.sum() * x))


def test_what_a_lookup_finds_can_look_up() -> None:
    compiled = Compiled(lambda b, x, i: b.op(GATHER, x, b.op(GATHER, i, i, axes=(0,)), axes=(1,)), 2)
    x, i = random("float32", (3, 30), 16), places(30, (30,), 17)
    np.testing.assert_array_equal(compiled.checked(x, i)[0], x[:, i[i]])


def test_into_a_concatenation() -> None:
    def make(b: Builder, x: Value, i: Value) -> Value:
        return b.op(CONCATENATE, b.op(GATHER, x, i, axes=(0,)), b.op(SQUARE, x), axis=0)

    x, i = random("float32", (9, 5), 18), places(9, (4,), 19)
    same(Compiled(make, 2).checked(x, i)[0], np.concatenate([x[i], np.square(x)]))


@pytest.mark.parametrize("size", [1, 7, 16, 40])
def test_an_index_out_of_range(size: int) -> None:
    """Test an index out of range as vector and scalar, at every position, on both sides; `out` stays unchanged."""
    for axis, (bad, good) in itertools.product((0, 1), ((5, 4), (-6, -5), (2**62, 0), (-(2**63), 0))):
        compiled = lookup(axis)
        x = random("float32", (5, 5), 20)
        for kernel in compiled.kernels.values():
            for at in {0, size // 2, size - 1}:
                i = np.zeros(size, int)
                i[at] = good
                expected = x[(slice(None),) * axis + (i,)]
                np.testing.assert_array_equal(kernel(x, i), expected)
                i[at] = bad
                out = np.full(expected.shape, 7, np.float32)
                with pytest.raises(IndexProblem, match=f"index {bad} is out of bounds for axis {axis} with size 5"):
                    kernel(x, i, out=out)
                assert (out == 7).all()


def test_an_index_into_nothing() -> None:
    for kernel in lookup(0).kernels.values():
        with pytest.raises(IndexProblem, match="index 0 is out of bounds for axis 0 with size 0"):
            kernel(np.ones((0, 3)), np.array([0]))
        with pytest.raises(IndexProblem, match="index 7 is out of bounds for axis 0 with size 5"):
            kernel(np.ones((5, 0)), np.array([7]))


def test_iota() -> None:
    """Test `iota` alone, in arithmetic, through views that count across axes, and along concatenated axes."""

    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        n, m = x.type.shape
        along = [b.op(IOTA, shape=Sizes((n, m)), axis=k) for k in (0, 1)]
        flat = b.op(RESHAPE, b.op(IOTA, shape=Sizes((n * m,)), axis=0), shape=Sizes((n, m)))
        back = b.op(SLICE, along[1], starts=Sizes((0, m - 1)), steps=(1, -1), sizes=Sizes((n, m)))
        weighted = b.op(MUL, b.op(CAST, along[1], to=F32), x)
        total = b.op(SUM, b.op(CAST, along[0], to=F64), axes=(0,))
        return along[0], along[1], flat, back, weighted, total

    compiled = Compiled(make, 1)
    for shape in ((3, 5), (1, 40), (40, 1), (1, 1), (19, 70), (0, 3)):
        x = whole("float32", shape, 21)
        rows, columns = np.indices(shape)
        flat = np.arange(x.size).reshape(shape)
        expected = (rows, columns, flat, columns[:, ::-1], columns.astype("f4") * x, rows.astype("f8").sum(0))
        for found, wanted in zip(compiled.checked(x), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    for layout in ("F", "strided", "negative"):
        x = LAYOUTS[layout](whole("float32", (19, 70), 22))
        np.testing.assert_array_equal(compiled.checked(x)[4], np.indices((19, 70))[1].astype("f4") * x)


def test_a_kernel_without_arrays() -> None:
    """The kernel only depends on the argument's shape and reads no memory."""
    compiled = Compiled(lambda b, x: b.op(IOTA, shape=Sizes((x.type.shape[0] + 3,)), axis=0), 1)
    for size in (1, 2, 20):
        same(compiled.checked(np.ones(size))[0], np.arange(size + 3))


def test_an_index_out_of_bounds_is_an_error_even_if_nothing_needs_the_element() -> None:
    """Folding `x != x` and dropping what is unused must not drop errors."""
    functions: dict[str, Any] = {
        "unused": lambda a, i: (np.take(a, i), a + 1)[1],
        "returned as it is": lambda a, i: (a[i], a)[1],
        "compared with itself": lambda a, i: np.not_equal(a[i], a[i]),
        "times zero": lambda a, i: a[i] * 0,
        "size": lambda a, i: a[i].shape[0] + a,
        "two": lambda a, i: (a[i], np.exp(a[i[:1]]), a[0])[2],
    }
    a = np.arange(5)
    for name, function in functions.items():
        jitted = weft.jit(function)
        for _ in range(3):
            same(jitted(a, np.array([1, -5])), function(a, np.array([1, -5])))
            with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
                jitted(a, np.array([5, 0]))
                pytest.fail(name)

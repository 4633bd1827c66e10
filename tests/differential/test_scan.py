"""Test scans: NumPy's bits in every dtype and layout, along every axis, fused with other operations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from weft.ir.builder import Builder
from weft.ir.errors import ValueProblem
from weft.ir.graph import Value
from weft.ir.ops import SCAN, SLICE, TABLE
from weft.ir.types import Sizes

from .arrays import LAYOUTS, random, specials, whole
from .building import Compiled
from .comparing import same

ADD, EXP, MAX, NEG, SQUARE, SUB, SUM = (TABLE[n] for n in ("add", "exp", "max", "neg", "square", "sub", "sum"))
PLAIN_SHAPES = ((5,), (16,), (17,), (200,), (7, 33), (40, 9), (0, 4), (4, 0))
SHAPES = (*PLAIN_SHAPES, (1,), (1, 70), (70, 1), (3, 4, 50))  # sizes of 1 and ranks have code of their own
NUMBERS = ("float32", "float64", "float16", "int64", "int32", "int8", "uint16")


def scan(combine: str, axis: int) -> Compiled:
    return Compiled(lambda b, x: b.op(SCAN, x, combine=combine, axis=axis), 1)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("combine", ["add", "mul", "minimum", "maximum"])
def test_usual_ops(combine: str, dtype: str) -> None:
    ufunc = TABLE[combine].numpy
    assert isinstance(ufunc, np.ufunc)
    compiled = {axis: scan(combine, axis) for axis in range(3)}
    for shape in SHAPES if dtype in ("float32", "int8") else PLAIN_SHAPES:
        x = random(dtype, shape, 1)
        for axis in range(len(shape)):
            with np.errstate(all="ignore"):
                same(compiled[axis].checked(x)[0], ufunc.accumulate(x, axis, dtype=dtype))


@pytest.mark.parametrize(
    ("combine", "dtype"),
    [("sub", "float64"), ("sub", "int16"), ("floor_divide", "float32"), ("remainder", "int32"), ("fmin", "float32"),
     ("fmax", "float64"), ("bitwise_and", "int8"), ("bitwise_or", "uint64"), ("bitwise_xor", "int64"),
     ("logical_and", "bool"), ("logical_or", "bool"), ("logical_xor", "bool"), ("add", "bool"), ("mul", "bool"),
     ("maximum", "bool"), ("left_shift", "uint8")],
)  # fmt: skip
def test_other_ops(combine: str, dtype: str) -> None:
    """The first element stays as it is, whatever the op does with the initial value."""
    ufunc = TABLE[combine].numpy
    assert isinstance(ufunc, np.ufunc)
    for shape, axis in itertools.product(((5,), (70,), (7, 33), (40, 9)), (0, 1)):
        if axis < len(shape):
            x = random(dtype, shape, 2)
            with np.errstate(all="ignore"):
                same(scan(combine, axis).checked(x)[0], ufunc.accumulate(x, axis, dtype=dtype))


def test_complex_sums() -> None:
    for dtype, axis in itertools.product(("complex64", "complex128"), (0, 1)):
        x = random(dtype, (7, 33), 2)
        same(scan("add", axis).checked(x)[0], np.add.accumulate(x, axis))


def test_special_numbers() -> None:
    for combine, dtype in itertools.product(("add", "mul", "minimum", "fmax"), ("float32", "float64")):
        for axis in (0, 1):
            compiled = scan(combine, axis)
            for numbers in (specials(dtype), specials(dtype)[:3], np.array([-0.0, 0.0], dtype)):
                compiled.checked(np.random.default_rng(3).choice(numbers, (13, 37)))


@pytest.mark.parametrize("layout", ["F", "strided", "rows with gaps", "negative", "axes turned", "repeated rows"])
def test_layouts(layout: str) -> None:
    for axis in (0, 1):
        compiled = scan("add", axis)
        x = LAYOUTS[layout](random("float32", (19, 70), 4))
        same(compiled.checked(x)[0], np.add.accumulate(x, axis))
        out = np.asfortranarray(np.zeros((19, 70), np.float32))
        compiled.kernel(x, out=out)
        np.testing.assert_array_equal(out, np.add.accumulate(x, axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_one_kernel_with_producers_and_consumers(axis: int) -> None:
    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        running = b.op(SCAN, b.op(SQUARE, x), combine="add", axis=axis)
        twice = b.op(SCAN, running, combine="maximum", axis=axis)
        return b.op(SUB, running, x), b.op(NEG, twice)

    compiled = Compiled(make, 1)
    x = random("float64", (23, 37), 5)
    running = np.add.accumulate(np.square(x), axis)
    same(tuple(compiled.checked(x)), (running - x, -np.maximum.accumulate(running, axis)))
    assert len(compiled.kernel.lower(x).kernels) == 1


@pytest.mark.parametrize("axis", [0, 1])
def test_with_reductions_along_the_same_axis(axis: int) -> None:
    """Test reductions before the scan, after it, and both in one region; two stages need the scan."""

    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        below = b.op(SUB, x, b.op(MAX, x, axes=(axis,), keepdims=True))
        running = b.op(SCAN, below, combine="add", axis=axis)
        total = b.op(SUM, running, axes=(axis,), keepdims=True)
        return b.op(ADD, running, total), b.op(MAX, running, axes=(axis,))

    compiled = Compiled(make, 1)
    for shape in ((3, 5), (23, 37), (5, 2100), (2100, 5), (1, 9), (9, 1)):
        x = whole("float64", shape, 6)
        running = np.add.accumulate(x - x.max(axis, keepdims=True), axis)
        found = compiled.checked(x)
        same(tuple(found), (running + running.sum(axis, keepdims=True), running.max(axis)))
    assert len(compiled.kernel.lower(x).kernels) == 1


def test_elements_of_other_iterations_are_read_from_memory() -> None:
    def make(b: Builder, x: Value) -> tuple[Value, ...]:
        running = b.op(SCAN, x, combine="add", axis=0)
        size = x.type.shape[0] - 1
        late = b.op(SLICE, running, starts=Sizes((1,)), steps=(1,), sizes=Sizes((size,)))
        early = b.op(SLICE, running, starts=Sizes((0,)), steps=(1,), sizes=Sizes((size,)))
        return b.op(SUB, late, early), b.op(SUM, running, axes=(0,))

    compiled = Compiled(make, 1)
    x = whole("float64", (50,), 7)
    running = np.cumsum(x)
    same(tuple(compiled.checked(x)), (running[1:] - running[:-1], running.sum()))


def test_scans_along_different_axes() -> None:
    def make(b: Builder, x: Value) -> Value:
        return b.op(SCAN, b.op(SCAN, b.op(EXP, x), combine="add", axis=0), combine="add", axis=1)

    compiled = Compiled(make, 1)
    x = np.zeros((9, 31))
    same(compiled.checked(x)[0], np.cumsum(np.cumsum(np.exp(x), 0), 1))
    assert len(compiled.kernel.lower(x).kernels) == 2


def test_a_scan_that_fails() -> None:
    """Only elements of the array count, not the initial value or lanes beyond the end."""

    def make(b: Builder, x: Value) -> Value:
        return b.op(SCAN, b.op(SUB, x, b.constant(5, x.type.dtype)), combine="power", axis=0)

    compiled = Compiled(make, 1)
    for kernel in compiled.kernels.values():
        for size in (1, 3, 16, 21):
            x = np.full(size, 6)
            x[0] = 3
            same(kernel(x), np.power.accumulate(x - 5))
            same(kernel(np.stack([x, x], 1)), np.power.accumulate(np.stack([x, x], 1) - 5))
            bad = np.append(x, 4)
            out = np.full(size + 1, 77)
            with pytest.raises(ValueProblem, match="Integers to negative integer powers"):
                kernel(bad, out=out)
            assert (out == 77).all()

"""Test matrix products: bits against the reference, and values against NumPy, for every dtype, layout and size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import weft
from weft.backends import stated
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.function import tracing
from weft.ir.records import replace
from weft.runtime import launch
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

Array = np.ndarray[Any, Any]
DTYPES = ("bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
LEVELS = (3, 4) if target.host().vector_bytes == 64 else (3,)
# Around the tiles (12 or 6 rows, 2 vectors), and across the places where depths and blocks are cut.
SHAPES = ((2, 2, 3), (4, 4, 4), (5, 17, 16), (12, 32, 8), (13, 33, 255), (31, 70, 256), (97, 40, 257), (7, 520, 514))
LOW = ((2, 70, 140), (3, 9, 300), (8, 33, 257), (10, 40, 129))  # packed, and the last tile has 2, 3 or 4 rows


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(shape) < 0.1
    if kind.kind in "iu":
        return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
    if kind.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    return rng.standard_normal(shape).astype(kind)


def product(a: Any, b: Any) -> Any:
    return a @ b


def compiled(function: Callable[..., Any], level: int, core_cache: int = 0) -> Kernel:
    machine = replace(target.x86(level), core_cache=core_cache)
    return Kernel(TracedFunction(function), Registry(), Options(target=machine, verify=True))


def same_bits(found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    a, b = np.ascontiguousarray(found), np.ascontiguousarray(expected)
    assert a.tobytes() == b.tobytes(), np.argwhere(a != b)[:3]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_those_of_one_chain(dtype: str, level: int) -> None:
    f = compiled(product, level, core_cache=1 if level == 3 else 0)  # packs operands that would stay in a larger cache
    for m, n, k in SHAPES + LOW if dtype in ("float32", "float64") else SHAPES[:6]:
        a, b = numbers((m, k), dtype), numbers((k, n), dtype, 1)
        same_bits(f(a, b), stated.matmul(a, b))
    assert not f.lower(a, b).fallbacks
    assert ("in_place = 1 : i64" in f.lower(a, b).ir(after="schedule")) == (level == 3)


def test_every_number_of_rows() -> None:
    for f in (compiled(product, level) for level in LEVELS):
        for m in (*range(2, 30), 32, 40, 44):  # tiles of 12, 8, 6 and 4 rows
            for n in (2, 8, 9, 17, 33):
                a, b = numbers((m, 7), "float64").round(), numbers((7, n), "float64", 1).round()
                same_bits(f(a, b), a @ b + 0.0)


def test_few_rows_and_a_last_panel_with_few_columns() -> None:
    for f in (compiled(product, level) for level in LEVELS):
        # Up to 24 rows the right operand is read in place, a few terms at a time; more rows are packed.
        for m, k, n in ((8, 200, 700), (24, 270, 531), (25, 130, 289), (98, 200, 33)):
            a, b = numbers((m, k), "float64"), numbers((k, n), "float64", 1)
            same_bits(f(a, b), stated.matmul(a, b))
        a, b = numbers((3, 6, 150), "float64"), numbers((2, 1, 150, 200), "float64")
        same_bits(f(a, b)[1, 2], f(a[2].repeat(5, axis=0), b[1, 0])[::5])


def test_a_matrix_times_its_transpose_is_computed_above_the_diagonal() -> None:
    def fused(x: Any, y: Any) -> Any:
        return (x.T @ x) * 2 - y

    f, other = weft.jit(lambda x: x @ x.swapaxes(1, 2)), weft.jit(product)
    for level in LEVELS:
        g = compiled(fused, level)
        for m, k in ((130, 150), (501, 60), (255, 400), (9, 300)):
            x, y = numbers((m, k), "float64"), numbers((m,), "float64")
            expected = other(x, x.T.copy())
            same_bits(g(x.T.copy(), y), expected * 2 - y)  # rows and columns differ
        assert "symmetric" in g.lower(x.T.copy(), y).ir()
    assert "symmetric" not in other.lower(x, x.T).ir()
    stack = numbers((3, 40, 150), "float32")
    same_bits(f(stack), other(stack, stack.swapaxes(1, 2)))


def test_bf16_is_multiplied_as_f32() -> None:
    a, b = (numbers(shape, "float32").astype(ml_dtypes.bfloat16) for shape in ((5, 7), (7, 6)))
    found = weft.jit(product)(a, b)
    same_bits(found, stated.matmul(a.astype(np.float32), b.astype(np.float32)))
    assert found.dtype == (a @ b).dtype


def layouts(x: Array) -> list[Array]:
    """The same matrix in C order, in Fortran order, with gaps, and backwards."""
    wide = np.zeros((2 * x.shape[0], 3 * x.shape[1]), x.dtype)
    wide[::2, ::3] = x
    return [x, np.asfortranarray(x), wide[::2, ::3], x[::-1, ::-1].copy()[::-1, ::-1]]


@pytest.mark.parametrize("dtype", ("float32", "float64", "int16"))
def test_layouts(dtype: str) -> None:
    f = weft.jit(product)
    for m, n, k in ((19, 35, 21), (100, 97, 270)):
        a, b = numbers((m, k), dtype), numbers((k, n), dtype, 1)
        expected = stated.matmul(a, b)
        for left in layouts(a):
            for right in layouts(b):
                found = f(left, right)
                same_bits(found, expected)
                assert found.flags.c_contiguous


def test_views_of_operands() -> None:
    """Views are read in place, and results can be written to any array."""
    f = weft.jit(lambda a, b: (a[::-1, 1::2].T @ b[3:, ::-1], np.broadcast_to(b[0], a.shape) @ b.T))
    for n in (24, 150):
        a, b = numbers((n + 3, n), "float64"), numbers((n + 6, n), "float64", 1)
        expected = (a[::-1, 1::2].T, b[3:, ::-1]), (np.broadcast_to(b[0], a.shape), b.T)
        outs = np.empty((n, n // 2)).T, np.empty((n + 3, 2 * n + 12))[:, ::2]
        for found in (f(a, b), f(a, b, out=outs)):
            for one, operands in zip(found, expected, strict=True):
                same_bits(one, stated.matmul(*operands))


def test_stacks_are_broadcast() -> None:
    f = weft.jit(product)
    for left, right in (
        ((3, 5, 4), (3, 4, 6)), ((3, 5, 4), (4, 6)), ((5, 4), (2, 3, 4, 6)), ((2, 1, 5, 4), (3, 4, 6)),
        ((2, 0, 5, 4), (1, 4, 6)), ((3, 40, 300), (2, 1, 300, 50)),
    ):  # fmt: skip
        a, b = numbers(left, "float32"), numbers(right, "float32", 1)
        same_bits(f(a, b), stated.matmul(a, b))
    turned = numbers((3, 2, 5, 4), "float32").transpose(1, 0, 2, 3)
    b = numbers((4, 6), "float32")
    assert f(turned, b).strides == (turned @ b).strides


def test_complex_products_of_few_terms_are_elementwise() -> None:
    for dtype, epsilon in (("complex64", 1e-6), ("complex128", 1e-14)):
        for left, right in (
            ((3, 1), (1, 9)), ((2, 2), (2, 33)), ((1, 3), (3, 5)), ((2, 5, 4), (4, 17)), ((5, 5), (5, 9)),
        ):  # fmt: skip

            def sized(a: Any, b: Any, left: Any = left, right: Any = right) -> Any:
                return np.reshape(a, left) @ np.reshape(b, right)

            a, b = numbers((int(np.prod(left)),), dtype), numbers((int(np.prod(right)),), dtype, 1)
            found = [compiled(sized, level) for level in LEVELS]
            for f in found:
                same_bits(f(a, b), found[0](a, b))
                np.testing.assert_allclose(f(a, b), sized(a, b), rtol=epsilon, atol=4 * epsilon)
            assert ("weft.matmul" in found[0].lower(a, b).ir()) is (left[-1] > 4)


def test_stacks_of_single_rows_are_matrices() -> None:
    product, random = weft.jit(lambda a, b: a @ b), np.random.default_rng(6)
    for left, right, is_matrix in (
        ((3, 5, 1, 7), (7, 4), True), ((4, 7), (5, 7, 1), True), ((2, 3, 1, 7), (3, 7, 4), True),
        ((5, 1, 7), (1, 7, 4), False), ((1, 1, 7), (7, 4), False),
    ):  # fmt: skip
        a, b = random.random(left), random.random(right)
        found, wanted = product(a, b), a @ b
        assert np.allclose(found, wanted) and found.shape == wanted.shape and found.strides == wanted.strides
        assert ("weft.matmul" in product.lower(a, b).ir()) is is_matrix


def test_one_array_twice() -> None:
    f = weft.jit(lambda a: (a @ a, a.T @ a, a @ a.T))
    for n in (9, 150):
        a = numbers((n, n), "float32")
        for found, expected in zip(f(a), ((a, a), (a.T, a), (a, a.T)), strict=True):
            same_bits(found, stated.matmul(*expected))


def test_empty_and_single() -> None:
    f = weft.jit(product)
    for m, n, k in ((0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1), (1, 5, 7), (5, 1, 7), (5, 7, 1)):
        a, b = numbers((m, k), "float64"), numbers((k, n), "float64", 1)
        found, expected = f(a, b), a @ b
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_vectors() -> None:
    f = weft.jit(product)
    for left, right in (((7,), (7,)), ((7,), (7, 5)), ((5, 7), (7,)), ((7,), (3, 7, 5)), ((3, 5, 7), (7,))):
        for dtype in ("float64", "float16", "int8", "bool", "complex64"):
            a, b = numbers(left, dtype), numbers(right, dtype, 1)
            found, expected = f(a, b), a @ b
            assert found.dtype == expected.dtype and found.shape == expected.shape
            assert isinstance(found, np.generic) == isinstance(expected, np.generic)
            np.testing.assert_allclose(found, expected, rtol=2e-2 if dtype == "float16" else 1e-5)


def test_threads_do_not_change_a_bit() -> None:
    f = weft.jit(lambda a, b, c: np.tanh(a @ b + c))
    given = [  # in place, and packed
        (numbers((300, 530), "float32"), numbers((530, n), "float32", 1), numbers((n,), "float32", 2))
        for n in (260, 530)
    ]
    before = weft.get_threads()
    try:
        results = []
        for threads in (1, 2, 3, 8):
            weft.set_threads(threads)
            results.append([f(*arrays) for arrays in (*given, *given)])
        for found in results:
            for result, expected in zip(found, results[0], strict=True):
                same_bits(result, expected)
    finally:
        weft.set_threads(before)


def test_small_and_large_products_are_compiled_once() -> None:
    f = weft.jit(product)
    for n in (3, 40, 300, 700):
        a = numbers((n, n), "float64")
        f(a, a)
    lowered = f.lower(a, a)
    assert len(lowered.loaded.siblings) == 1 and len(f.signature_cache) == 1
    assert "small product" not in lowered.ir() and "_multiply" not in f.lower(a[:40, :40], a[:40, :40]).llvm()


def test_wrong_shapes() -> None:
    f = weft.jit(product)
    with pytest.raises(ValueError, match=r"mismatch in its core dimension 0.*size 4 is different from 3"):
        f(np.ones((2, 3)), np.ones((4, 5)))
    with pytest.raises(ValueError, match="not have enough dimensions"):
        f(np.ones((2, 3)), 2.0)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones((2, 3, 3)), np.ones((3, 3, 5)))


def test_a_product_of_one_element_writes_nothing_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its only column is known at compile time, so all lanes of a vector are that element: one of them is stored."""
    made: list[tuple[Any, int]] = []

    def empty(shape: tuple[int, ...], dtype: Any) -> Any:
        size = int(np.prod(shape))
        made.append((np.full(size + 64, 7, dtype), size))
        return made[-1][0][:size].reshape(shape)

    monkeypatch.setattr(launch, "empty", empty)
    for dtype in ("f4", "f8", "c8", "i4"):
        x = np.arange(1, 17).reshape(2, 8).astype(dtype)[:, ::-1]
        function = tracing(lambda a: np.inner(a[1::-2], a[1::-2]) + a[1::-2])
        assert np.array_equal(function(x), np.inner(x[1::-2], x[1::-2]) + x[1::-2])
    assert made and all((memory[size:] == 7).all() for memory, size in made)

"""Test memory order, signs of zeros and scalar results of products and `*_like` functions, for random layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS
from .comparing import memory_order, same

Array = np.ndarray[Any, Any]
ORDERS = ("C", "F", "strided", "rows with gaps", "negative", "axes turned")
# A function, and the dimensions of its operands by letters.
PRODUCTS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "matmul": (np.matmul, "bmk,bkn"), "matmul of one stack": (np.matmul, "mk,bkn"),
    "matmul by a vector": (np.matmul, "abmk,k"), "matmul of a vector": (np.matmul, "k,bkn"),
    "matvec": (np.matvec, "bmk,bk"), "vecmat": (np.vecmat, "bm,bmk"), "vecdot": (np.vecdot, "abk,abk"),
    "vecdot along the first": (lambda x, y: np.vecdot(x, y, axis=0), "kab,kab"),
    "dot": (np.dot, "mk,kn"), "dot in 3 dimensions": (np.dot, "bmk,akn"), "dot with a vector": (np.dot, "bmk,k"),
    "dot with a number": (np.dot, ",mk"), "dot of vectors": (np.dot, "k,k"), "inner": (np.inner, "bmk,nk"),
    "inner with a number": (np.inner, "mk,"), "outer": (np.outer, "mk,n"), "vdot": (np.vdot, "mk,mk"),
    "tensordot over none": (lambda x, y: np.tensordot(x, y, 0), "mk,n"),
    "tensordot": (lambda x, y: np.tensordot(x, y, ((0, 2), (1, 0))), "mbk,kmn"),
    **{f"einsum {text}": (lambda x, y, text=text: np.einsum(text, x, y), dims) for text, dims in (
        ("ij,jk", "mk,kn"), ("ij,jk->ki", "mk,kn"), ("ij,ij->ij", "mk,mk"), ("ij,ij->ji", "mk,mk"), ("i,j->ji", "m,n"),
        ("ijk,k->ij", "bmk,k"), ("bij,bjk->bik", "bmk,bkn"), ("...,...", "mk,mk"), ("ij,ij", "mk,mk"),
    )},
    "einsum of one": (lambda x: np.einsum("ijk->kj", x), "bmk"), "sums": (lambda x: np.einsum("ij->", x), "mk"),
    "einsum by a path": (lambda x, y: np.einsum("ij,ij->", x, y, optimize=True), "mk,mk"),
    "einsum of matrices by a path": (lambda x, y: np.einsum("ij,jk", x, y, optimize=True), "mk,kn"),
    "einsum of a stack by a path": (lambda x, y: np.einsum("bik,jkb->jbi", x, y, optimize="greedy"), "bmk,nkb"),
    "einsum of a number by a path": (lambda x, y: np.einsum("i,i", x, y[:1], optimize=True), "m,m"),
    "einsum of three by a path": (lambda x, y: np.einsum("ij,jk,lk->il", x, y, x, optimize=True), "mk,kk"),
    "einsum of apart": (lambda x, y: np.einsum("i,j->", x, y, optimize=True), "m,k"),
    "zeros_like": (np.zeros_like, "bmk"), "full_like": (lambda x: np.full_like(x, 3, dtype="f4"), "bmk"),
    "zeros_like of another rank": (lambda x: np.zeros_like(x, order="A", shape=(4, 5)), "bmk"),
    "zeros_like in A": (lambda x: np.zeros_like(x, order="A"), "bmk"), "roll": (lambda x: np.roll(x, 1, 0), "bmk"),
    "gradient": (lambda x: np.gradient(x, axis=1), "bxk"), "fft": (np.fft.fft, "bmx"),
    "fft along the first": (lambda x: np.fft.fft(x, axis=0), "xmk"), "sort": (lambda x: np.sort(x, 0), "bmk"),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_any_layout(name: str) -> None:
    function, dims = PRODUCTS[name]
    jitted = weft.jit(function, backend="reference")
    rng = np.random.default_rng(len(name))
    for _ in range(8):
        sizes = {letter: int(rng.integers(1 if letter != "x" else 3, 5)) for letter in "abkmnx"}
        args = [_drawn(rng, tuple(sizes[letter] for letter in part)) for part in dims.split(",")]
        same(jitted(*args), _fresh(function(*args)), ulps=4)


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    numbers = rng.choice([0.0, -0.0, 1.0, -1.0, 2.0], shape)
    return LAYOUTS[rng.choice(ORDERS)](numbers) if shape else np.asarray(numbers)


def _fresh(result: Any) -> Any:
    """Return a copy of a view, as Weft returns it."""
    return result if not isinstance(result, np.ndarray) or result.base is None else result.copy(order="K")


def test_native_code_writes_in_these_orders() -> None:
    x, y = (np.asfortranarray(np.arange(12.0).reshape(s)) for s in ((3, 4), (4, 3)))
    for function in (
        lambda x, y: np.einsum("ij,jk", x, y), lambda x, y: np.einsum("ij,ij->ij", x, y.T),
        lambda x, y: np.roll(x, 1, 0),
        lambda x, y: np.matvec(np.stack([x, x]), y.T[:2]), lambda x, y: np.fft.fft(x, axis=0),
        lambda x, y: np.sort(x * 2, axis=0), lambda x, y: np.sort(np.sort(x + 0j, axis=0) + 1, axis=1),
    ):  # fmt: skip
        found, expected = weft.jit(function)(x, y), function(x, y)
        assert np.array_equal(found, expected) and memory_order(found) == memory_order(_fresh(expected))


def test_arrays_without_dimensions_and_scalars() -> None:
    def changed(x: Any) -> Any:
        y = x.copy()
        y += 1
        return y, x + 1

    empty = np.zeros(0)
    calls: tuple[tuple[Callable[[Any], Any], Any], ...] = (
        (changed, np.array(1.0)), (np.nan_to_num, np.array(1j)), (np.nan_to_num, np.complex64(1j)),
        (lambda x: np.round(x, 1), np.array(1.25j)), (lambda x: np.round(x, 1), np.complex64(1j)),
        (lambda x: np.dot(x, x), empty), (lambda x: np.linalg.lstsq(np.eye(2), x), np.ones(2)),
        (lambda x: np.linalg.slogdet(x)[1], np.eye(2)), (lambda x: np.sum(x), np.zeros(0, "f2")),
        (lambda x: np.tensordot(x, x, 1), np.ones(2)),
    )  # fmt: skip
    for function, x in calls:
        same(weft.jit(function)(x), function(x))
    for function in (np.array_equal, np.allclose, np.array_equiv):
        assert weft.jit(lambda x, function=function: function(x, x), static=("function",))(np.ones(3)) is True


def test_ufuncs_with_masks_into_arrays() -> None:
    def masked(ufunc: Any, x: Any, mask: Any) -> Any:
        out = x * 3
        return ufunc(*(x,) * ufunc.nin, out=out, where=mask), out

    x, mask = np.arange(4.0), np.array([True, False, True, False])
    jitted = weft.jit(masked, static=("ufunc",), backend="reference")
    for ufunc in (np.positive, np.negative, np.add, np.sqrt, np.maximum, np.divide, np.logaddexp):
        with np.errstate(all="ignore"):
            same(jitted(ufunc, x, mask), masked(ufunc, x, mask))


def test_what_numpy_refuses() -> None:
    def multiplied(x: Any, y: Any) -> Any:
        x = x + 0
        x @= y
        return x

    def joined(x: Any) -> Any:
        return np.stack([x, x], out=np.stack([x, x]) * 0, dtype="f8")

    x = np.arange(4.0)
    pair = np.stack([x, x])
    calls: tuple[tuple[type[Exception], Callable[..., Any], tuple[Any, ...]], ...] = (
        (TypeError, lambda x: np.clip(x, 2), (x,)), (ValueError, lambda x: np.clip(x, 2, 3, min=1), (x,)),
        (ValueError, lambda x: np.tensordot(x, x, ((0, 0), (0, 0))), (pair,)),
        (ValueError, lambda x: np.concatenate([x, x], casting="maybe"), (x,)),
        (TypeError, lambda x: np.concatenate([x, [1]], casting="no"), (x,)),
        (ValueError, lambda x: np.stack([x, x], casting="maybe"), (x,)),
        (ValueError, lambda x: np.pad(x, 1, stat_length=None), (x,)),
        (ValueError, lambda x: np.pad(x, 1, mode="edge", constant_values=0), (x,)),
        (ValueError, lambda x: np.pad(x, (1, -1)), (x,)), (TypeError, lambda x: np.pad(x, "1"), (x,)),
        (ValueError, lambda x: np.block([[x], []]), (x,)), (TypeError, lambda x: np.add(x, x, x, x), (x,)),
        (TypeError, joined, (x,)), (ValueError, multiplied, (x, x)), (ValueError, multiplied, (pair, x)),
        (TypeError, lambda x: np.ediff1d(x > 1), (x,)), (TypeError, lambda x: np.vecdot(x, x, axis=[0]), (x,)),
    )  # fmt: skip
    for number, (error, function, args) in enumerate(calls):
        for f in (function, weft.jit(function)):
            with pytest.raises(error):
                f(*args)
                pytest.fail(f"call {number} is accepted")
    assert weft.jit(lambda x: x.clip(2))(x).tolist() == [2, 2, 2, 3]

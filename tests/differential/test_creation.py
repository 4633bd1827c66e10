"""Test arrays that a kernel creates: filled arrays, sequences, triangles, grids and copies, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from hypothesis import given, settings
from hypothesis import strategies as st

from .arranged import DTYPES, arranged, refused
from .arrays import LAYOUTS, random, whole
from .comparing import same

Array = np.ndarray[Any, Any]
X = np.zeros(3)


def in_the_language(*expressions: str, size: int = 5) -> Any:
    """Return the results of expressions in a kernel whose argument has this many elements."""
    return weft.compile(f"kernel f(x: f64[n]) {{ return {', '.join(expressions)} }}").f(np.zeros(size))


@pytest.mark.parametrize("dtype", DTYPES)
def test_filled(dtype: str) -> None:
    def filled(x: Any) -> Any:
        return (
            np.zeros((2, 3), dtype, like=x), np.ones(4, dtype=dtype, like=x), np.full((2, 2), 3, dtype, like=x),
            np.zeros_like(x), np.ones_like(x), np.full_like(x, 1), np.eye(3, 4, 1, dtype=dtype, like=x),
            np.tri(3, 2, dtype=dtype, like=x), np.tril(x), np.triu(x, 1), np.diag(x[0], -1),
            np.array(x[0], ndmin=3, like=x), np.asarray(x, like=x), np.identity(2, dtype, like=x),
        )  # fmt: skip

    arranged(filled, random(dtype, (3, 5), 1))


def test_prototypes_in_every_layout() -> None:
    def like(x: Any) -> Any:
        return (
            np.zeros_like(x), np.ones_like(x, dtype=np.int32), np.full_like(x, 2.5, order="C"),
            np.zeros_like(x, order="F"),
            np.zeros_like(x, order="A"), np.full_like(x, x[0, 0, 0]), np.zeros_like(x, shape=(2, 2)), np.copy(x),
            np.copy(x, order="C"), np.copy(x, order="F"), np.copy(x, "A"), x.copy(), x.copy("K"), np.tril(x),
            np.triu(x), np.array(x, order="F", like=x), np.asfortranarray(x, like=x), np.ascontiguousarray(x, like=x),
            x.astype(np.float32), x.astype(np.float32, order="C"), x.astype("f8", copy=False),
        )  # fmt: skip

    jitted = weft.jit(like)
    for name, layout in LAYOUTS.items():
        x = layout(random("float64", (3, 4, 5), 1))
        if name == "byte-swapped":
            continue
        try:
            arranged(like, x, jitted=jitted)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def test_empty_is_zeros() -> None:
    found = weft.jit(lambda x: (np.empty((2, 3), like=x), np.empty(4, "i4", like=x), np.empty_like(x)))(X + 5)
    same(found, (np.zeros((2, 3)), np.zeros(4, "i4"), np.zeros(3)))


ARANGES = [
    (5,), (0,), (-3,), (2, 9), (9, 2), (2, 9, 3), (9, 2, -2), (0, 10, 4), (-5, 5), (0.0, 1.0, 0.1), (1.5,), (0.1, 2.0),
    (0.1, 0.5, 0.1), (5, 0, -0.7), (1, 2.5, 0.25), (np.float32(0), np.float32(1), np.float32(0.1)), (np.int8(3),),
    (3.0, 3.0), (0, 1e-3, 1e-4), (10**15, 10**15 + 5), (0.3, 1e5, 1234.567), (np.float16(0.1), 3, 0.3), (True,),
    (1, 10, np.int16(2)), (0, -0.0, -1.0), (1.0, 0.0, -0.3),
]  # fmt: skip


def test_arange() -> None:
    """The numbers are NumPy's, to the bit."""

    def ranges(x: Any) -> Any:
        return tuple(np.arange(*args, like=x) for args in ARANGES)

    same(weft.jit(ranges)(X), tuple(np.arange(*args) for args in ARANGES))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bool" and "complex" not in d])
def test_arange_in_a_dtype(dtype: str) -> None:
    few = [(5,), (2, 90, 7), (0.5, 5.5), (100, 0, -9), (0, 300, 1.25), (3, 3)]
    with np.errstate(all="ignore"):
        expected = tuple(np.arange(*args, dtype=dtype) for args in few)
    same(weft.jit(lambda x: tuple(np.arange(*args, dtype=dtype, like=x) for args in few))(X), expected)


LINSPACES = {
    "linspace(0, 1)": np.linspace(0, 1),
    "linspace(0, 1, 5)": np.linspace(0, 1, 5),
    "linspace(2.5, -3, num=7)": np.linspace(2.5, -3, 7),
    "linspace(0, 1, 1)": np.linspace(0, 1, 1),
    "linspace(0, 1, 0)": np.linspace(0, 1, 0),
    "linspace(1, 2, 1, endpoint=false)": np.linspace(1, 2, 1, endpoint=False),
    "linspace(0, 10, 4, endpoint=false)": np.linspace(0, 10, 4, endpoint=False),
    "linspace(0, 1, 2)": np.linspace(0, 1, 2),
    "linspace(0, 10, 7, dtype=i64)": np.linspace(0, 10, 7, dtype=np.int64),
    "linspace(-2.5, 2.5, 6, dtype=i8)": np.linspace(-2.5, 2.5, 6, dtype=np.int8),
    "linspace(-3, 3, 5, dtype=f32)": np.linspace(-3, 3, 5, dtype=np.float32),
    "linspace(0.1, 0.3, 11, dtype=f16)": np.linspace(0.1, 0.3, 11, dtype=np.float16),
    "linspace(5, 5, 4)": np.linspace(5, 5, 4),
    "linspace(0, 5e-324, 4)": np.linspace(0, 5e-324, 4),
    "linspace(f32(0.1), f32(0.7), 9)": np.linspace(np.float32(0.1), np.float32(0.7), 9),
    "linspace(f32(0.1), 3, 9)": np.linspace(np.float32(0.1), 3, 9),
    "linspace(f16(0.1), 3, 6)": np.linspace(np.float16(0.1), 3, 6),
    "linspace(i8(1), i8(100), 5)": np.linspace(np.int8(1), np.int8(100), 5),
    "linspace(0, 1, n)": np.linspace(0, 1, 5),
    "linspace(0, n, n + 1, endpoint=false)": np.linspace(0, 5, 6, endpoint=False),
    "logspace(0, 0, 3)": np.ones(3),
    "logspace(1, 3, 3)": np.array([10.0, 100.0, 1000.0]),
    "logspace(0, 3, 4, base=2)": np.array([1.0, 2.0, 4.0, 8.0]),
    "geomspace(1, 1000, 4)": np.array([1.0, 10.0, 100.0, 1000.0]),
    "geomspace(-2, -2, 3)": np.full(3, -2.0),
}


def test_linspace_between_known_ends() -> None:
    """The numbers are NumPy's to the bit, except for the powers of `logspace`."""
    found = in_the_language(*LINSPACES)
    for (text, expected), result in zip(LINSPACES.items(), found, strict=True):
        try:
            same(result, expected, ulps=1 if "space" in text[:9] and not text.startswith("lin") else 0)
        except AssertionError as error:
            raise AssertionError(f"{text}: {error}") from error


@pytest.mark.parametrize("ends", [
    (0, 1), (0.25, -3.5), (np.float32(0.1), np.float32(2)), (np.float32(0.1), 3.3), (np.int64(3), 9),
    (np.float16(1), 2.5), (np.array([0.0, 1.0]), np.array([1.0, 5.0])), (np.array([1, 2], np.int32), 7),
    (np.array([0.0, 2.0]), np.array([5e-324, 3])),
    (np.array([[1], [2]], np.float32), np.array([3, 4], np.float32)), (2j, np.array([1.0, 3.0])),
], ids=str)  # fmt: skip
def test_linspace_between_ends_of_the_call(ends: Any) -> None:
    def spaces(a: Any, b: Any) -> Any:
        more = np.linspace(a, b, 4, retstep=True), np.linspace(a, b, 1, retstep=True)[0]
        return np.linspace(a, b), np.linspace(a, b, 7, False), np.linspace(a, b, 5, dtype=np.float32), *more[0], more[1]

    def without_float(a: Any, b: Any) -> Any:
        return np.linspace(a, b), np.linspace(a, b, 7, endpoint=False)

    arranged(without_float if isinstance(ends[0], complex) else spaces, *ends)


def test_linspace_along_an_axis() -> None:
    a, b = random("float64", (2, 3), 1), random("float64", (3,), 2)
    arranged(
        lambda a, b: (np.linspace(a, b, 4, axis=1), np.linspace(a, b, 4, axis=-1), np.linspace(a, b, 3, dtype=int)),
        a,
        b,
    )


@settings(max_examples=10)
@given(st.integers(2, 60), st.booleans(), st.sampled_from(("float32", "float64")), st.integers(0, 99))
def test_random_linspace(num: int, endpoint: bool, dtype: str, seed: int) -> None:
    a, b = random(dtype, (40,), seed), random(dtype, (40,), seed + 1)
    arranged(lambda a, b: np.linspace(a, b, num, endpoint), a, b)


@settings(max_examples=25)
@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(1e-2, 50), st.booleans())
def test_random_arange(start: float, stop: float, step: float, down: bool) -> None:
    step = -step if down else step
    found = weft.jit(lambda x: np.arange(start, stop, step, like=x))(X)
    same(found, np.arange(start, stop, step))


SIZED = {
    "zeros(n)": lambda n: np.zeros(n),
    "zeros((n, 2), dtype=i32)": lambda n: np.zeros((n, 2), np.int32),
    "ones((2, n - 1))": lambda n: np.ones((2, n - 1)),
    "full((n,), 2.5)": lambda n: np.full((n,), 2.5),
    "empty(n)": lambda n: np.zeros(n),
    "arange(n)": lambda n: np.arange(n),
    "arange(1, n + 1, dtype=f32)": lambda n: np.arange(1, n + 1, dtype=np.float32),
    "arange(0, n, 2)": lambda n: np.arange(0, n, 2),
    "arange(n, 0, -3)": lambda n: np.arange(n, 0, -3),
    "arange(n - 1, n)": lambda n: np.arange(n - 1, n),
    "linspace(0, 1, n)": lambda n: np.linspace(0, 1, n),
    "eye(n)": lambda n: np.eye(n),
    "eye(n, n - 1, k=-1, dtype=i64)": lambda n: np.eye(n, n - 1, k=-1, dtype=np.int64),
    "identity(n, dtype=bool)": lambda n: np.identity(n, bool),
    "tri(n, k=1)": lambda n: np.tri(n, k=1),
    "tril(ones((n, n)), -1)": lambda n: np.tril(np.ones((n, n)), -1),
    "diag(arange(n), 2)": lambda n: np.diag(np.arange(n), 2),
    "indices((n, 2))": lambda n: np.indices((n, 2)),
    "sum(arange(n) * x)": lambda n: 0.0 * n,
}  # fmt: skip


def test_sizes_of_arguments() -> None:
    """One compile serves all sizes."""
    kernel = weft.compile(f"kernel f(x: f64[n]) {{ return {', '.join(SIZED)} }}").f
    for n in (5, 2, 17):
        for (text, expected), result in zip(SIZED.items(), kernel(np.zeros(n)), strict=True):
            try:
                same(result, np.float64(expected(n)) if "sum" in text else expected(n))
            except AssertionError as error:
                raise AssertionError(f"{text} for {n}: {error}") from error
    assert kernel.signature_cache.misses == 1


def test_in_traced_functions() -> None:
    """Sizes of traced arrays work in NumPy's own functions; with `like`, one compile serves all."""

    def plain(x: Any) -> Any:
        return np.zeros(x.shape) + x, np.arange(len(x)) * x, np.eye(x.shape[0]), np.ones((2, x.size)) * x

    def like(x: Any) -> Any:
        n = x.shape[0]
        return np.full(n, 0.5, like=x), np.arange(n, like=x) * x, np.eye(n, like=x), np.full((2, n), x[0], like=x)

    for n in (3, 5):
        arranged(plain, np.arange(float(n)))
    jitted = weft.jit(like)
    for n in (3, 5, 9):
        arranged(like, np.arange(float(n)), jitted=jitted)
    assert jitted.signature_cache.misses == 1


def test_diagonals_and_triangles() -> None:
    def some(x: Any, z: Any) -> Any:
        return (
            np.tril(x), np.triu(x), np.tril(x, 2), np.triu(x, -2), np.tril(z, -1), np.triu(z, 9), np.tril(x[0]),
            np.triu(x[0], 1), np.diag(x[0]), np.diag(x[0], 3), np.diag(x[0], -2), np.diagflat(x[:2, :2]),
            np.diagflat(x[0], 1), np.trace(x), np.trace(z), np.trace(z, 1, 2, 0), x.trace(-1),
            np.trace(x, dtype=np.complex128), z.trace(axis1=1, axis2=2),
        )  # fmt: skip

    for dtype in ("float64", "bool", "complex64"):
        arranged(some, whole(dtype, (4, 6), 1), whole(dtype, (3, 4, 5), 2))


def test_diagonals_that_only_the_call_knows() -> None:
    def moved(x: Any, k: Any) -> Any:
        return np.tril(x, k), np.triu(x, k), np.eye(3, k=k, like=x), np.tri(2, 3, k, like=x)

    jitted = weft.jit(moved)
    for k in (-2, 0, 3):
        arranged(moved, random("float64", (4, 6), 1), k, jitted=jitted)
    rest = weft.jit(lambda x, k: (np.diagonal(x, k), np.diag(x[0], k), np.diff(x, k), np.rot90(x, k)))
    x = random("float64", (4, 6), 1)
    for k in (1, 2):
        same(rest(x, k), (x.diagonal(k).copy(), np.diag(x[0], k), np.diff(x, k), np.copy(np.rot90(x, k), order="K")))
    assert set(rest.lower(x, 1).fallbacks) == {"numpy.diagonal", "numpy.diag", "numpy.diff", "numpy.rot90"}


def test_grids() -> None:
    def grids(v: Any, w: Any) -> Any:
        return (
            *np.meshgrid(v, w), *np.meshgrid(v, w, indexing="ij"), *np.meshgrid(v, w, sparse=True), *np.meshgrid(v),
            *np.meshgrid(v, w, v), *np.meshgrid(v, w, 2.5), *np.meshgrid(v, [1, 2]),
        )  # fmt: skip

    arranged(grids, random("float32", (4,), 1), random("int32", (3,), 2))


def test_arrays_of_traced_numbers() -> None:
    def joined(x: Any, k: Any) -> Any:
        return (
            np.array([x[0], x[1] * 2, 3], like=x),
            np.asarray([[x[0], k], [1, 2]], like=x),
            np.stack([x.sum(), x.max()]),
        )

    arranged(joined, np.arange(1.0, 5.0), 7)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.zeros(-1, like=x),
        lambda x: np.zeros((2, -3), like=x),
        lambda x: np.full(2.5, 1, like=x),
        lambda x: np.full(3, 1, dtype="nothing", like=x),
        lambda x: np.full(3, 1, order="Q", like=x),
        lambda x: x.astype(int, casting="same_kind"),
        lambda x: x.astype(int, casting="rarely"),
        lambda x: x.astype("nothing"),
        lambda x: np.full((2, 2), x, like=x),
        lambda x: np.arange(1, 5, 0, like=x),
        lambda x: np.arange(0, np.nan, like=x),
        lambda x: np.eye(2.5, like=x),
        lambda x: np.linspace(x, x, -1),
        lambda x: np.linspace(x, x[:2]),
        lambda x: np.linspace(x, 1, 3, axis=3),
        lambda x: np.diag(x[None, None]),
        lambda x: np.tril(x[0]),
        lambda x: np.trace(x),
        lambda x: np.meshgrid(x, indexing="yx"),
        lambda x: np.copy(x, order="Z"),
        lambda x: np.array([x, x[:2]], like=x),
    ],
)
def test_refusals(function: Any) -> None:
    refused(function, np.arange(3.0))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("arange(x[0])", "only known at run time"),
        ("arange(0, 4, 0)", "Maximum allowed size"),
        ("zeros(x)", "must be known at compile time"),
        ("geomspace(0, 3)", "cannot include zero"),
        ("geomspace(x[0], 3)", "only known at run time"),
        ("tile(x, i64(x[0]))", "must be known at compile time"),
        ("unstack(5)", "at least 1-d"),
        ("split(x, 2)", "equal division"),
        ("concatenate(3)", "a sequence of arrays"),
        ('pad(x, 1, "mean")', "mode='mean' is not supported"),
    ],
)
def test_refusals_of_the_language(text: str, match: str) -> None:
    with pytest.raises(weft.errors.WeftError, match=match) as error:
        in_the_language(text)
    assert error.value.span is not None

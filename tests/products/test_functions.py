"""Test NumPy's products by name: values, dtype, shape and scalar or array, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .test_matmul import Array, numbers

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[tuple[tuple[int, ...], ...], ...]]] = {
    "dot": (np.dot, (((7,), (7,)), ((3, 7), (7,)), ((3, 7), (7, 4)), ((2, 3, 7), (7,)), ((2, 3, 7), (5, 7, 4)),
                     ((), (3,)))),
    "inner": (np.inner, (((7,), (7,)), ((3, 7), (4, 7)), ((2, 3, 7), (4, 7)), ((), (3,)))),
    "vdot": (np.vdot, (((7,), (7,)), ((3, 4), (4, 3)))),
    "vecdot": (np.vecdot, (((3, 7), (7,)), ((2, 3, 7), (3, 7)))),
    "outer": (np.outer, (((3,), (4,)), ((2, 3), (5,)))),
    "matvec": (np.matvec, (((3, 7), (7,)), ((2, 3, 7), (2, 7)), ((3, 7), (5, 7)))),
    "vecmat": (np.vecmat, (((7,), (7, 3)), ((2, 7), (2, 7, 3)))),
    "tensordot": (np.tensordot, (((3, 4, 5), (4, 5, 6)), ((4, 5), (4, 5)))),
    "tensordot 1": (lambda a, b: np.tensordot(a, b, 1), (((3, 4, 5), (5, 6)), ((2, 3), (3, 4, 5)))),
    "tensordot axes": (lambda a, b: np.tensordot(a, b, ((0, 2), (1, 0))), (((3, 4, 5), (5, 3, 6)),)),
    "tensordot 0": (lambda a, b: np.tensordot(a, b, 0), (((3, 4), (5,)),)),
    "method": (lambda a, b: a.dot(b), (((3, 7), (7, 4)),)),
}  # fmt: skip
EINSUMS = (
    ("ij,jk->ik", (3, 7), (7, 4)), ("ij,jk", (3, 7), (7, 4)), ("ij,kj->ki", (3, 7), (4, 7)),
    ("bij,bjk->bik", (5, 3, 7), (5, 7, 4)),
    ("i,i", (7,), (7,)), ("i,j->ij", (3,), (4,)), ("ij,ij->i", (3, 7), (3, 7)), ("ijk,jkl->il", (2, 3, 4), (3, 4, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 7), (5, 7, 4)), ("ii->i", (4, 4)), ("ii", (4, 4)), ("ij->j", (3, 4)),
    ("ij->ji", (3, 4)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 6)), ("ij,j,k->ik", (3, 4), (4,), (5,)), ("iij,j->i", (4, 4, 3), (3,)),
    ("ij,kl->il", (3, 4), (5, 6)), ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
)  # fmt: skip


def agrees(found: Any, expected: Any, dtype: str) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert isinstance(found, np.generic) == isinstance(expected, np.generic), (type(found), type(expected))
    tolerance = {"float32": 1e-5, "float16": 2e-2}.get(dtype, 1e-12)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function, cases = FUNCTIONS[name]
    jitted = weft.jit(function)
    for shapes in cases:
        for dtype in (
            ("float64", "complex128") if len(shapes[0]) > 1 else ("float64", "float16", "int8", "bool", "complex128")
        ):
            a, b = (numbers(shape, dtype, k) for k, shape in enumerate(shapes))
            found, expected = jitted(a, b), function(a, b)
            agrees(found, expected, dtype)
            assert not jitted.lower(a, b).fallbacks
            if isinstance(expected, np.ndarray):
                assert found.strides == expected.strides


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsum(case: tuple[Any, ...]) -> None:
    text, *shapes = case
    by_count: list[Callable[..., Any]] = [
        lambda a: np.einsum(text, a), lambda a, b: np.einsum(text, a, b), lambda a, b, c: np.einsum(text, a, b, c)
    ]  # fmt: skip
    jitted = weft.jit(by_count[len(shapes) - 1])
    arrays: list[Array] = [numbers(shape, "float64", k) for k, shape in enumerate(shapes)]
    agrees(jitted(*arrays), np.einsum(text, *arrays), "float64")
    assert not jitted.lower(*arrays).fallbacks


def test_einsum_says_what_is_wrong() -> None:
    x = np.ones((2, 3))
    for text, message in (
        ("ij,jk", "for 2 operands, but there are 1"), ("i", "names 1 axis, but the array has 2"),
        ("ij->ik", "'k' of the result"),
        ("ij->ii", "appears twice"), ("ii", "the same size"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            weft.jit(lambda x, t=text: np.einsum(t, x))(x)


def test_sizes_must_agree() -> None:
    for function, shapes in ((np.dot, ((2, 3), (4, 5))), (np.inner, ((3,), (1,))), (np.tensordot, ((2, 3), (2, 4)))):
        with pytest.raises(ValueError):
            weft.jit(function)(*(np.ones(shape) for shape in shapes))


def test_in_the_language() -> None:
    text = """
    kernel layer(x: f32[n, k], w: f32[k, m], b: f32[m]) -> f32[n, m] {
        var y = x @ w
        y @= einsum("ij->ji", w) @ w
        return maximum(y + b, 0) + outer(sum(x, axis=1), b)
    }
    """
    x, w, b = numbers((5, 7), "float32"), numbers((7, 6), "float32", 1), numbers((6,), "float32", 2)
    expected = np.maximum(x @ w @ (w.T @ w) + b, 0) + np.outer(x.sum(1), b)
    np.testing.assert_allclose(weft.compile(text).layer(x, w, b), expected, rtol=1e-4, atol=1e-4)

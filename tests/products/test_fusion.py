"""Test what is fused with a product: the number of kernels, and the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft

from .test_matmul import compiled, numbers, same_bits

A, B, C = numbers((70, 40), "float32"), numbers((40, 50), "float32", 1), numbers((50,), "float32", 2)
BIG = numbers((70, 300), "float32"), numbers((300, 150), "float32", 1), numbers((150,), "float32", 2)


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978846 * (x + 0.044715 * x**3)))


CASES: dict[str, tuple[Callable[..., Any], int]] = {
    "bias and gelu": (lambda a, b, c: gelu(a @ b + c), 1),
    "scaled": (lambda a, b, c: 2 * (a @ b) / np.maximum(c, 1), 1),
    "two results": (lambda a, b, c: (a @ b, np.maximum(a @ b + c, 0)), 1),
    "cheap operands": (lambda a, b, c: (a * 2 - 1) @ (b.T + c[:, None]).T, 1),
    "converted": (lambda a, b, c: (a @ b).astype("f8") + c, 1),
    "positions": (lambda a, b, c: a @ b + np.arange(b.shape[1]), 1),
    "an expensive operand is computed once": (lambda a, b, c: np.exp(a) @ b, 2),
    "rows of the result": (lambda a, b, c: (a @ b + c).sum(axis=1), 1),
    "columns of the result": (lambda a, b, c: (a @ b + c).sum(axis=0), 2),
    "turned results": (lambda a, b, c: (a @ b).T + c[:, None], 2),
    "one after another": (lambda a, b, c: np.tanh(a @ b) @ b.T, 2),
    "softmax": (lambda a, b, c: np.exp(a @ b - (a @ b).max(axis=1, keepdims=True)), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels(name: str) -> None:
    function, kernels = CASES[name]
    jitted = weft.jit(function)
    for arrays in ((A, B, C), BIG):
        found, expected = jitted(*arrays), function(*arrays)
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
            assert one.dtype == other.dtype and one.strides == other.strides
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-4)
    assert len(jitted.lower(A, B, C).kernels) == kernels


def test_fused_bits_are_those_of_one_by_one() -> None:
    """Bits are the same as with separate kernels, for AVX2 and AVX-512, also for tanh."""
    whole = weft.jit(lambda a, b, c: gelu(a @ b + c))
    product, rest = weft.jit(lambda a, b: a @ b), weft.jit(lambda x, c: gelu(x + c))
    for arrays in ((A, B, C), BIG):
        same_bits(whole(*arrays), rest(product(*arrays[:2]), arrays[2]))
        same_bits(whole(*arrays), compiled(lambda a, b, c: gelu(a @ b + c), 3)(*arrays))


def test_an_output_may_be_an_operand() -> None:
    f = weft.jit(lambda a, b, c: a @ b + c.T)
    for n in (7, 130):
        arrays = [numbers((n, n), "float64", k) for k in range(3)]
        expected = f(*arrays)
        for k in range(3):
            given = [x.copy() for x in arrays]
            for _ in range(3):  # the first calls are Python's, the next ones native
                given[k][...] = arrays[k]
                f(*given, out=given[k])
                same_bits(given[k], expected)


def test_a_bad_index_behind_a_product_is_an_error() -> None:
    f = weft.jit(lambda a, b, c, i: a @ b + c[i])
    places = np.arange(50)
    np.testing.assert_allclose(f(A, B, C, places[::-1]), A @ B + C[::-1], rtol=1e-4, atol=1e-4)
    with pytest.raises(IndexError, match="index 50 is out of bounds"):
        f(A, B, C, places + 1)

"""Test stages over the rows of a product in one kernel: the bits of two kernels, for all targets and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

from .test_matmul import LEVELS, Array, compiled, numbers, same_bits

# Few rows, whose columns are shared; one block; several; rows of a few columns; several blocks of columns and terms.
SHAPES = ((5, 7, 3), (2, 40, 260), (40, 300, 200), (47, 17, 33), (130, 16, 20), (990, 20, 130), (97, 1100, 390))


def stages(z: Any) -> tuple[Any, ...]:
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    centred = z - z.mean(axis=-1, keepdims=True)
    norm = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return e / e.sum(axis=-1, keepdims=True), norm, np.maximum(z, 0).sum(axis=-1), z.argmax(axis=-1), z


def fused(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    return stages(a @ b + c)


def apart(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    z = weft.jit(lambda a, b, c: a @ b + c)(a, b, c)
    found = weft.jit(stages)(z)
    assert isinstance(found, tuple)
    return found


def operands(m: int, n: int, k: int, dtype: str) -> list[Array]:
    return [numbers((m, k), dtype), numbers((k, n), dtype, 1), numbers((n,), dtype, 2)]


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("level", LEVELS)
def test_bits_are_those_of_two_kernels(dtype: str, level: int) -> None:
    f = compiled(fused, level)
    for m, n, k in SHAPES:
        a, b, c = operands(m, n, k, dtype)
        assert len(f.lower(a, b, c).kernels) == 1
        expected = apart(a, b, c)
        for left in (a, np.asfortranarray(a)):
            for one, other in zip(f(left, b, c), expected, strict=True):
                same_bits(one, other)


def test_threads_do_not_change_a_bit() -> None:
    f, before = weft.jit(fused), weft.get_threads()
    try:
        for shape in ((40, 3000, 300), (300, 260, 530)):
            given = operands(*shape, "float32")
            expected = apart(*given)
            for threads in (1, 2, 5):
                weft.set_threads(threads)
                for _ in range(3):
                    for one, other in zip(f(*given), expected, strict=True):
                        same_bits(one, other)
    finally:
        weft.set_threads(before)


def test_stacks() -> None:
    f = weft.jit(lambda a, b: stages(a @ b))
    product, rest = weft.jit(lambda a, b: a @ b), weft.jit(stages)
    for left, right in (((3, 5, 4), (4, 6)), ((2, 1, 60, 40), (3, 40, 20)), ((3, 50, 300), (2, 1, 300, 50))):
        a, b = numbers(left, "float32"), numbers(right, "float32", 1)
        for one, other in zip(f(a, b), rest(product(a, b)), strict=True):
            same_bits(one, other)


def test_other_dtypes_and_nothing() -> None:
    f = weft.jit(lambda a, b: ((a @ b).sum(axis=1, dtype="f8"), (a @ b).any(axis=1), (a @ b).min(axis=1)))
    for dtype in ("float32", "float16", "int16", "bool"):
        for m, n, k in ((6, 20, 9), (50, 140, 320)):
            a, b = numbers((m, k), dtype), numbers((k, n), dtype, 1)
            z = weft.jit(lambda a, b: a @ b)(a, b)
            for one, other in zip(f(a, b), (z.sum(axis=1, dtype="f8"), z.any(axis=1), z.min(axis=1)), strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(one.astype("f8"), other.astype("f8"), rtol=1e-6)
        assert len(f.lower(a, b).kernels) == 1
    for m, n, k in ((0, 3, 4), (3, 4, 0)):
        found = f(np.ones((m, k)), np.ones((k, n)))
        assert [x.tolist() for x in found] == [[0.0] * m, [False] * m, [0.0] * m]
    for _ in range(3):
        with pytest.raises(ValueError, match="zero-size array to reduction operation minimum"):
            f(np.ones((3, 4)), np.ones((4, 0)))


def test_explain_says_what_is_fused_and_what_is_not() -> None:
    a, b, c = operands(20, 30, 40, "float32")
    text = str(weft.jit(fused).lower(a, b, c).explain())
    assert "1 native kernel" in text and "stages over rows in vectors of" in text and "not fused" not in text
    text = str(weft.jit(lambda a, b: (a @ b).sum(axis=0)).lower(a, b).explain())
    assert "sum[b1] is not fused with matmul[a0, b1]: a product is made in tiles, not row by row" in text

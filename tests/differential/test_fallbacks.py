"""Test what NumPy runs between compiled pieces: functions without an op, and dtypes without native code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

from .arrays import LAYOUTS, random, whole
from .comparing import agrees, same

NOT_NATIVE = ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "complex64", "complex128")


@pytest.mark.parametrize("dtype", NOT_NATIVE)
def test_dtypes_without_native_code(dtype: str) -> None:
    def mix(x: Any, y: Any) -> Any:
        wide = x.real.astype(np.float64)
        return (
            x + y, x * 2 - y, x == y, np.where(x != 0, x, y), x.T, x.sum(axis=0), x[::-1, 1::2] + 1, wide, x.max(),
            x.reshape(-1)[3:9], (wide * 2).sum(axis=-1), wide + 1, np.broadcast_to(x[:1], x.shape) * y,
        )  # fmt: skip

    x, y = (np.abs(whole("float32", (4, 6), seed)).astype(dtype) for seed in (1, 2))
    for layout in ("C", "F", "strided"):
        with np.errstate(all="ignore"):
            expected = mix(LAYOUTS[layout](x), y)
        found = weft.jit(mix)(LAYOUTS[layout](x), y)
        same(found, tuple(np.copy(e, order="K") if isinstance(e, np.ndarray) else e for e in expected))


@pytest.mark.parametrize("dtype", NOT_NATIVE)
def test_together_with_native_dtypes(dtype: str) -> None:
    def mix(x: Any, y: Any) -> Any:
        return (np.sqrt(y) + x).real.astype(np.float32) * 2, (y * 2).astype(x.dtype), x

    x = np.abs(whole("float32", (5, 7), 1)).astype(dtype)
    y = np.abs(random("float64", (7,), 2))
    with np.errstate(all="ignore"):
        found, expected = weft.jit(mix)(x, y), mix(x, y)
    same(found, expected)
    assert not np.shares_memory(found[2], x)


def test_functions_without_an_op() -> None:
    def mix(x: Any) -> Any:
        y = np.sort(x * 2, axis=0) + 1
        z = np.linalg.inv(x[:5, :5] + 10 * np.eye(5)) * 3
        return y, np.cumsum(y, axis=1) - x, z + y[:5, :5], np.unique(np.rint(x)) * 2, np.sort(x)

    for layout in ("C", "strided", "repeated rows", "negative"):
        agrees(mix, LAYOUTS[layout](random("float64", (6, 8), 3)), ulps=4)
    agrees(lambda x: (np.sort(x), np.sort(x, axis=0) * 2), np.asfortranarray(random("float64", (6, 8), 3)))
    assert "numpy.sort" in weft.jit(mix).lower(random("float64", (6, 8), 3)).fallbacks


def test_sizes_that_only_a_function_knows() -> None:
    """One compile serves every number of different values; a size may be the only used part of a result."""

    def mix(x: Any) -> Any:
        u = np.unique(x * 2)
        return u * 2, x * u.shape[0], u - u, x * 2, u.sum() + x.sum()

    jitted = weft.jit(mix)
    for values in ([1, 1, 2, 5], [3, 3, 3, 3], [1, 2, 3, 4], [7] * 9 + [8, 9]):
        agrees(mix, np.array(values), jitted=jitted)
    assert jitted.signature_cache.misses <= 3


def test_results_are_fresh() -> None:
    def views(x: Any) -> Any:
        return x, x.T, x.reshape(-1), x[1:], np.real(x), np.copy(x), x.reshape(-1)

    for dtype in ("float64", "float16", "complex64"):
        x = whole("float64", (3, 4), 1).astype(dtype)
        before = x.copy()
        found = weft.jit(views)(x)
        same(found, tuple(np.copy(e, order="K") for e in views(x)))
        for k, result in enumerate(found):
            result[...] = k + 50
        np.testing.assert_array_equal(x, before)
        assert [float(np.real(r.flat[0])) for r in found] == [50, 51, 52, 53, 54, 55, 56]


def test_equal_results_are_different_arrays() -> None:
    jitted = weft.jit(lambda x: (x + 1, 1 + x, x + 1))
    x, out = np.arange(3.0), np.zeros(3)
    for found in (jitted(x), jitted(x, out=(None, None, out)), jitted(x, out=(out, None, None))):
        same(found, (x + 1, x + 1, x + 1))
        assert len({id(r) for r in found}) == 3


def test_a_function_that_never_gives_the_same_type() -> None:
    class Fickle:
        calls = 0

        def __call__(self, row: Any) -> Any:
            Fickle.calls += 1  # on the class, where the check for functions that change what they hold does not look
            return row.astype((np.float32, np.float64, np.int64)[Fickle.calls % 3])

    fickle = Fickle()
    jitted = weft.jit(lambda x: np.apply_along_axis(fickle, 0, x) + 1)
    with pytest.raises(weft.errors.TraceProblem, match="at every call"):
        for n in range(2, 9):
            jitted(np.arange(float(n)))


def test_a_function_that_notes_its_calls() -> None:
    """A function that appends to a list is refused at once, because compiled code would not repeat it."""
    calls: list[Any] = []

    def fickle(row: Any) -> Any:
        calls.append(row)
        return row.astype((np.float32, np.float64, np.int64)[len(calls) % 3])

    with pytest.raises(weft.errors.TraceProblem, match="changes 'calls'"):
        weft.jit(lambda x: np.apply_along_axis(fickle, 0, x) + 1)(np.arange(2.0))


def test_long_chains_and_many_reductions() -> None:
    def chain(x: Any) -> Any:
        for k in range(600):  # deeper than Python may recurse
            x = x * 1.0001 + k
        return x

    def sums(x: Any) -> Any:
        return tuple((x + k).sum() for k in range(60)) + tuple((x + k).max(axis=0) for k in range(10))

    agrees(chain, np.arange(40.0))
    agrees(sums, whole("float64", (9, 40), 1))


def test_packed_records() -> None:
    """Strides are not multiples of the element size."""
    records = np.zeros(37, [("a", "i1"), ("b", "f8"), ("c", "i4"), ("d", "?")])
    records["b"], records["c"], records["d"] = np.arange(37), np.arange(37) * 3, np.arange(37) % 3 == 0
    b, c, d = records["b"], records["c"], records["d"]
    agrees(lambda b, c, d: (b * 2 + c, np.where(d, b, c), c.sum(), b[::-1].max(), d.any()), b, c, d)
    weft.jit(lambda b, c: b * 2 + c)(b, c, out=records["b"])
    np.testing.assert_array_equal(records["b"], np.arange(37) * 5)
    np.testing.assert_array_equal(records["c"], np.arange(37) * 3)


def test_square_arrays() -> None:
    """Sums of rows and of columns have the same shape but belong to different axes."""
    module = weft.compile(
        """
        kernel a(x: f64[n, n], b: f64[n]) -> (p: f64[n, n], q: f64[n], r: f64[n, n]) {
            let s = sum(x, axis=1)
            return x + s, s + b, x - sum(x, axis=0) - b
        }
        kernel c(x: f64[n, n, n]) -> f64[n, n, n] { return x + sum(x, axis=2) + max(x, axis=(0, 1)) }
        kernel d(x: f64[n, n]) -> f64[n, n] { return x + transpose(x) + sum(transpose(x), axis=0) * sum(x, axis=0) }
        """
    )
    x, b, y = whole("float64", (7, 7), 1), np.arange(7.0), whole("float64", (5, 5, 5), 2)
    for layout in ("C", "F", "negative"):
        z, w = LAYOUTS[layout](x), LAYOUTS[layout](y)
        s = z.sum(axis=1)
        same(module.a(z, b), (z + s, s + b, z - z.sum(axis=0) - b))
        same(module.c(w), w + w.sum(axis=2) + w.max(axis=(0, 1)))
        same(module.d(z), z + z.T + z.T.sum(axis=0) * z.sum(axis=0))

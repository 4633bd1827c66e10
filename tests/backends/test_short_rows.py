"""Test that short rows, which have one lane each, give the same bits as rows that fill the vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from weft.backends import reference, tree
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.ir import forms
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

SHAPES = [(n, m) for m in (0, 1, 2, 3, 7, 8, 9, 15, 16, 17) for n in (1, 5, 16, 17, 40)]


def reductions(x: Any) -> Any:
    return (x * x).sum(axis=1), np.prod(x, axis=1), np.mean(x, axis=1), (x > 0).any(axis=1)


def ordered(x: Any) -> Any:
    return np.max(x, axis=1), np.argmin(x, axis=1), x - x.min(axis=1, keepdims=True)


def stages(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True), np.std(x, axis=-1)


def planes(x: Any) -> Any:
    return x.sum(axis=(1, 2)), x.sum(axis=2), x.sum(axis=1)


def check(
    monkeypatch: pytest.MonkeyPatch, level: int, function: Callable[..., Any], calls: list[tuple[Any, ...]]
) -> None:
    """Compile a function in both ways and check that the code differs and the bits agree."""
    kernel, along_columns = compiled(function, level), compiled(function, level)
    found = [kernel(*args) for args in calls]
    with monkeypatch.context() as patched:
        patched.setattr(forms, "FEW", -1)
        for args, results in zip(calls, found, strict=True):
            same(results, along_columns(*args), [(x.shape, x.strides) for x in args])
    assert any(kernel.lower(*args).llvm() != along_columns.lower(*args).llvm() for args in calls)


def compiled(function: Callable[..., Any], level: int) -> Kernel:
    source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
    return Kernel(source, Registry(), Options(target=target.x86(level)))


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    """Make numbers with some zeros of either sign and NaN among them."""
    x = np.random.default_rng(shape[-1]).standard_normal(shape).astype(dtype)
    x.flat[::7], x.flat[3::11] = -0.0, 0.0
    x[x > 2] = np.nan
    return x


def same(found: Any, expected: Any, case: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        a, b = np.where(np.isnan(a), 1.0, a), np.where(np.isnan(b), 1.0, b)
        np.testing.assert_array_equal(a, b, str(case), strict=True)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b), str(case))


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions(monkeypatch: pytest.MonkeyPatch, dtype: str, level: int) -> None:
    check(monkeypatch, level, reductions, [(numbers(shape, dtype),) for shape in SHAPES])


def test_tree() -> None:
    """Compare with the halving of columns written out in plain Python."""
    kernel = compiled(lambda x: x.sum(axis=1), 4)
    for shape in SHAPES:
        x = numbers(shape, "float32")
        plan = {"axes": (1,), "keepdims": False, "order": ((1,),), "lanes": 64, "steps": 16}
        same([kernel(x)], [tree.reduce(np.add, np.float32(0), x, **plan)], shape)


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
def test_numbers_of_rows_may_be_wider_than_the_rows(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Vectors across rows hold them as well; the table in `arctan` of f64 is for the machine's real vectors."""
    calls = [(numbers(shape, "float32"), numbers(shape[:1], "float64")) for shape in SHAPES if len(shape) == 2]
    assert calls
    check(monkeypatch, level, lambda x, y: x.sum(axis=1) + np.arctan(y), calls)


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
def test_layouts(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Test rows with gaps, columns with gaps, and several axes of either."""
    base, cube = numbers((41, 30), "float32"), numbers((5, 19, 5), "float64")
    views = [base[:, :3], base[::2, :5], base[:, ::3], base[::-1, 4:9], base[3:, 2:3], base[:, :20]]
    check(monkeypatch, level, ordered, [(view,) for view in views])
    check(monkeypatch, level, planes, [(numbers((19, 2, 5), "float64"),), (cube[:, ::2],), (cube[::2],)])


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
def test_stages(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Test stages that need the results of reductions, in another walk."""
    check(monkeypatch, level, stages, [(numbers(shape, "float32"),) for shape in SHAPES if shape[1]])


@pytest.mark.parametrize("level", [3, 4], ids=["avx2", "avx512"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_elements(monkeypatch: pytest.MonkeyPatch, dtype: str, level: int) -> None:
    """Test rows without reductions: vectors cross many rows; operands are shared by rows or one number per row."""

    def one(x: Any, row: Any, column: Any) -> Any:
        return x * row + column, (row > column) | (x > row), row[..., ::-1] - x

    calls, rng = [], np.random.default_rng(0)
    for n, m in [(n, m) for m in (0, 3, 4, 8, 9) for n in (2, 16, 65, 1030)]:
        x, row, column = (rng.integers(0, 9, shape).astype(dtype) for shape in ((n, m), (m,), (n, 1)))
        calls.append((x, row, column))
    planes, rows, numbers = (rng.integers(0, 9, shape).astype(dtype) for shape in ((3, 70, 3), (3, 1, 3), (70, 1)))
    calls += [(planes, rows, numbers), (planes[::2], rows[::2], numbers), (planes[:, ::3], rows, numbers[::3])]
    calls += [(planes[0], rows[1, 0, ::-1], numbers), (planes[0], rows[0], np.broadcast_to(numbers[:1], (70, 1)))]
    check(monkeypatch, level, one, calls)

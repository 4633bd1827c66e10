"""Test kernels that are called inside jitted functions and expressions: they become part of the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import weft
from weft.errors import ShapeProblem, TraceProblem, TypeProblem

from tests.user_kernels.libraries import build

X = np.arange(4, dtype=np.float32)
KERNELS = weft.compile("""
kernel mix(x: f32[n], y: f32[n], k: f32) -> f32[n] { return x * 2 + k * y }
kernel softmax(x: float[..., m]) -> float[..., m] {
    let e = exp(x - max(x, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
kernel both(x: f32[n]) -> (total: f32, more: f32[n]) { return sum(x), x + 1 }
""")


def test_a_kernel_fuses_with_what_is_around_it() -> None:
    f = weft.jit(lambda x, y: KERNELS.mix(x + 1, k=3, y=y) * 2)
    assert np.array_equal(f(X, X), ((X + 1) * 2 + 3 * X) * 2)
    assert len(f.lower(X, X).kernels) == 1 and f.lower(X, X).fallbacks == ()
    assert np.array_equal(f(X[:2], X[:2]), f(X, X)[:2]) and f.signature_cache.misses == 1
    g = weft.jit(lambda x: KERNELS.softmax(x) * 2)
    for x in (np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4), X, X[None].astype(np.float64)):
        assert np.array_equal(g(x), KERNELS.softmax(x) * 2) and len(g.lower(x).kernels) == 1
    total, more = weft.jit(lambda x: KERNELS.both(x))(X)
    assert total == 6 and isinstance(total, np.float32) and np.array_equal(more, X + 1)
    x = weft.tensor("x", "f32[n]")
    assert np.array_equal(weft.compile(KERNELS.both(x)[1] * KERNELS.mix(x, x, 1))(X), (X + 1) * 3 * X)


def test_its_arguments_are_checked() -> None:
    with pytest.raises(ShapeProblem, match=r"argument 'y' is declared f32.*: expected n = 4 as in 'x', got 3"):
        weft.jit(lambda x: KERNELS.mix(x, x[1:], 3))(X)
    with pytest.raises(TypeProblem, match="expected f32, got f64"):
        weft.jit(lambda x: KERNELS.both(x))(X.astype(np.float64))
    with pytest.raises(TypeProblem, match="'k' is missing"):
        weft.jit(lambda x: KERNELS.mix(x, x))(X)
    with pytest.raises(TraceProblem, match="can't write a traced value into out"):
        weft.jit(lambda x: KERNELS.both(x, out=x)).lower(X)
    f = weft.jit(lambda x, y: KERNELS.mix(x, y, 1))
    f(X, X)
    with pytest.raises(ShapeProblem, match="expected n = 4"):
        f(X, X[1:])


def test_extern_kernels_run_in_between(tmp_path: Path) -> None:
    build(tmp_path / "k.so")
    file = tmp_path / "k.weft"
    file.write_text('extern kernel twice(x: f32[n]) -> f32[n] from "k.so" symbol "twice_f32"')
    kernels = weft.load(file, libraries=True)
    f = weft.jit(lambda x: np.median(kernels.twice(x * 2)) + np.sum(kernels.twice(x) + 1))
    assert f(X) == np.median(4 * X) + np.sum(2 * X + 1) and f(X[:3]) == 4 + 9
    assert f.lower(X).fallbacks == ("twice", "numpy.median", "twice")


def test_a_watched_kernel_is_called_so_that_its_new_code_runs(tmp_path: Path) -> None:
    file = tmp_path / "k.weft"
    file.write_text("kernel f(x: f32[n]) -> f32[n] { return x + 1 }")
    module = weft.load(file, watch=True)
    g = weft.jit(lambda x: module.f(x * 2))
    assert g(X)[1] == 3 and g.lower(X).fallbacks == ("f",)
    file.write_text("kernel f(x: f32[n]) -> f32[n] { return x + 10 }")
    module._watch.look()
    module._watch.look()
    assert g(X)[1] == 12
    module.close()
